// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Go;
import org.gmp4j.affinity.Affinity;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.M;
import org.gmp4j.struct.PStatus;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** The CPUs that a policy named go away, offline or out of the cpuset: the threads run on elsewhere. */
class LostCpusTest {
    /** The kernel refuses a mask of a CPU that is not there as it does one of CPUs that are gone. */
    private static final int GONE = 1_000;

    private static void lose(BitSet cpus) {
        cpus.clear();
        cpus.set(GONE);
    }

    /** On the only P: calls {@code body} once that has been taken. */
    private static void blocking(Scheduler s, Runnable body) {
        try {
            int _ = Go.blocking(() -> {
                while (PStatus.get(s.procs()[0].pp) == PStatus.PSYSCALL) {
                    Thread.onSpinWait(); // Until sysmon takes it.
                }
                body.run();
                return 1;
            });
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** On an M's own stack: one that starts for the P of a thread that blocks. No CPU of the policy is left. */
    @Test
    void aNewThread() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).affinity(Affinity.compact()))) {
            Scheduler s = gmp.scheduler();
            StopTheWorld.withWorldStopped(s, () -> lose(s.placement().sets().get(0)));
            gmp.run(() -> {
                AtomicBoolean ran = new AtomicBoolean();
                Go.go(() -> ran.set(true));
                blocking(s, () -> {
                    while (!ran.get()) {
                        Thread.onSpinWait();
                    }
                });
            });
            boolean[] refused = new boolean[1];
            StopTheWorld.withWorldStopped(s, () -> {
                for (Machine m : s.machines()) {
                    refused[0] |= m.pinnedTo == 0 && M.CPU.get(m.mp) == -1;
                }
            });
            assertTrue(refused[0]);
            gmp.check();
        }
    }

    /** On a goroutine's stack: it takes an idle P. The thread goes where the policy still has a CPU. */
    @Test
    void theEndOfASystemCall() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).affinity(Affinity.compact()))) {
            Scheduler s = gmp.scheduler();
            int _ = gmp.gmp.setProcs(1); // Two places, one P.
            BitSet left = s.placement().sets().get(1);
            gmp.run(() -> {
                Go.lockOSThread(); // It comes back on this thread.
                Machine m = Machine.current();
                lose(s.placement().sets().get(0)); // This goroutine has the only P.
                blocking(s, () -> m.pinnedTo = -1); // As if another P had been its last.
                assertEquals(0, m.pinnedTo);
                assertEquals(0, M.LOCKS.getOpaque(m.mp));
                assertEquals(-1, M.CPU.get(m.mp));
                assertEquals(left, org.gmp4j.ffi.Affinity.get(0));
                Go.unlockOSThread();
            });
            gmp.check();
        }
    }
}
