// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.HiddenStacks;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.GStatus;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The steps of {@link LeakSearch}. */
class LeakSearchTest {
    private static final int SEARCHES = 6;

    /** The world is not held for goroutines that sleep on their threads. */
    @Test
    void lockedAndPinned() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            Scheduler[] s = new Scheduler[1];
            gmp.go(() -> {
                Go.lockOSThread();
                c.recv();
            });
            gmp.go(() -> PinningCall.run(c::recv));
            gmp.run(() -> {
                s[0] = GStack.mine().scheduler();
                TestGmp.awaitOthers();
            });
            boolean[] settled = new boolean[1];
            StopTheWorld.withWorldStopped(s[0], () -> settled[0] = LeakSearch.settle(s[0]));
            c.close();
            assertTrue(settled[0]);
        }
    }

    /**
     * The goroutine that one search makes, to see whether the JVM finds leaks, is no leak for another that is under way. The first search
     * tells of what it has found while most others still wait for their turn.
     */
    @Test
    void someAtOnce() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1); TestGmp other = TestGmp.procs(1)) {
            Threads searches = new Threads();
            searches.add(SEARCHES, "search", gmp.gmp::assertNoLeaks);
            Scheduler s = gmp.scheduler();
            // Only one world at a time is stopped: all searches come to wait for theirs.
            StopTheWorld.withWorldStopped(other.scheduler(), () -> {
                searches.start();
                while (waiting(s) < SEARCHES) {
                    Thread.onSpinWait();
                }
            });
            searches.join();
        }
    }

    private static final class Nothing extends HiddenStacks {
        @Override
        public @Nullable GStack stack(long gp) {
            return null;
        }
    }

    /** A search for methods on stacks knows that it has not seen them whole. */
    @Test
    void stacksWithoutFrames() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Scheduler s = gmp.scheduler();
            assertTrue(new StackSearch().run());
            StopTheWorld.withWorldStopped(s, () -> {
                s.hide(new Nothing());
                assertFalse(new StackSearch().run());
                s.hide(null);
            });
            assertTrue(new StackSearch().run());
        }
    }

    /** A search for leaks during a search for methods, rather than another stop of the world, makes that search incomplete. */
    @Test
    void stacksHiddenMeanwhile() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Scheduler s = gmp.scheduler();
            Chan<Integer> end = Chan.make();
            for (int i = 0; i < 200; i++) {
                gmp.go(() -> end.recv());
            }
            AtomicBoolean hides = new AtomicBoolean();
            AtomicBoolean over = new AtomicBoolean();
            Threads stops = new Threads().add("stops", () -> {
                while (!over.get()) {
                    StopTheWorld.withWorldStopped(s, () -> s.hide(hides.get() ? new Nothing() : null));
                    StopTheWorld.withWorldStopped(s, () -> s.hide(null));
                }
            }).start();
            try {
                for (int i = 0; i < 10; i++) {
                    assertTrue(new StackSearch().run(), "the world was stopped");
                }
                hides.set(true);
                for (int i = 0; i < 10; i++) {
                    int before = s.leakSearches();
                    boolean whole = new StackSearch().goroutines(s);
                    assertTrue(!whole || s.leakSearches() - before < 5, "incomplete"); // Some may come before it and after it.
                }
            } finally {
                over.set(true);
                end.close();
            }
            stops.join();
        }
    }

    private static int waiting(Scheduler s) {
        int[] n = new int[1];
        s.slots.forEach(gp -> n[0] += GStatus.readgstatus(gp) == GStatus.GWAITING ? 1 : 0);
        return n[0];
    }
}
