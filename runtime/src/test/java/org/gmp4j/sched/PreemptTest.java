// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.gmp4j.Go;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.ffi.Signals;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/**
 * {@link Preempt} and the signal handler ({@code c-shims/src/preempt.c}), request by request: the test asks, not sysmon,
 * whose quantum is a minute here. One P.
 */
class PreemptTest {
    private static final long HELD_NANOS = 30_000_000;
    private static final int ASK_AGAIN = 1 << 22;
    private static final int SIG_BLOCK = 0;
    private static final int SIG_SETMASK = 2;
    private static final int SIGSET_BYTES = 128;
    private static final int ASKED_EVERY = 10_000_000;

    /** A goroutine that has the P, and what the test does to it. */
    private static final class Hog {
        final AtomicInteger phase = new AtomicInteger();
        volatile Scheduler s;
        volatile long gp;
        volatile long mp;
        volatile long pp;

        /** On the goroutine: says where it runs. */
        void begin() {
            GStack st = GStack.enter();
            s = st.s;
            gp = st.gp;
            mp = Machine.of().mp;
            pp = Machine.of().pp();
            GStack.exit(st);
            phase.set(1);
        }

        void await(int n) {
            while (phase.get() < n) {
                Thread.onSpinWait();
            }
        }

        int tick() {
            return P.SCHEDTICK.getOpaque(pp);
        }

        /**
         * Sends a request and waits for the handler; says which of its counters moved. Now and then it asks again, as sysmon
         * does: a signal that is pending already swallows a second one.
         */
        String answer(Runnable request) {
            long locks = M.SIGLOCKS.getOpaque(mp);
            long idle = M.SIGIDLE.getOpaque(mp);
            long late = M.SIGLATE.getOpaque(mp);
            long handoff = M.SIGHANDOFF.getOpaque(mp);
            for (int i = 0;; i++) {
                if (i % ASK_AGAIN == 0) {
                    request.run();
                }
                if (M.SIGLOCKS.getOpaque(mp) != locks) {
                    return "locks";
                } else if (M.SIGIDLE.getOpaque(mp) != idle) {
                    return "idle";
                } else if (M.SIGLATE.getOpaque(mp) != late) {
                    return "late";
                } else if (M.SIGHANDOFF.getOpaque(mp) != handoff) {
                    return "taken";
                }
                Thread.onSpinWait();
            }
        }

        String handoff(int tick) {
            return answer(() -> assertTrue(Preempt.handoff(mp, tick)));
        }

        void keepsItsP() {
            assertEquals(PStatus.PRUNNING, PStatus.get(pp));
            assertEquals(mp, P.M.getOpaque(pp));
            assertEquals(pp, M.P.getOpaque(mp));
        }
    }

    private static TestGmp oneP() {
        return TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)));
    }

    /** Runs {@code body} against a goroutine that calls nothing until body has ended. */
    private static void against(Consumer<Hog> body) {
        try (TestGmp gmp = oneP()) {
            Hog hog = new Hog();
            gmp.go(() -> {
                hog.begin();
                hog.await(2);
            });
            hog.await(1);
            try {
                body.accept(hog);
            } finally {
                hog.phase.set(2);
            }
        }
    }

    /** A goroutine in user code loses its P; another runs; the first gets a P when it next calls the runtime. */
    @Test
    void aHogLosesItsP() {
        try (TestGmp gmp = oneP()) {
            Hog hog = new Hog();
            gmp.go(() -> {
                hog.begin();
                hog.await(2);
                Go.gosched();
                GStack st = GStack.enter();
                assertNotEquals(0, Machine.of().pp());
                GStack.exit(st);
            });
            hog.await(1);
            assertEquals("taken", hog.handoff(hog.tick()));
            gmp.run(() -> hog.phase.set(2)); // Or this would not run.
        }
    }

    @Test
    void aSecondRequestFindsNoP() {
        against(hog -> {
            int tick = hog.tick();
            assertEquals("taken", hog.handoff(tick));
            assertEquals(0, M.P.getOpaque(hog.mp));
            assertEquals(GStatus.GSYSCALL, GStatus.readgstatus(hog.gp));
            assertEquals("idle", hog.handoff(tick));
        });
    }

    @Test
    void aLateRequestIsRefused() {
        against(hog -> {
            assertEquals("late", hog.handoff(hog.tick() - 1));
            hog.keepsItsP();
        });
    }

    /** A signal without a request, as when two were merged or one came twice. */
    @Test
    void aRequestIsTakenOnce() {
        against(hog -> {
            M.SIGTICK.setOpaque(hog.mp, hog.tick());
            assertEquals("late", hog.answer(() -> Signals.queue((int) M.PROCID.get(hog.mp), Signals.SIGURG, hog.mp)));
            hog.keepsItsP();
        });
    }

    /** G6: the holder of the scan bit holds the G where it is. */
    @Test
    void aHeldGKeepsItsP() {
        against(hog -> {
            assertTrue(GStatus.castogscanstatus(hog.gp, GStatus.GRUNNING));
            assertEquals("late", hog.handoff(hog.tick()));
            hog.keepsItsP();
            GStatus.casfromgscanstatus(hog.gp, GStatus.GRUNNING);
            assertEquals("taken", hog.handoff(hog.tick()));
        });
    }

    /** kill(1), out-of-band data: not ours. */
    @Test
    void aForeignSignalIsIgnored() {
        against(hog -> {
            Signals.send((int) M.PROCID.get(hog.mp), Signals.SIGURG);
            assertEquals("late", hog.handoff(hog.tick() - 1)); // After it, on the same thread.
            hog.keepsItsP();
        });
    }

    /** The M's thread has ended, and another thread has its number: no business of that one. */
    @Test
    void aSignalToAnotherThreadIsIgnored() {
        against(hog -> {
            int request = 2; // Give the P up.
            M.SIGTICK.setOpaque(hog.mp, hog.tick());
            M.SIGREQ.setRelease(hog.mp, request);
            Signals.queue(OsThread.gettid(), Signals.SIGURG, hog.mp); // Handled before it returns.
            assertEquals(request, M.SIGREQ.getOpaque(hog.mp));
            hog.keepsItsP();
        });
    }

    /** Between enter and exit the P stays, however often it is asked for. */
    @Test
    void theRuntimeKeepsItsP() {
        try (TestGmp gmp = oneP()) {
            Hog hog = new Hog();
            gmp.go(() -> {
                GStack st = GStack.enter();
                hog.begin();
                hog.await(2);
                GStack.exit(st);
            });
            hog.await(1);
            for (int i = 0; i < 10; i++) {
                assertEquals("locks", hog.handoff(hog.tick()));
                hog.keepsItsP();
            }
            hog.phase.set(2);
        }
    }

    /** One that was told to yield does at its next call. */
    @Test
    void leavingTheRuntimeIsAPoint() {
        yieldsAt(() -> GStack.exit(GStack.enter()));
    }

    @Test
    void anExplicitPointYields() {
        yieldsAt(Go::preemptPoint);
    }

    private static void yieldsAt(Runnable point) {
        try (TestGmp gmp = oneP()) {
            Hog hog = new Hog();
            AtomicBoolean ran = new AtomicBoolean();
            gmp.go(() -> {
                Go.go(() -> ran.set(true));
                hog.begin();
                while (!ran.get()) {
                    point.run();
                }
            });
            hog.await(1);
            boolean _ = Preempt.preemptone(hog.pp, true); // False if the goroutine has no P: its thread slept, or it has yielded already.
            while (!ran.get()) {
                Thread.onSpinWait();
            }
        }
    }

    /** The inner of two exits is none: what the outer one knows of its P must stay true. */
    @Test
    void noYieldInsideTheRuntime() {
        try (TestGmp gmp = oneP()) {
            Hog hog = new Hog();
            gmp.go(() -> {
                AtomicBoolean ran = new AtomicBoolean();
                Go.go(() -> ran.set(true));
                GStack st = GStack.enter();
                hog.begin();
                hog.await(2);
                assertNotEquals(0, G.PREEMPT.getOpaque(st.gp));
                GStack.exit(GStack.enter());
                assertFalse(ran.get());
                GStack.exit(st);
                assertTrue(ran.get());
            });
            hog.await(1);
            assertTrue(Preempt.preemptone(hog.pp, true));
            hog.phase.set(2);
        }
    }

    /** One that is told to yield where it cannot runs on with its P, and yields at its next point. */
    @Test
    void onePinnedRunsOnToWhereItCanYield() {
        try (TestGmp gmp = oneP()) {
            Hog hog = new Hog();
            gmp.go(() -> {
                AtomicBoolean ran = new AtomicBoolean();
                Go.go(() -> ran.set(true));
                hog.begin();
                JdkThreads.pin();
                try {
                    hog.await(2);
                    for (int i = 0; i < 3; i++) {
                        GStack.exit(GStack.enter());
                        assertNotEquals(0, G.PREEMPT.getOpaque(hog.gp), "still told");
                        hog.keepsItsP();
                    }
                    assertFalse(ran.get());
                } finally {
                    JdkThreads.unpin();
                }
                GStack.exit(GStack.enter());
                assertTrue(ran.get());
            });
            hog.await(1);
            assertTrue(Preempt.preemptone(hog.pp, true));
            hog.phase.set(2);
        }
    }

    /** But it yields by itself also where it is pinned, or it would wait for ever for what only others can do. */
    @Test
    void onePinnedThatYieldsByItselfLetsOthersRun() {
        try (TestGmp gmp = oneP()) {
            gmp.run(() -> {
                AtomicBoolean ran = new AtomicBoolean();
                Go.go(() -> ran.set(true));
                JdkThreads.pin();
                try {
                    while (!ran.get()) {
                        Go.gosched();
                    }
                } finally {
                    JdkThreads.unpin();
                }
            });
        }
    }

    /** A world that stops waits for no goroutine to become unpinned. */
    @Test
    void onePinnedStopsForAStoppedWorld() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofMinutes(1)))) {
            Hog hog = new Hog();
            gmp.go(() -> {
                hog.begin();
                JdkThreads.pin();
                try {
                    while (hog.phase.get() < 2) {
                        GStack.exit(GStack.enter());
                    }
                } finally {
                    JdkThreads.unpin();
                }
            });
            hog.await(1);
            StopTheWorld.stopTheWorld(hog.s);
            StopTheWorld.startTheWorld(hog.s, null);
            hog.phase.set(2);
        }
    }

    /** It parks its M at once, not at the next check of the thread that stops the world. */
    @Test
    void onePinnedStopsByItselfForAStoppedWorld() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofMinutes(1)))) {
            Hog hog = new Hog();
            gmp.go(() -> {
                hog.begin();
                JdkThreads.pin();
                try {
                    GStack st = GStack.enter(); // Sysmon does not take its P.
                    hog.phase.set(2);
                    while (Schedt.GCWAITING.getAcquire(hog.s.sched) == 0 || G.PREEMPT.getOpaque(hog.gp) == 0) {
                        Thread.onSpinWait();
                    }
                    GStack.exit(st);
                    st = GStack.enter();
                    assertEquals(0, Schedt.GCWAITING.getAcquire(hog.s.sched), "it ran on");
                    GStack.exit(st);
                } finally {
                    JdkThreads.unpin();
                }
            });
            hog.await(2);
            StopTheWorld.stopTheWorld(hog.s);
            StopTheWorld.startTheWorld(hog.s, null);
        }
    }

    /**
     * A thread that takes no signals loses its P all the same. Where that takes one, it is asked now and then, not at each of
     * sysmon's looks; when it takes them, it answers.
     */
    @Test
    @SuppressWarnings("restricted")
    void aThreadThatTakesNoSignals() throws Throwable {
        Linker linker = Linker.nativeLinker();
        MethodHandle mask = linker.downcallHandle(linker.defaultLookup().findOrThrow("pthread_sigmask"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)))) {
            Arena arena = Arena.ofAuto();
            MemorySegment ours = arena.allocate(SIGSET_BYTES); // Not all: the JVM needs SIGSEGV and others.
            for (int signal : new int[] {Signals.SIGURG, 60, 59, 58, 57}) {
                ours.set(ValueLayout.JAVA_LONG, 0, ours.get(ValueLayout.JAVA_LONG, 0) | 1L << signal - 1);
            }
            MemorySegment before = arena.allocate(SIGSET_BYTES);
            gmp.call(() -> {
                Go.lockOSThread();
                Scheduler s = GStack.current().s;
                AtomicInteger asked = new AtomicInteger();
                AtomicInteger ran = new AtomicInteger();
                long sent;
                long begun;
                boolean ranMeanwhile;
                try {
                    assertEquals(0, (int) mask.invokeExact(SIG_BLOCK, ours, before));
                    do { // Its slice may end at this call: then it yields here, and begins again.
                        asked.incrementAndGet();
                        Go.go(ran::incrementAndGet);
                    } while (ran.get() == asked.get());
                    sent = s.signals().sent();
                    begun = System.nanoTime();
                    while (Gate.possible() ? ran.get() < asked.get() : System.nanoTime() - begun < HELD_NANOS) {
                        Thread.onSpinWait();
                    }
                    sent = s.signals().sent() - sent;
                    ranMeanwhile = ran.get() == asked.get();
                    assertEquals(0, (int) mask.invokeExact(SIG_SETMASK, before, MemorySegment.NULL));
                } catch (Throwable t) {
                    throw new AssertionError(t);
                }
                // To yield, then for the P. At each of sysmon's looks it would be hundreds.
                long most = 3 + (System.nanoTime() - begun) / ASKED_EVERY;
                assertTrue(sent <= most, sent + " signals where " + most + " will do");
                assertEquals(Gate.possible(), ranMeanwhile);
                while (ran.get() < asked.get()) { // The P is taken.
                    Thread.onSpinWait();
                }
                Go.unlockOSThread();
                return null;
            });
        }
    }

    /** Within its quantum a goroutine is left alone, whatever waits; unless the JVM put its thread to sleep (safepoint). */
    @Test
    void withinItsQuantum() {
        try (TestGmp gmp = oneP()) {
            gmp.run(() -> {
                Scheduler s = GStack.current().s;
                for (int i = 0; i < 10; i++) {
                    Go.gosched(); // A new time slice.
                    long taken = s.signals().taken();
                    AtomicBoolean ran = new AtomicBoolean();
                    Go.go(() -> ran.set(true));
                    long end = System.nanoTime() + HELD_NANOS;
                    while (System.nanoTime() < end) {
                        Go.preemptPoint();
                    }
                    assertFalse(ran.get() && s.signals().taken() == taken);
                }
            });
        }
    }
}
