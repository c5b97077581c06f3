// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Properties;

import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The setting {@code pools} of the default scheduler. */
class PoolsTest {
    private static final String POOLS = "batch:match=batch-*|export-*:procs=1:quantum=50ms,reports:spin=latency:50us:match=report";

    @Test
    void settings() {
        List<PoolSettings> all = PoolSettings.parse(POOLS);
        assertEquals(List.of("batch", "reports"), all.stream().map(PoolSettings::name).toList());
        assertArrayEquals(new String[] {"batch-*", "export-*"}, all.getFirst().names());
        assertArrayEquals(new String[] {"report"}, all.getLast().names());
        Settings s = new Settings();
        all.getFirst().apply(s);
        try (Gmp gmp = s.build()) {
            assertEquals(1, gmp.s.gomaxprocs());
            assertEquals("batch", gmp.s.name());
            assertEquals(50_000_000, gmp.s.quantum.most());
        }
        Settings t = new Settings();
        all.getLast().apply(t);
        try (Gmp gmp = t.build()) {
            assertEquals(50_000, gmp.s.config.spinNanos());
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "batch; pool \"batch\" needs names, such as match=batch-*|report: a name, or the beginning of names with a * behind it",
        "batch:match=*; pool \"batch\" needs names",
        "batch:match=*-x; pool \"batch\" needs names",
        "batch:match=a||b; pool \"batch\" needs names",
        "match=x; write NAME:match=NAMES:procs=1, with commas between pools and | between names",
        "batch:match=x,; write NAME:match=NAMES",
        "a:match=x:match=y; pool \"a\" has two settings match",
        "a:match=x,a:match=y; two pools are named \"a\"",
        "a:match=x:prcs=1; pool \"a\" has no setting \"prcs=1\"; it has match, procs, quantum, spin, affinity"})
    void refused(String text, String sentence) {
        Properties p = new Properties();
        p.setProperty("gmp.default.pools", text);
        String said = assertThrows(IllegalArgumentException.class, new DefaultGmp(p, Map.of())::pools).getMessage();
        assertTrue(said.startsWith("gmp.default.pools is \"" + text + "\": " + sentence), said);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "a:match=x:procs=0; pool \"a\": procs", "a:match=x:procs=no; pool \"a\": procs is \"no\": use a number from 1 to 4096",
        "a:match=x:quantum=1us; pool \"a\": quantum: ", "a:match=x:spin=fast; pool \"a\": spin: ",
        "a:match=x:affinity=near; pool \"a\": affinity: "})
    void badValues(String text, String sentence) {
        PoolSettings pool = PoolSettings.parse(text).getFirst();
        String said = assertThrows(IllegalArgumentException.class, () -> pool.apply(new Settings())).getMessage();
        assertTrue(said.startsWith(sentence), said);
    }

    /** Threads are assigned by their names, those without a matching one to the scheduler of the thread that starts them. */
    @Test
    void threadsByTheirNames() {
        ChildJvm.Result r = new ChildJvm(PoolsProgram.class).with("-Dgmp.default=on", "-Dgmp.default.pools=" + POOLS).run();
        assertEquals(0, r.exit(), r.err());
        assertEquals(List.of("request-1 gmp0", "batch-1 batch", " batch", "request-2 batch", "report reports", "reports gmp0",
                "export-7 batch", " gmp0", "batch-2 batch", "batch-3 batch"), r.out().lines().toList(), r.err());
    }
}
