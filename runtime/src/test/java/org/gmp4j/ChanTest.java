// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

import org.gmp4j.chan.Waiters;
import org.gmp4j.print.Frames;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Go's {@code runtime/chan_test.go} and {@code test/chan}, without select. */
@Tag("ring")
class ChanTest {
    private static void go(int procs, Runnable body) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.run(body);
        }
    }

    /** Go: {@code TestChan}, the parts for one capacity. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 10, 100})
    void chan(int cap) {
        go(4, () -> {
            Chan<Integer> c = Chan.make(cap);
            assertEquals(cap, c.cap());
            // An empty one: receivers wait, none gets anything.
            boolean[] got = new boolean[1];
            Go.go(() -> {
                c.recv();
                got[0] = true;
            });
            TestGmp.awaitOthers();
            assertFalse(got[0]);
            assertNull(c.tryRecv());
            assertNull(c.tryRecvOk());
            c.send(0);

            // A full one: senders wait.
            for (int i = 0; i < cap; i++) {
                c.send(i);
            }
            assertEquals(cap, c.len());
            if (cap > 0) {
                assertFalse(c.trySend(99));
            }
            AtomicInteger sent = new AtomicInteger();
            Go.go(() -> {
                c.send(cap);
                sent.incrementAndGet();
            });
            TestGmp.awaitOthers();
            assertEquals(0, sent.get());
            for (int i = 0; i <= cap; i++) {
                assertEquals(i, c.recv());
            }
            // Zero values from a closed one, after what is buffered.
            for (int i = 0; i < cap; i++) {
                c.send(i);
            }
            c.close();
            for (int i = 0; i < cap; i++) {
                assertEquals(new Chan.Recv<>(i, true), c.recvOk());
            }
            for (int i = 0; i < 3; i++) {
                assertNull(c.recv());
                assertEquals(new Chan.Recv<Integer>(null, false), c.recvOk());
                assertEquals(new Chan.Recv<Integer>(null, false), c.tryRecvOk());
            }
        });
    }

    /** Go: {@code TestChan}: 100 values in order, and several senders and receivers: each value once. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 10})
    void everyValueOnce(int cap) {
        go(4, () -> {
            Chan<Integer> c = Chan.make(cap);
            Go.go(() -> {
                for (int i = 0; i < 100; i++) {
                    c.send(i);
                }
            });
            for (int i = 0; i < 100; i++) {
                assertEquals(i, c.recv());
            }
            int senders = 4;
            int each = 1_000;
            AtomicIntegerArray seen = new AtomicIntegerArray(each);
            WaitGroup wg = new WaitGroup();
            for (int s = 0; s < senders; s++) {
                wg.go(() -> {
                    for (int i = 0; i < each; i++) {
                        c.send(i);
                    }
                });
                wg.go(() -> {
                    for (int i = 0; i < each; i++) {
                        seen.incrementAndGet(c.recv());
                    }
                });
            }
            wg.await();
            for (int i = 0; i < each; i++) {
                assertEquals(senders, seen.get(i));
            }
        });
    }

    /** Go: {@code TestMultiConsumer}. */
    @Stress
    void multiConsumer() {
        go(4, () -> {
            int readers = 23;
            int n = 50_000;
            Chan<Integer> q = Chan.make(readers * 4);
            Chan<Integer> r = Chan.make(readers * 4);
            int[] primes = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
            WaitGroup wg = new WaitGroup();
            for (int i = 0; i < readers; i++) {
                int w = i;
                wg.go(() -> {
                    for (int v : q) {
                        if (primes[w % primes.length] == v) {
                            Go.gosched();
                        }
                        r.send(v);
                    }
                });
            }
            int[] expect = new int[1];
            Go.go(() -> {
                for (int i = 0; i < n; i++) {
                    int v = primes[i % primes.length];
                    expect[0] += v;
                    q.send(v);
                }
                q.close();
                wg.await();
                r.close();
            });
            int count = 0;
            int sum = 0;
            for (int v : r) {
                count++;
                sum += v;
            }
            assertEquals(n, count);
            assertEquals(expect[0], sum);
        });
    }

    /** Go: {@code test/chan/fifo.go}: waiting receivers and senders are served in the order they came. */
    @Test
    void fifo() {
        go(1, () -> {
            Chan<Integer> async = Chan.make(10);
            for (int i = 0; i < 10; i++) {
                async.send(i);
            }
            for (int i = 0; i < 10; i++) {
                assertEquals(i, async.recv());
            }
            Chan<Integer> c = Chan.make();
            List<String> served = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                int id = i;
                Go.go(() -> served.add(id + ":" + c.recv()));
                Waiters.awaitReceivers(c, i + 1); // One after the other.
            }
            for (int i = 0; i < 10; i++) {
                c.send(i);
            }
            while (served.size() < 10) {
                Go.gosched();
            }
            served.sort(null);
            for (int i = 0; i < 10; i++) {
                assertEquals(i + ":" + i, served.get(i));
            }
            for (int cap = 0; cap < 3; cap++) {
                Chan<Integer> full = Chan.make(cap);
                for (int i = 0; i < 10; i++) {
                    int v = i;
                    Go.go(() -> full.send(v));
                    Waiters.awaitSenders(full, i + 1 - cap);
                    while (full.len() < Math.min(i + 1, cap)) {
                        Go.gosched();
                    }
                }
                for (int i = 0; i < 10; i++) {
                    assertEquals(i, full.recv());
                }
            }
        });
    }

    /** Go: {@code test/chan/goroutines.go}: a chain of 10,000. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void goroutines(int procs) {
        go(procs, () -> {
            Chan<Integer> leftmost = Chan.make();
            Chan<Integer> left = leftmost;
            for (int i = 0; i < 10_000; i++) {
                Chan<Integer> l = left;
                Chan<Integer> r = Chan.make();
                Go.go(() -> l.send(1 + r.recv()));
                left = r;
            }
            Chan<Integer> last = left;
            Go.go(() -> last.send(0));
            assertEquals(10_000, leftmost.recv());
        });
    }

    /** Go: {@code test/chan/sieve1.go}: the first primes, a goroutine each. */
    @Test
    void sieve() {
        go(2, () -> {
            Chan<Integer> first = Chan.make();
            Go.go(() -> {
                for (int i = 2; first.len() >= 0 && i < 10_000; i++) {
                    try {
                        first.send(i);
                    } catch (IllegalStateException closed) {
                        return;
                    }
                }
            });
            List<Chan<Integer>> chain = new ArrayList<>(List.of(first));
            List<Integer> primes = new ArrayList<>();
            while (primes.size() < 50) {
                Chan<Integer> in = chain.getLast();
                int prime = in.recv();
                primes.add(prime);
                Chan<Integer> out = Chan.make();
                Go.go(() -> {
                    try {
                        for (int i : in) {
                            if (i % prime != 0) {
                                out.send(i);
                            }
                        }
                    } catch (IllegalStateException closed) {
                        return;
                    }
                });
                chain.add(out);
            }
            chain.forEach(Chan::close);
            assertEquals(List.of(2, 3, 5, 7, 11), primes.subList(0, 5));
            assertEquals(229, primes.get(49));
        });
    }

    /** Go: {@code chanlinear.go}: a waiter leaves a long queue without a walk through it; here: 100,000 wait, all are served. */
    @Test
    void manyWaiters() {
        go(2, () -> {
            Chan<Integer> c = Chan.make();
            WaitGroup wg = new WaitGroup();
            AtomicInteger sum = new AtomicInteger();
            for (int i = 0; i < 20_000; i++) {
                wg.go(() -> sum.addAndGet(c.recv()));
            }
            for (int i = 0; i < 20_000; i++) {
                c.send(1);
            }
            wg.await();
            assertEquals(20_000, sum.get());
        });
    }

    /** What Go panics on is an exception with Go's text. */
    @Test
    void misuse() {
        go(2, () -> {
            assertEquals("makechan: size out of range",
                    assertThrows(IllegalArgumentException.class, () -> Chan.make(-1)).getMessage());
            Chan<Integer> c = Chan.make(1);
            assertThrows(NullPointerException.class, () -> c.send(null));
            assertThrows(NullPointerException.class, () -> c.trySend(null));
            c.send(5);
            c.close();
            assertEquals("close of closed channel", assertThrows(IllegalStateException.class, c::close).getMessage());
            IllegalStateException closed = assertThrows(IllegalStateException.class, () -> c.send(1));
            assertEquals("send on closed channel", closed.getMessage());
            assertEquals("send", Frames.users(closed.getStackTrace(), false).getFirst().getMethodName());
            assertThrows(IllegalStateException.class, () -> c.trySend(1));
            assertEquals(5, c.recv());
            assertNull(c.recv());
        });
    }

    @Test
    void closeLetsAllGo() {
        go(2, () -> {
            for (int i = 0; i < 20; i++) {
                closedWithWaiters();
            }
        });
    }

    private static void closedWithWaiters() {
        Chan<Integer> c = Chan.make();
        Chan<Integer> full = Chan.make(1);
        full.send(7);
        WaitGroup wg = new WaitGroup();
        AtomicInteger sendsFailed = new AtomicInteger();
        AtomicInteger nulls = new AtomicInteger();
        for (int i = 0; i < 50; i++) {
            wg.go(() -> nulls.addAndGet(c.recv() == null ? 1 : 0));
            wg.go(() -> {
                try {
                    full.send(1);
                } catch (IllegalStateException e) {
                    assertEquals("send on closed channel", e.getMessage());
                    sendsFailed.incrementAndGet();
                }
            });
        }
        TestGmp.awaitOthers();
        c.close();
        full.close();
        wg.await();
        assertEquals(50, nulls.get());
        assertEquals(50, sendsFailed.get());
        assertEquals(7, full.recv());
        assertNull(full.recv());
    }

    /** Goroutines of two schedulers and plain threads in any mix. */
    @Stress
    void threadsAndSchedulers() throws Exception {
        try (TestGmp a = TestGmp.procs(2); TestGmp b = TestGmp.procs(1)) {
            for (int cap : new int[] {0, 3}) {
                Chan<Integer> c = Chan.make(cap);
                Chan<Integer> back = Chan.make(cap);
                int each = 2_000;
                Runnable send = () -> {
                    for (int i = 0; i < each; i++) {
                        c.send(i);
                    }
                };
                Runnable relay = () -> {
                    for (int v : c) {
                        back.send(v);
                    }
                };
                Threads threads = new Threads().add("sender", send::run).add("relay", relay::run).start();
                a.go(send);
                b.go(send);
                a.go(relay);
                b.go(relay);
                long sum = 0;
                for (int i = 0; i < 3 * each; i++) {
                    sum += back.recv();
                }
                assertEquals(3L * each * (each - 1) / 2, sum);
                c.close();
                threads.join();
            }
        }
    }

    /** A send happens before the receive of its value, plainly written data with it; also through a waiting receiver. */
    @Stress
    void happensBefore() {
        go(2, () -> {
            int[] plain = new int[1];
            Chan<Integer> there = Chan.make();
            Chan<Integer> back = Chan.make();
            Go.go(() -> {
                for (int v : there) {
                    assertEquals(v, plain[0]);
                    plain[0]++;
                    back.send(plain[0]);
                }
            });
            for (int i = 0; i < 20_000; i++) {
                plain[0] = 2 * i;
                there.send(2 * i);
                assertEquals(2 * i + 1, back.recv());
                assertEquals(2 * i + 1, plain[0]);
            }
            there.close();
        });
    }

    @Test
    void rangeStopsAtClose() {
        go(1, () -> {
            Chan<Integer> c = Chan.make(3);
            c.send(1);
            c.send(2);
            c.close();
            List<Integer> got = new ArrayList<>();
            c.forEach(got::add);
            assertEquals(List.of(1, 2), got);
            assertFalse(c.iterator().hasNext());
            assertThrows(java.util.NoSuchElementException.class, () -> c.iterator().next());
            assertTrue(got.size() == 2);
        });
    }
}
