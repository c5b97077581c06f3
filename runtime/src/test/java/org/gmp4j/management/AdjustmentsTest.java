// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.management;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Settings of a scheduler that runs. */
class AdjustmentsTest {
    private static void refused(Adjustments a, String sentence, String... changes) {
        assertEquals(sentence, assertThrows(IllegalArgumentException.class, () -> a.apply(List.of(changes))).getMessage());
    }

    @Test
    void whatCanBeChanged() {
        try (TestGmp g = TestGmp.procs(2)) {
            Adjustments a = new Adjustments(g.scheduler());
            assertEquals("procs=2\nquantum=10ms\n", a.apply(List.of()));
            assertEquals("procs=3\nquantum=200us..5ms\n", a.apply(List.of("quantum=200us..5ms", "procs=3")));
            assertEquals(3, g.gmp.procs());
            String possible = "use a duration from 200us to 60s, such as 500us or 10ms; or two, as 200us..10ms";
            refused(a, "procs is \"0\": use a number from 1 to 4096", "quantum=1ms", "procs=0");
            refused(a, "procs is \"4097\": use a number from 1 to 4096", "procs=4097");
            refused(a, "procs is \"1.5\": use a number from 1 to 4096", "procs=1.5");
            refused(a, "procs is \"-1\": use a number from 1 to 4096", "procs=-1");
            refused(a, "quantum is \"1\": " + possible, "procs=1", "quantum=1");
            refused(a, "quantum is \"199us\": " + possible, "quantum=199us");
            refused(a, "quantum is \"61s\": " + possible, "quantum=61s");
            refused(a, "quantum is \"\": " + possible, "quantum=");
            refused(a, "quantum is \"5ms..1ms\": give the shorter one first", "quantum=5ms..1ms");
            refused(a, "\"speed\" cannot be changed: only procs and quantum can", "procs=1", "speed=1");
            refused(a, "\"\" cannot be changed: only procs and quantum can", "");
            refused(a, "quantum needs a value: " + possible.replace("use ", "use quantum= and "), "quantum");
            refused(a, "procs is given twice", "procs=1", "procs=2");
            assertEquals("procs=3\nquantum=200us..5ms\n", a.apply(List.of()), "something changed");
        }
    }

    /** With the quantum from the start the second goroutine would get the P after a minute. */
    @Test
    @Timeout(value = 50, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aShorterQuantumHoldsForWhatRuns() {
        AtomicBoolean runs = new AtomicBoolean();
        AtomicBoolean ran = new AtomicBoolean();
        try (TestGmp g = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)))) {
            Scheduler s = g.scheduler();
            g.go(() -> {
                runs.set(true);
                while (!ran.get()) {
                    Thread.onSpinWait();
                }
            });
            while (!runs.get()) {
                Thread.onSpinWait();
            }
            g.go(() -> ran.set(true));
            assertEquals("procs=1\nquantum=1ms\n", new Adjustments(s).apply(List.of("quantum=1ms")));
            while (!ran.get()) {
                Thread.onSpinWait();
            }
        }
    }
}
