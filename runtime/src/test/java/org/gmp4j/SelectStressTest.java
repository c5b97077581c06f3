// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.gmp4j.Selects.NOTHING;
import static org.gmp4j.Selects.go;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;

import org.gmp4j.chan.Waiters;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Selects of many goroutines and threads race for the same channels; Go's {@code runtime/chan_test.go}. */
@Tag("ring")
class SelectStressTest {
    /** A plain thread and a virtual thread of the JDK select among themselves and with goroutines. */
    @Stress
    void threadsOfAllKinds() throws InterruptedException {
        int n = 3_000;
        Chan<Integer> a = Chan.make();
        Chan<Integer> b = Chan.make(1);
        LongChan l = LongChan.make();
        AtomicIntegerArray seen = new AtomicIntegerArray(3 * n);
        IntConsumer send = first -> {
            for (int i = first; i < first + n; i++) {
                int _ = Select.of().send(a, i, NOTHING).send(b, i, NOTHING).sendLong(l, i, NOTHING).run();
            }
        };
        Runnable recv = () -> {
            Select s = Select.of().recv(a, seen::incrementAndGet).recv(b, seen::incrementAndGet)
                    .recvLong(l, v -> seen.incrementAndGet((int) v));
            for (int i = 0; i < n; i++) {
                assertTrue(s.run() >= 0);
            }
        };
        try (TestGmp gmp = TestGmp.procs(2)) {
            Threads plain = new Threads().add("sender", () -> send.accept(0)).add("receiver", recv::run).start();
            AtomicReference<Throwable> failed = new AtomicReference<>();
            Thread.UncaughtExceptionHandler handler = (t, e) -> failed.set(e);
            Thread v1 = Thread.ofVirtual().uncaughtExceptionHandler(handler).start(() -> send.accept(n));
            Thread v2 = Thread.ofVirtual().uncaughtExceptionHandler(handler).start(recv);
            gmp.go(() -> send.accept(2 * n));
            gmp.go(recv);
            plain.join();
            v1.join();
            v2.join();
            assertNull(failed.get());
        }
        for (int i = 0; i < 3 * n; i++) {
            assertEquals(1, seen.get(i));
        }
    }

    /** Selects with many channels in different orders do not wait for each other's locks. */
    @Stress
    void lockOrder() {
        go(8, () -> {
            int n = 40;
            List<Chan<Integer>> cs = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                cs.add(Chan.make(1));
            }
            WaitGroup wg = new WaitGroup();
            for (int g = 0; g < 8; g++) {
                List<Chan<Integer>> order = new ArrayList<>(cs);
                java.util.Collections.shuffle(order);
                wg.go(() -> {
                    Select s = Select.of();
                    for (int i = 0; i < n; i++) {
                        if (i % 2 == 0) {
                            s.recv(order.get(i), Selects::ignore);
                        } else {
                            s.send(order.get(i), i, NOTHING);
                        }
                    }
                    s.orElse(NOTHING);
                    for (int i = 0; i < 2_000; i++) {
                        int _ = s.run();
                    }
                });
            }
            wg.await();
        });
    }

    /** Go: {@code TestSelfSelect}: send and receive on the same channel in one select neither crash nor deadlock. */
    @ParameterizedTest
    @ValueSource(ints = {0, 10})
    void selfSelect(int cap) {
        go(2, () -> {
            WaitGroup wg = new WaitGroup();
            Chan<Integer> c = Chan.make(cap);
            for (int p = 0; p < 2; p++) {
                int me = p;
                wg.go(() -> {
                    for (int i = 0; i < 1_000; i++) {
                        Select s = Select.of();
                        if (me == 0 || i % 2 == 0) {
                            s.send(c, me, NOTHING).recv(c, v -> assertFalse(cap == 0 && v == me, "self receive"));
                        } else {
                            s.recv(c, v -> assertFalse(cap == 0 && v == me, "self receive")).send(c, me, NOTHING);
                        }
                        int _ = s.run();
                    }
                });
            }
            wg.await();
        });
    }

    /** Go: {@code TestSelectStress}. */
    @Stress
    void selectStress() {
        go(10, () -> {
            int n = 5_000;
            List<Chan<Integer>> c = List.of(Chan.make(), Chan.make(), Chan.make(2), Chan.make(3));
            WaitGroup wg = new WaitGroup();
            for (Chan<Integer> k : c) {
                wg.go(() -> {
                    for (int i = 0; i < n; i++) {
                        k.send(0);
                    }
                });
                wg.go(() -> {
                    for (int i = 0; i < n; i++) {
                        int _ = k.recv();
                    }
                });
            }
            wg.go(() -> all(c, n, true));
            wg.go(() -> all(c, n, false));
            wg.await();
            c.forEach(k -> assertTrue(Waiters.none(k) && k.len() == 0));
        });
    }

    private static void all(List<Chan<Integer>> channels, int n, boolean send) {
        List<Chan<Integer>> left = new ArrayList<>(channels);
        int[] done = new int[left.size()];
        Select s = Select.of();
        for (int i = 0; i < left.size() * n; i++) {
            s.clear();
            for (Chan<Integer> c : left) {
                if (send) {
                    s.send(c, 0, NOTHING);
                } else {
                    s.recv(c, Selects::ignore);
                }
            }
            int which = s.run();
            if (++done[which] == n) {
                left.set(which, null);
            }
        }
    }

    /** Go: {@code TestNonblockSelectRace}: one channel is filled before the other is emptied, so one is always ready. */
    @Stress
    void nonblockSelectRace() {
        go(4, () -> {
            for (int i = 0; i < 10_000; i++) {
                Chan<Integer> c1 = Chan.make(1);
                Chan<Integer> c2 = Chan.make(1);
                Chan<Boolean> done = Chan.make(1);
                c1.send(1);
                Go.go(() -> done.send(Select.of().recv(c1, Selects::ignore).recv(c2, Selects::ignore)
                        .orElse(NOTHING).run() >= 0));
                c2.send(1);
                int _ = Select.of().recv(c1, Selects::ignore).orElse(NOTHING).run();
                assertTrue(done.recv(), "no channel was ready");
            }
        });
    }

    /** Go: {@code TestNonblockSelectRace2}: the same, the second made ready by a close. */
    @Stress
    void nonblockSelectRace2() {
        go(4, () -> {
            for (int i = 0; i < 10_000; i++) {
                Chan<Integer> c1 = Chan.make(1);
                Chan<Integer> c2 = Chan.make();
                Chan<Boolean> done = Chan.make(1);
                c1.send(1);
                Go.go(() -> done.send(Select.of().recv(c1, Selects::ignore).recv(c2, Selects::ignore)
                        .orElse(NOTHING).run() >= 0));
                c2.close();
                int _ = Select.of().recv(c1, Selects::ignore).orElse(NOTHING).run();
                assertTrue(done.recv(), "no channel was ready");
            }
        });
    }

    /**
     * The default is for a moment at which nothing was ready. A token moves from channel to channel, always sent to the next
     * before it is taken from the last, so one is ready at every moment; whoever looked at them one at a time would often
     * find each empty. What the select takes it puts back.
     */
    @Stress
    void defaultWhileATokenMoves() {
        int n = 64;
        go(2, () -> {
            List<Chan<Integer>> channels = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                channels.add(Chan.make(1));
            }
            channels.getFirst().send(0);
            AtomicBoolean stop = new AtomicBoolean();
            Chan<Boolean> stopped = Chan.make();
            Go.go(() -> {
                for (int i = 0; !stop.get(); i = (i + 1) % n) {
                    channels.get((i + 1) % n).send(0);
                    Integer _ = channels.get(i).recv();
                }
                stopped.close();
            });
            Select select = Select.of();
            channels.forEach(c -> select.recv(c, Selects::ignore));
            select.orElse(NOTHING);
            int defaults = 0;
            for (int i = 0; i < 5_000; i++) {
                int taken = select.run();
                if (taken < 0) {
                    defaults++;
                } else {
                    channels.get(taken).send(0);
                }
            }
            stop.set(true);
            stopped.recv();
            assertEquals(0, defaults, "a channel was ready");
        });
    }

    /** One Select run, and built, by several at once: all but one are refused, and every element arrives once. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void twoThreadsAtOnce(boolean threads) throws InterruptedException {
        int n = 20_000;
        Chan<Integer> a = Chan.make();
        Chan<Integer> b = Chan.make(1);
        AtomicIntegerArray seen = new AtomicIntegerArray(n);
        AtomicInteger left = new AtomicInteger(n);
        AtomicInteger refused = new AtomicInteger();
        Chan<Integer> none = null;
        Select s = Select.of();
        IntConsumer take = v -> {
            seen.incrementAndGet(v);
            left.decrementAndGet();
        };
        s.recv(a, take::accept).recv(b, take::accept).orElse(NOTHING);
        Threads.Body use = () -> {
            for (int i = 0; left.get() != 0; i++) {
                try {
                    int _ = s.run();
                    if (i % 1_024 == 0) {
                        s.recv(none, Selects::fail);
                    }
                } catch (ConcurrentModificationException e) {
                    refused.incrementAndGet();
                }
            }
        };
        try (TestGmp gmp = TestGmp.procs(2)) {
            Threads plain = new Threads();
            AtomicReference<Throwable> failed = new AtomicReference<>();
            for (int i = 0; i < 3; i++) {
                if (threads) {
                    plain.add("user" + i, use);
                } else {
                    gmp.go(() -> {
                        try {
                            use.run();
                        } catch (Throwable t) {
                            failed.set(t);
                        }
                    });
                }
            }
            plain.start();
            for (int i = 0; i < n; i++) {
                (i % 2 == 0 ? a : b).send(i);
            }
            plain.join();
            while (left.get() != 0 && failed.get() == null) {
                Thread.yield();
            }
            assertNull(failed.get());
        }
        for (int i = 0; i < n; i++) {
            assertEquals(1, seen.get(i));
        }
        assertTrue(refused.get() != 0);
    }
}
