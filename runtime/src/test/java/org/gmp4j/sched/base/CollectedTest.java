// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Inject;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.jdk.JdkReady;
import org.gmp4j.stack.Stack;
import org.gmp4j.stack.StackRef;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** What {@link Collected} must not do; {@code DroppedTest} has what it does. */
class CollectedTest {
    /** A scheduler that takes itself for the default one: the threads that its goroutines start may be collected. */
    private static TestGmp inPlaceOfJdk() {
        TestGmp gmp = TestGmp.procs(1);
        gmp.scheduler().inPlaceOfJdk = true;
        return gmp;
    }

    private static GStack start(TestGmp gmp, Runnable task) {
        AtomicReference<Stack> st = new AtomicReference<>();
        gmp.run(() -> st.set(Stack.of(Thread.startVirtualThread(task))));
        return (GStack) st.get();
    }

    /** The poller may find a thread in a later wait than the one that it has an event for. */
    @Test
    void aStaleEventHoldsWhatItWakes() throws InterruptedException {
        try (TestGmp gmp = inPlaceOfJdk()) {
            GStack st = start(gmp, LockSupport::park);
            while (st.thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            long gp = st.gp();
            boolean dropped = GSlots.isDropped(gp);
            long woken = JdkReady.netReady(st);
            boolean held = !GSlots.isDropped(gp);
            G.SCHEDLINK.set(gp, 0);
            Inject.injectPolled(gmp.scheduler(), gp);
            st.thread.join();
            assertTrue(dropped);
            assertEquals(gp, woken);
            assertTrue(held);
        }
    }

    /** The collector tells of a thread that has ended before, when its slot serves a goroutine that waits. */
    @Test
    void aSlotThatServesAnother() throws InterruptedException {
        try (TestGmp gmp = inPlaceOfJdk()) {
            GStack st = start(gmp, () -> { });
            st.thread.join();
            long gp = st.gp();
            Chan<Integer> c = Chan.make();
            gmp.run(() -> {
                long[] other = new long[1];
                for (int i = 0; i < 100 && other[0] != gp; i++) { // The P's free slots, the last one first.
                    Go.go(() -> {
                        other[0] = GStack.mine().gp();
                        Object _ = c.recv();
                    });
                    Go.gosched();
                }
                assertEquals(gp, other[0]);
            });
            boolean _ = st.ref.enqueue();
            gmp.scheduler().collected.look();
            assertEquals(GStatus.GWAITING, GStatus.readgstatus(gp));
            assertTrue(GSlots.stack(gp) instanceof GStack);
            c.close();
        }
    }

    private static void enqueue(GStack ended, Collected c, int n) {
        for (int i = 0; i < n; i++) {
            assertTrue(new StackRef(ended, c.queue).enqueue());
        }
    }

    /** Whether threads that start others are to help. */
    @Test
    void sysmonSaysWhetherItIsBehind() throws InterruptedException {
        try (TestGmp gmp = inPlaceOfJdk()) {
            GStack st = start(gmp, () -> { });
            st.thread.join();
            Collected c = new Collected(gmp.scheduler()); // No sysmon looks at it.
            enqueue(st, c, Collected.AT_ONCE + 4);
            c.look();
            assertTrue(c.any());
            Newproc.help(c);
            assertTrue(c.queue.poll() != null); // Sysmon has one in hand, and a start frees two.
            assertTrue(c.queue.poll() == null);
            c.look();
            enqueue(st, c, 1);
            Newproc.help(c);
            assertTrue(c.queue.poll() != null);
        }
    }

    /** Keeps the sysmon of a scheduler from its duties. */
    private static final class Block extends Deferred {
        private final Scheduler s;
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch end = new CountDownLatch(1);

        Block(Scheduler s) {
            this.s = s;
        }

        @Override
        protected void run() {
            if (!s.monitor().isCurrent()) {
                boolean _ = add(this);
                return;
            }
            begun.countDown();
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** While sysmon is behind, a thread that starts another frees slots. */
    @Test
    void aStartFreesWhatSysmonLeft() throws InterruptedException {
        try (TestGmp gmp = inPlaceOfJdk()) {
            GStack st = start(gmp, () -> { });
            st.thread.join();
            Block block = new Block(gmp.scheduler());
            while (!Deferred.add(block)) {
                Thread.onSpinWait(); // Sysmon takes such work from when its thread has begun.
            }
            block.begun.await();
            Collected c = gmp.scheduler().collected;
            c.more = true;
            enqueue(st, c, 2);
            start(gmp, () -> { }).thread.join();
            boolean left = c.queue.poll() != null;
            block.end.countDown();
            assertFalse(left);
        }
    }
}
