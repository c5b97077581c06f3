// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.time.Duration;

import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.SchedStat;

/** Scans by a {@link Retake} of the test's own, at times that the test chooses. */
final class RetakeScans {
    /** A quantum so long that sysmon's own scans ask no goroutine to yield. */
    static final Duration QUANTUM = Duration.ofMinutes(1);

    private RetakeScans() {
    }

    static Retake retake(Scheduler s) {
        return retake(s, Stalls.of(s));
    }

    /** Returns one for which each thread always has a CPU, so that a scan may be in the future. */
    static Retake retake(Scheduler s, Stalls stalls) {
        return new Retake(s, stalls) {
            @Override
            long cpuTime(Machine m, long now) {
                return now;
            }
        };
    }

    /** Scans as if the quantum were over. Returns how many requests to yield there have been. */
    static long told(Retake retake, long sched) {
        boolean _ = retake.look(System.nanoTime() + 2 * QUANTUM.toNanos());
        return SchedStat.NTOLD.getOpaque(sched);
    }
}
