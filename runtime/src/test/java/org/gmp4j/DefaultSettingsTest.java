// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Properties;

import org.gmp4j.DefaultGmp.Compilers;
import org.gmp4j.struct.Schedt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the settings of the default scheduler come from, and what is refused. With JVMs: {@link DefaultModeTest}. */
class DefaultSettingsTest {
    private static DefaultGmp of(Map<String, String> properties, Map<String, String> environment) {
        Properties p = new Properties();
        p.putAll(properties);
        return new DefaultGmp(p, environment);
    }

    private static String refusal(DefaultGmp settings) {
        return assertThrows(IllegalArgumentException.class, () -> {
            settings.apply(Gmp.builder());
            var _ = settings.compilers();
        }).getMessage();
    }

    @Test
    void onAndOff() {
        assertFalse(of(Map.of(), Map.of()).wanted());
        assertTrue(of(Map.of("gmp.default", "on"), Map.of()).wanted());
        assertTrue(of(Map.of("gmp.default", " ON "), Map.of("GMP_DEFAULT", "off")).wanted());
        assertFalse(of(Map.of("gmp.default", "off"), Map.of("GMP_DEFAULT", "on")).wanted());
        assertTrue(of(Map.of("gmp.default", ""), Map.of("GMP_DEFAULT", "on")).wanted());
        assertEquals("GMP_DEFAULT is \"yes\": use on or off", assertThrows(IllegalArgumentException.class,
                of(Map.of(), Map.of("GMP_DEFAULT", "yes"))::wanted).getMessage());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "procs|4097|is \"4097\": use a number from 1 to 4096",
        "procs|many|is \"many\": use a number from 1 to 4096",
        "quantum|1us|is \"1us\": use a duration from 200us to 60s, such as 500us or 10ms; or two, as 200us..10ms",
        "quantum|61s|is \"61s\": use a duration from 200us to 60s, such as 500us or 10ms; or two, as 200us..10ms",
        "quantum|10us..10ms|is \"10us..10ms\": use a duration from 200us to 60s, such as 500us or 10ms; or two, as 200us..10ms",
        "quantum|10ms..1ms|is \"10ms..1ms\": give the shorter one first",
        "quantum|10|is \"10\": use a duration from 200us to 60s, such as 500us or 10ms; or two, as 200us..10ms",
        "realtime|99|is \"99\": use a priority from 1 to 98, or 0",
        "realtime|high|is \"high\": use a priority from 1 to 98, or 0",
        "hugepages|1|is \"1\": use on or off",
        "nodequeues|1|is \"1\": use on or off",
        "compilers|nice|is \"nice\": use auto, yield or equal",
        "stalled|often|is \"often\": use on, off, or how often at most, from 1ms to 1000s",
        "stalled|0s|is \"0s\": use on, off, or how often at most, from 1ms to 1000s",
        "spin|fast|: spin policy \"fast\" is unknown: use go, busy, latency, or latency with a duration in ns, us, ms or s: "
                + "latency:50us.",
        "debug|x=1|: GMPDEBUG: the key \"x\" is unknown; known are schedtrace=MILLISECONDS, scheddetail=0 or 1, "
                + "stall=MILLISECONDS, metrics=PORT or HOST:PORT, jmx=0 or 1, jfr=0 or 1, invariants=0 or 1, "
                + "traceback=single, all, system or crash, "
                + "asyncpreemptoff=0 or 1, createsites=0 or 1, trace=FILE, dashboard=PORT, deadlock=show or strict, "
                + "lockrank=0 or 1, and checkptr=0 or 1."})
    void bad(String setting, String value, String sentence) {
        String space = sentence.startsWith(":") ? "" : " ";
        String property = "gmp.default." + setting;
        String variable = "GMP_DEFAULT_" + setting.toUpperCase(java.util.Locale.ROOT);
        assertEquals(property + space + sentence, refusal(of(Map.of(property, value), Map.of(variable, "on"))));
        assertEquals(variable + space + sentence, refusal(of(Map.of(), Map.of(variable, value))));
    }

    @Test
    void compilers() {
        assertEquals(Compilers.AUTO, of(Map.of(), Map.of()).compilers());
        assertEquals(Compilers.YIELD, of(Map.of("gmp.default.compilers", "yield"), Map.of()).compilers());
        assertEquals(Compilers.EQUAL, of(Map.of(), Map.of("GMP_DEFAULT_COMPILERS", "Equal")).compilers());
    }

    @Test
    void affinityThatIsNone() {
        assertTrue(refusal(of(Map.of("gmp.default.affinity", "near"), Map.of()))
                .startsWith("gmp.default.affinity: affinity \"near\" is unknown: use none, compact, "));
    }

    /** What was said to the JDK's scheduler counts, where nothing was said to ours. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "3|||3|10000", "3|2||2|2", "3|300||3|300", "|1||1|1", "3||5|5|10000", "3|1|5|5|1"})
    void theJdksSettings(String parallelism, String most, String procs, int gomaxprocs, int threads) {
        Properties p = new Properties();
        set(p, "jdk.virtualThreadScheduler.parallelism", parallelism);
        set(p, "jdk.virtualThreadScheduler.maxPoolSize", most);
        set(p, "gmp.default.procs", procs);
        Settings s = new Settings();
        new DefaultGmp(p, Map.of()).apply(s);
        try (Gmp gmp = s.build()) {
            assertEquals(gomaxprocs, gmp.s.gomaxprocs());
            assertEquals(threads, Schedt.MAXMCOUNT.get(gmp.s.sched));
        }
    }

    private static void set(Properties p, String name, String value) {
        if (value != null) {
            p.setProperty(name, value);
        }
    }

    @Test
    void theVariableGoesBeforeTheJdksSettings() {
        Gmp.Builder b = Gmp.builder().procs(1);
        of(Map.of("jdk.virtualThreadScheduler.parallelism", "3"), Map.of("GMPMAXPROCS", "2")).apply(b);
        try (Gmp gmp = b.build()) {
            assertEquals(1, gmp.s.gomaxprocs());
        }
        assertEquals("jdk.virtualThreadScheduler.parallelism is \"0\": use a number from 1 to 4096",
                refusal(of(Map.of("jdk.virtualThreadScheduler.parallelism", "0"), Map.of())));
        assertEquals("jdk.virtualThreadScheduler.maxPoolSize is \"x\": use a number of threads, 1 or more",
                refusal(of(Map.of("jdk.virtualThreadScheduler.maxPoolSize", "x"), Map.of())));
    }

    @Test
    void unknownNames() {
        String has = " is no setting of the default scheduler; it has procs, spin, quantum, affinity, steal, realtime, hugepages, "
                + "nodequeues, stalled, debug, compilers, pools";
        assertEquals("gmp.default.prcs" + has, refusal(of(Map.of("gmp.default.prcs", "2"), Map.of())));
        assertEquals("GMP_DEFAULT_PROC" + has, refusal(of(Map.of(), Map.of("GMP_DEFAULT_PROC", "2"))));
        assertEquals("gmp.compilers is no setting: use gmp.default.compilers", refusal(of(Map.of("gmp.compilers", "yield"), Map.of())));
    }
}
