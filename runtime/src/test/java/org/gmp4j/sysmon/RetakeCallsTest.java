// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.gmp4j.sysmon.RetakeScans.QUANTUM;
import static org.gmp4j.sysmon.RetakeScans.retake;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Go;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link Retake}: Ps of threads in system calls, and of threads that sleep. */
class RetakeCallsTest {
    private static final int CALLS = 1_000;
    private static final int TRIES = 500;
    private static final int SLEEPERS = 5;

    /** A system call whose P no M wants is new to sysmon once, and does not keep sysmon awake until it ends. */
    @Test
    void aSyscallIsNewOnce() {
        boolean noted = false;
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(QUANTUM))) {
            for (int i = 0; i < CALLS && !noted; i++) {
                noted = gmp.call(() -> {
                    Machine m = Machine.current();
                    long pp = m.pp();
                    return Go.blocking(() -> notedWhileInSyscall(retake(m.s), pp));
                });
            }
        }
        assertTrue(noted, "a call that sysmon has seen is new all the time");
    }

    /** Returns whether sysmon has noted the call by a scan, before it took the P. */
    private static boolean notedWhileInSyscall(Retake retake, long pp) {
        int tick = P.SYSCALLTICK.getOpaque(pp);
        while (PStatus.get(pp) == PStatus.PSYSCALL && P.SYSCALLTICK.getOpaque(pp) == tick) {
            if (!retake.newSyscall()) {
                return tick != 0 && PStatus.get(pp) == PStatus.PSYSCALL && P.SYSCALLTICK.getOpaque(pp) == tick;
            }
        }
        return false;
    }

    /** A scan that meets a call after the end of its slice takes the P. Other calls keep theirs at the first scan. */
    @Test
    void aCallLosesItsPAtTheFirstLookIfTheSliceIsOver() throws Exception {
        AtomicBoolean end = new AtomicBoolean();
        int[] calls = new int[3];
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM))) {
            gmp.go(() -> {
                while (!end.get()) {
                    Go.gosched(); // Work waits.
                }
            });
            Retake retake = retake(gmp.scheduler());
            try {
                gmp.call(() -> {
                    boolean took = false;
                    for (int i = 0; i < TRIES; i++) {
                        int before = calls[0];
                        boolean _ = retake.look(System.nanoTime()); // When the slice began is known from here on.
                        int takes = Go.blocking(() -> {
                            boolean left = M.OLDP.get(Machine.current().mp) != 0; // Not given away as the call began.
                            calls[0] += left ? 1 : 0;
                            return left && retake.look(System.nanoTime() + 2 * QUANTUM.toNanos()) ? 1 : 0;
                        });
                        calls[2] += took && calls[0] != before ? 1 : 0;
                        took = takes != 0;
                        calls[1] += takes;
                    }
                    return null;
                });
            } finally {
                end.set(true);
                retake.close();
            }
        }
        assertTrue(calls[1] > calls[0] / 2, Arrays.toString(calls)); // Sysmon, which looks too, may be faster.
        assertTrue(calls[2] > 0, "the next call does not give the P away, as that one did not last");
    }

    /** A thread that is first seen asleep at the end of its goroutine's slice does not count as one that ran. */
    @Test
    void aSleeperIsNotOneThatRan() throws InterruptedException {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM))) {
            Scheduler s = gmp.scheduler();
            Retake retake = retake(s);
            for (int i = 0; i < SLEEPERS; i++) {
                AtomicLong mp = new AtomicLong();
                Semaphore end = new Semaphore(0);
                gmp.go(() -> PinningCall.run(() -> {
                    mp.set(Machine.current().mp);
                    end.acquireUninterruptibly();
                }));
                // In the queue of the semaphore it sleeps for long; before it may sleep for a moment, at a lock of the JVM.
                while (!end.hasQueuedThreads() || OsThread.state((int) M.PROCID.get(mp.get())) != 'S') {
                    Thread.onSpinWait();
                }
                boolean _ = retake.look(System.nanoTime()); // Nothing waits: it does not look whether the thread sleeps.
                CountDownLatch ran = new CountDownLatch(1);
                gmp.go(ran::countDown);
                var _ = retake.look(System.nanoTime() + QUANTUM.multipliedBy(2).toNanos());
                end.release();
                ran.await();
            }
            retake.close();
            assertEquals(0, Stalls.of(s).ran());
        }
    }

    /** Before its first scan it has taken no P, so sysmon's first sleep is an ordinary one. */
    @Test
    void beforeTheFirstLookNothingWasTaken() {
        try (Unwatched gmp = new Unwatched(1_000_000)) {
            assertFalse(gmp.sysmon().retake.seen.tookFromSyscall());
            assertFalse(gmp.sysmon().retake.seen.tookFromSleeper());
        }
    }
}
