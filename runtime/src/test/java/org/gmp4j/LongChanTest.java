// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link LongChan}: what {@link ChanTest} asks of channels of objects, and what differs. */
@Tag("ring")
class LongChanTest {
    private static void go(int procs, Runnable body) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.run(body);
        }
    }

    /** Go: {@code TestChan}, for one capacity, from one goroutine. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 10, 100})
    void chan(int cap) {
        go(1, () -> {
            LongChan c = LongChan.make(cap);
            assertEquals(cap, c.cap());
            assertNull(c.tryRecvOk());
            assertEquals(0, c.tryRecv());
            for (int lap = 0; lap < 3; lap++) {
                for (int i = 0; i < cap; i++) {
                    c.send(i - 1L);
                }
                assertEquals(cap, c.len());
                assertFalse(c.trySend(99));
                for (int i = 0; i < cap / 2; i++) {
                    assertEquals(i - 1L, c.recv());
                }
                for (int i = 0; i < cap / 2; i++) {
                    assertTrue(c.trySend(cap + i - 1L));
                }
                for (int i = cap / 2; i < cap + cap / 2; i++) {
                    assertEquals(new LongChan.Recv(i - 1L, true), i % 2 == 0 ? c.recvOk() : c.tryRecvOk());
                }
                assertEquals(0, c.len());
            }
            for (int i = 0; i < cap; i++) {
                c.send(0);
            }
            c.close();
            for (int i = 0; i < cap; i++) {
                assertEquals(new LongChan.Recv(0, true), c.recvOk(), "a zero that was sent");
            }
            for (int i = 0; i < 3; i++) {
                assertEquals(0, c.recv());
                assertEquals(0, c.tryRecv());
                assertEquals(new LongChan.Recv(0, false), c.recvOk());
                assertEquals(new LongChan.Recv(0, false), c.tryRecvOk());
            }
        });
    }

    /** Each value once, and those of one sender in order, through buffers and from waiter to waiter; all 64 bits. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 10})
    void everyValueOnce(int cap) {
        go(4, () -> {
            LongChan c = LongChan.make(cap);
            int senders = 4;
            int each = 1_000;
            AtomicIntegerArray seen = new AtomicIntegerArray(senders * each);
            WaitGroup wg = new WaitGroup();
            for (int s = 0; s < senders; s++) {
                int from = s;
                wg.go(() -> {
                    for (int i = 0; i < each; i++) {
                        c.send(~((long) from << 40 | i));
                    }
                });
                wg.go(() -> {
                    int[] next = new int[senders];
                    for (int i = 0; i < each; i++) {
                        long v = ~c.recv();
                        int who = (int) (v >>> 40);
                        int n = (int) v;
                        assertTrue(n >= next[who]);
                        next[who] = n + 1;
                        seen.incrementAndGet(who * each + n);
                    }
                });
            }
            wg.await();
            for (int i = 0; i < senders * each; i++) {
                assertEquals(1, seen.get(i));
            }
        });
    }

    @Test
    void misuse() {
        go(2, () -> {
            assertEquals("makechan: size out of range",
                    assertThrows(IllegalArgumentException.class, () -> LongChan.make(-1)).getMessage());
            LongChan c = LongChan.make(1);
            c.close();
            assertEquals("close of closed channel", assertThrows(IllegalStateException.class, c::close).getMessage());
            assertEquals("send on closed channel",
                    assertThrows(IllegalStateException.class, () -> c.send(1)).getMessage());
            assertThrows(IllegalStateException.class, () -> c.trySend(1));
        });
    }

    @Test
    void closeLetsAllGo() {
        go(2, () -> {
            LongChan c = LongChan.make();
            LongChan full = LongChan.make(1);
            full.send(7);
            WaitGroup wg = new WaitGroup();
            AtomicInteger failed = new AtomicInteger();
            AtomicInteger none = new AtomicInteger();
            for (int i = 0; i < 50; i++) {
                wg.go(() -> none.addAndGet(c.recvOk().ok() ? 0 : 1));
                wg.go(() -> none.addAndGet(c.recv() == 0 ? 1 : 0));
                wg.go(() -> {
                    try {
                        full.send(1);
                    } catch (IllegalStateException e) {
                        assertEquals("send on closed channel", e.getMessage());
                        failed.incrementAndGet();
                    }
                });
            }
            TestGmp.awaitOthers();
            c.close();
            full.close();
            wg.await();
            assertEquals(100, none.get());
            assertEquals(50, failed.get());
            assertEquals(new LongChan.Recv(7, true), full.recvOk());
            assertEquals(new LongChan.Recv(0, false), full.recvOk());
        });
    }

    @Test
    void range() {
        go(1, () -> {
            LongChan c = LongChan.make(3);
            c.send(1);
            c.send(0);
            c.close();
            List<Long> got = new ArrayList<>();
            for (long v : c) {
                got.add(v);
            }
            assertEquals(List.of(1L, 0L), got);
            PrimitiveIterator.OfLong end = c.iterator();
            assertFalse(end.hasNext());
            assertThrows(NoSuchElementException.class, end::nextLong);
        });
    }

    @Stress
    void threadsAndGoroutines() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (int cap : new int[] {0, 3}) {
                LongChan c = LongChan.make(cap);
                int each = 3_000;
                Threads.Body send = () -> {
                    for (int i = 1; i <= each; i++) {
                        c.send(i);
                    }
                };
                Threads threads = new Threads().add("sender", send).start();
                gmp.go(() -> {
                    for (int i = 1; i <= each; i++) {
                        c.send(i);
                    }
                });
                long sum = 0;
                for (int i = 0; i < 2 * each; i++) {
                    sum += c.recv();
                }
                assertEquals((long) each * (each + 1), sum);
                threads.join();
            }
        }
    }

    /** Buffers are freed while others are in use: a buffer that went too early would be another's. */
    @Stress
    void buffersUnderTheCollector() {
        go(4, () -> {
            WaitGroup wg = new WaitGroup();
            for (int g = 0; g < 4; g++) {
                int id = g;
                wg.go(() -> {
                    for (int i = 0; i < 2_000; i++) {
                        LongChan c = LongChan.make(64);
                        for (int k = 0; k < 64; k++) {
                            c.send((long) id << 32 | i * 64 + k);
                        }
                        if (i % 500 == 0) {
                            System.gc();
                        }
                        for (int k = 0; k < 64; k++) {
                            assertEquals((long) id << 32 | i * 64 + k, c.recv());
                        }
                    }
                });
            }
            wg.await();
        });
    }

    /** The last element and the close come at once: the buffer is given back, once. */
    @Stress
    void closedBySeveral() throws InterruptedException {
        for (int i = 0; i < 500; i++) {
            LongChan c = LongChan.make(1_000);
            c.send(i);
            int v = i;
            new Threads().add("closer", c::close).add("receiver", () -> {
                assertEquals(v, c.recv());
                assertFalse(c.recvOk().ok());
            }).run();
        }
    }
}
