// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.time.Time;
import org.junit.jupiter.api.Test;

/** No more threads to be had, in a service: what is ready waits for one. The end of a program: {@code FatalTest}. */
class ThreadLimitTest {
    /** A goroutine may ask for the number of Ms wherever its stack ends, so that takes no lock. */
    @Test
    void theNumberIsReadWithoutALock() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Scheduler s = gmp.scheduler();
            SchedLock.lock(s.sched);
            try {
                assertTrue(s.mcount() > 0);
            } finally {
                SchedLock.unlock(s.sched);
            }
        }
    }

    /** All threads that may be are in calls that block; what others are to do is done when the first comes back. */
    @Test
    void workWaitsForAThread() throws InterruptedException {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).maxThreads(2))) {
            long sched = gmp.scheduler().sched;
            CountDownLatch blocked = new CountDownLatch(2);
            CountDownLatch back = new CountDownLatch(1);
            CountDownLatch ran = new CountDownLatch(100);
            for (int i = 0; i < 2; i++) {
                gmp.go(() -> PinningCall.run(() -> {
                    blocked.countDown();
                    await(back);
                }));
            }
            blocked.await();
            for (int i = 0; i < 100; i++) {
                gmp.go(ran::countDown);
            }
            while (Schedt.NPIDLE.getVolatile(sched) != 2 && !Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait(); // Until sysmon has taken both Ps, for which there is no M.
            }
            assertEquals(100, ran.getCount(), "no thread was free to run them");
            back.countDown();
            ran.await();
            assertEquals(2, gmp.gmp.setProcs(3), "the number of Ps");
            gmp.run(Go::gosched);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * A failed build throws and leaves nothing, and a later one works. The first is not built where there is a thread for
     * its sysmon alone: it would wait for the others for ever.
     */
    @Test
    void noThreadForAScheduler() {
        ChildJvm.Result r = new ChildJvm(NoThreadProgram.class)
                .with("-XX:ThreadStackSize=65536", "-Xlog:disable", "-Xmx64m", "-Xms64m").run();
        assertEquals("""
                unable to create native thread, built 0
                unable to create native thread
                unable to create native thread
                live 1
                """, r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** The default scheduler has its first M from the start: a service's first request could not report that there is none. */
    @Test
    void aDefaultSchedulerHasAThread() {
        ChildJvm.Result r = new ChildJvm(FirstThreadProgram.class)
                .with("-XX:ThreadStackSize=65536", "-Xlog:disable", "-Xmx64m", "-Xms64m").run();
        assertEquals("ran on true\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /**
     * The system gives no more threads. HotSpot needs one to handle a SIGTERM, and one for each hook. When it cannot start a thread
     * for an M it prints so on stdout, so the runtime must not ask often: some seven times in the first second, not every 10 ms.
     */
    @Test
    void aSignalFindsAThread() {
        ChildJvm.Result r = new ChildJvm(LastThreadProgram.class).env("MALLOC_ARENA_MAX", "1")
                .with("-XX:ThreadStackSize=65536", "-Xmx64m", "-Xms64m").run();
        assertEquals(143, r.exit(), r::toString);
        assertEquals(List.of("Ms true", "hook"), r.out().lines().filter(l -> l.matches("Ms .*|hook")).toList(), r::toString);
        long seconds = r.out().lines().filter(l -> l.startsWith("seconds ")).mapToLong(l -> Long.parseLong(l.substring(8))).sum();
        long refused = r.out().lines().filter(l -> l.contains("Failed to start the native thread")).count();
        assertTrue(refused > 0 && refused < 20 + 2 * seconds, r::toString);
    }

    /** When the JVM begins to shut down, sysmon leaves the room to the hooks for a second, and then tries as before. */
    @Test
    void theHooksOfAShutdownComeFirst() {
        ChildJvm.Result r = new ChildJvm(ShutdownShortageProgram.class).plain().run();
        assertEquals("""
                1000000 tries
                1000020 tries
                1000040 waits
                1001039 waits
                1001040 tries
                1001060 tries
                """, r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** The one thread that may be sleeps with the goroutine that is locked to it, until that is ready. */
    @Test
    void aLockedGoroutineNeedsNoOtherThread() throws InterruptedException {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).maxThreads(1))) {
            Scheduler s = gmp.scheduler();
            Chan<Integer> c = Chan.make();
            CountDownLatch locked = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(1);
            gmp.go(() -> {
                Go.lockOSThread();
                locked.countDown();
                int got = c.recv() + c.recv();
                Go.unlockOSThread();
                if (got == 3) {
                    done.countDown();
                }
            });
            locked.await();
            for (int i = 1; i <= 2; i++) {
                TestGmp.awaitAsleep(s, 0);
                c.send(i);
            }
            done.await();
            gmp.run(Go::gosched);
        }
    }

    /** The same until it is time: no M runs timers. */
    @Test
    void aLockedGoroutineSleepsOnTheOnlyThread() throws InterruptedException {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).maxThreads(1))) {
            CountDownLatch done = new CountDownLatch(1);
            gmp.go(() -> {
                Go.lockOSThread();
                Go.sleep(Duration.ofMillis(1));
                Time.after(Duration.ofMillis(1)).recv();
                Go.unlockOSThread();
                done.countDown();
            });
            done.await();
            gmp.run(Go::gosched);
            gmp.check();
        }
    }
}
