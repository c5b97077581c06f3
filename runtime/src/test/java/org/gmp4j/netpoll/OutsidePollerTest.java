// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.ffi.Epoll;
import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Memory;
import org.gmp4j.sched.GStack;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The poller of threads goes on when there is no memory for one of its steps, and forgets no waiter. */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OutsidePollerTest {
    private static final int ROUNDS = 8;
    private static final int EVENTS = 64;

    /** Whether the round that has begun is the last. */
    private volatile boolean over;

    /** Each step fails at first. */
    private static final class WithoutMemory extends OutsidePoller {
        private boolean fails = true;

        WithoutMemory() {
            super(Epoll.create(), Memory.map((long) EVENTS * Epoll.EVENT_BYTES));
        }

        private void step() {
            fails ^= true;
            if (!fails) {
                throw new OutOfMemoryError("as if there were none");
            }
        }

        @Override
        int await() {
            step();
            return super.await();
        }

        @Override
        void event(int i) {
            step();
            super.event(i);
        }
    }

    @Test
    void nobodyIsForgotten() throws Exception {
        WithoutMemory poller = new WithoutMemory();
        int descriptor = EventFd.create();
        PollFd fd = new PollFd(descriptor);
        Registration r = Registration.of(poller);
        assertEquals(0, poller.registerForGood(descriptor, r.pd));
        AtomicInteger reports = new AtomicInteger();
        Thread.ofPlatform().daemon().uncaughtExceptionHandler((t, e) -> reports.incrementAndGet()).start(poller::loop);
        SynchronousQueue<Integer> woken = new SynchronousQueue<>();
        Thread waiter = Thread.ofPlatform().daemon().start(() -> {
            boolean last = false;
            for (int i = 0; !last; i++) {
                long taken = 0;
                while (taken <= 0) {
                    r.reset(false);
                    taken = EventFd.take(descriptor);
                    if (taken <= 0) {
                        await(r, fd);
                    }
                }
                last = over; // It is written before the event, and not again before this round has ended.
                put(woken, i);
            }
        });
        for (int i = 0; !over; i++) {
            over = i >= ROUNDS && reports.get() > 0; // The waiter may take any number of events before it waits for them.
            assertEquals(0, EventFd.add(descriptor, 1));
            assertEquals(i, woken.take());
        }
        waiter.join();
        fd.close();
    }

    private static void await(Registration r, PollFd fd) {
        GStack st = GStack.enterChecked();
        try {
            r.await(st, fd, false);
        } finally {
            GStack.exit(st);
        }
    }

    private static void put(SynchronousQueue<Integer> to, int i) {
        try {
            to.put(i);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
