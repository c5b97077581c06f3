// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.synctest.Synctest;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.gmp4j.time.Time;
import org.junit.jupiter.api.Test;

/** Channel operations with a time limit. */
class ChanTimedTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private static Duration passed() {
        return Duration.between(java.time.Instant.parse("2000-01-01T00:00:00Z"), Synctest.now());
    }

    @Test
    void theTimeIsUp() {
        Synctest.test(() -> {
            Chan<Integer> c = Chan.make();
            assertNull(c.recvWithin(SECOND));
            assertEquals(SECOND, passed());
            assertNull(c.recvOkWithin(SECOND));
            assertFalse(c.sendWithin(1, SECOND));
            assertEquals(SECOND.multipliedBy(3), passed());
            assertNull(c.tryRecv(), "what was not sent is there");
            assertNull(c.recvWithin(Duration.ZERO));
            assertNull(c.recvWithin(SECOND.negated()));
            assertFalse(c.sendWithin(1, Duration.ZERO));
            assertNull(Time.after(SECOND.multipliedBy(2)).recvWithin(SECOND));
            assertNotNull(Time.after(SECOND).recvWithin(SECOND.multipliedBy(2)));
            assertEquals(SECOND.multipliedBy(5), passed());
        });
    }

    @Test
    void inTime() {
        Synctest.test(() -> {
            Chan<Integer> c = Chan.make();
            WaitGroup wg = new WaitGroup();
            wg.go(() -> {
                Go.sleep(SECOND);
                c.send(1);
                Go.sleep(SECOND);
                assertEquals(2, c.recv());
                Go.sleep(SECOND);
                c.close();
            });
            assertEquals(1, c.recvWithin(SECOND.plusNanos(1)));
            assertTrue(c.sendWithin(2, SECOND.plusNanos(1)));
            assertEquals(new Chan.Recv<Integer>(null, false), c.recvOkWithin(SECOND.plusNanos(1)));
            assertEquals(SECOND.multipliedBy(3), passed());
            assertThrows(IllegalStateException.class, () -> c.sendWithin(3, SECOND));
            wg.await();
        });
    }

    /** {@link LongChan}: the same. */
    @Test
    void ofLongs() {
        Synctest.test(() -> {
            LongChan c = LongChan.make();
            assertEquals(0, c.recvWithin(SECOND));
            assertNull(c.recvOkWithin(SECOND));
            assertFalse(c.sendWithin(1, SECOND));
            assertEquals(SECOND.multipliedBy(3), passed());
            assertNull(c.tryRecvOk(), "what was not sent is there");
            assertNull(c.recvOkWithin(Duration.ZERO));
            assertFalse(c.sendWithin(1, SECOND.negated()));
            WaitGroup wg = new WaitGroup();
            wg.go(() -> {
                Go.sleep(SECOND);
                c.send(-1);
                Go.sleep(SECOND);
                assertEquals(2, c.recv());
                Go.sleep(SECOND);
                c.send(0);
                Go.sleep(SECOND);
                c.close();
            });
            Duration enough = SECOND.plusNanos(1);
            assertEquals(-1, c.recvWithin(enough));
            assertTrue(c.sendWithin(2, enough));
            assertEquals(new LongChan.Recv(0, true), c.recvOkWithin(enough));
            assertEquals(new LongChan.Recv(0, false), c.recvOkWithin(enough));
            assertEquals(SECOND.multipliedBy(7), passed());
            assertEquals(0, c.recvWithin(SECOND));
            assertEquals("send on closed channel",
                    assertThrows(IllegalStateException.class, () -> c.sendWithin(3, SECOND)).getMessage());
            wg.await();
            LongChan room = LongChan.make(1);
            assertTrue(room.sendWithin(7, Duration.ZERO));
            assertEquals(7, room.recvWithin(Duration.ZERO));
            Time.afterFunc(SECOND, room::close);
            assertTrue(room.sendWithin(7, SECOND));
            assertThrows(IllegalStateException.class, () -> room.sendWithin(8, enough));
            assertEquals(SECOND.multipliedBy(8), passed());
        });
    }

    @Test
    void closedWhileItWaits() {
        Synctest.test(() -> {
            Chan<Integer> c = Chan.make();
            Time.afterFunc(SECOND, c::close);
            assertEquals("send on closed channel", assertThrows(IllegalStateException.class,
                    () -> c.sendWithin(1, SECOND.multipliedBy(2))).getMessage());
            assertEquals(SECOND, passed());
        });
    }

    /** What was sent is received, once, and what was not is not, from goroutines and threads, when time and peers race. */
    @Stress
    void everySendOnce() throws InterruptedException {
        for (int capacity : new int[] {0, 3}) {
            Chan<Long> c = Chan.make(capacity);
            LongChan longs = LongChan.make(capacity);
            AtomicLong sent = new AtomicLong();
            AtomicLong received = new AtomicLong();
            Threads.Body body = () -> {
                Random random = new Random();
                for (int i = 0; i < 3_000; i++) {
                    Duration d = Duration.ofNanos(random.nextInt(60_000));
                    long v = 1 + random.nextInt(1_000);
                    switch (random.nextInt(4)) {
                        case 0 -> sent.addAndGet(c.sendWithin(v, d) ? v : 0);
                        case 1 -> sent.addAndGet(longs.sendWithin(v, d) ? v : 0);
                        case 2 -> received.addAndGet(longs.recvWithin(d));
                        default -> {
                            Long got = c.recvWithin(d);
                            received.addAndGet(got == null ? 0 : got);
                        }
                    }
                }
            };
            try (TestGmp gmp = TestGmp.procs(4)) {
                Threads threads = new Threads().add(2, "thread", body).start();
                gmp.run(() -> {
                    WaitGroup wg = new WaitGroup();
                    for (int i = 0; i < 6; i++) {
                        wg.go(() -> {
                            try {
                                body.run();
                            } catch (Throwable t) {
                                throw new AssertionError(t);
                            }
                        });
                    }
                    wg.await();
                });
                threads.join();
                gmp.check();
            }
            for (Long v = c.tryRecv(); v != null; v = c.tryRecv()) {
                received.addAndGet(v);
            }
            for (long v = longs.tryRecv(); v != 0; v = longs.tryRecv()) {
                received.addAndGet(v);
            }
            assertEquals(sent.get(), received.get());
        }
    }
}
