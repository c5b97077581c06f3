// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.gmp4j.bench.peers.Toolchains;
import org.gmp4j.ffi.Affinity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A run whose server, in the place of Go's, is none: it ends, says why, and leaves no process. */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TrialTest {
    private static String failure(double slackSeconds, String... server) {
        BitSet cpus = Affinity.get(0);
        assumeTrue(cpus.cardinality() > 1, "one CPU");
        Toolchains.Program program = new Toolchains.Program("", List.of(server), Map.of());
        Trial trial = new Trial(new Settings(1, 0, 0.1, 1, "on", false, ""), cpus, program, slackSeconds);
        long before = children();
        IOException e = assertThrows(IOException.class, () -> trial.run(Load.light(Mix.FIXED), Variant.go(), 0));
        assertEquals(before, children());
        assertEquals(cpus, Affinity.get(0));
        return e.getMessage();
    }

    private static long children() {
        return ProcessHandle.current().children().filter(ProcessHandle::isAlive).count();
    }

    @Test
    void saysSomethingElse() {
        assertEquals("the server said 80 fast", failure(60, "echo", "80 fast"));
    }

    @Test
    void saysNothing() {
        assertEquals("no end in 3 s", failure(3, "sleep", "600"));
    }

    @Test
    void endsAtOnce() {
        assertEquals("the server ended early", failure(60, "true"));
    }
}
