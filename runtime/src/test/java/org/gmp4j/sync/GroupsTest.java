// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.context.Context;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link ErrGroup} and {@link SingleFlight}. */
class GroupsTest {
    @Test
    void firstErrorOthersGoOn() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            int ended = gmp.call(() -> {
                ErrGroup g = new ErrGroup();
                AtomicInteger done = new AtomicInteger();
                IOException first = new IOException("first");
                Chan<Boolean> go = Chan.make();
                g.go(() -> {
                    throw first;
                });
                g.go(() -> {
                    go.recv();
                    done.incrementAndGet();
                    throw new IOException("second");
                });
                g.go(() -> {
                    go.recv();
                    Go.goexit();
                });
                g.go(done::incrementAndGet);
                TestGmp.awaitOthers();
                go.close();
                assertSame(first, assertThrows(IOException.class, g::await));
                return done.get();
            });
            assertEquals(2, ended);
        }
    }

    @Test
    void noError() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.call(() -> {
                ErrGroup g = new ErrGroup();
                g.await();
                g.go(Thread::onSpinWait);
                g.await();
                return null;
            });
            gmp.call(() -> {
                ErrGroup g = new ErrGroup();
                g.go(() -> {
                    throw new AssertionError("an Error too");
                });
                return assertThrows(AssertionError.class, g::await);
            });
        }
        assertThrows(IllegalStateException.class, () -> new ErrGroup().go(Thread::onSpinWait));
        assertThrows(NullPointerException.class, () -> new ErrGroup().go(null));
    }

    /** Go: {@code TestWithContext}: the first failure cancels the others, the end of all cancels too. */
    @Test
    void withContext() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.call(() -> {
                Context parent = Context.background().withValue("k", "v");
                ErrGroup g = ErrGroup.withContext(parent);
                Context ctx = g.context();
                assertEquals("v", ctx.value("k"));
                IOException failed = new IOException("first");
                AtomicInteger cancelled = new AtomicInteger();
                for (int i = 0; i < 3; i++) {
                    g.go(() -> {
                        ctx.done().recv();
                        cancelled.incrementAndGet();
                        throw new IOException("cancelled");
                    });
                }
                assertNull(ctx.err());
                g.go(() -> {
                    throw failed;
                });
                assertSame(failed, assertThrows(IOException.class, g::await));
                assertEquals(3, cancelled.get());
                assertSame(Context.CANCELED, ctx.err());
                assertSame(failed, ctx.cause());

                ErrGroup good = ErrGroup.withContext(parent);
                good.go(Thread::onSpinWait);
                good.await();
                assertSame(Context.CANCELED, good.context().err());
                assertSame(Context.CANCELED, good.context().cause());
                assertNull(new ErrGroup().context());
                return null;
            });
        }
    }

    /** Go: {@code TestGoLimit}. */
    @Stress
    void goLimit() {
        try (TestGmp gmp = TestGmp.procs(4)) {
            gmp.call(() -> {
                ErrGroup g = new ErrGroup();
                g.setLimit(3);
                AtomicInteger active = new AtomicInteger();
                for (int i = 0; i < 2_000; i++) {
                    g.go(() -> {
                        assertTrue(active.incrementAndGet() <= 3);
                        Go.gosched();
                        active.decrementAndGet();
                    });
                }
                g.await();
                Chan<Boolean> end = Chan.make();
                for (int i = 0; i < 3; i++) {
                    assertTrue(g.tryGo(end::recv));
                }
                assertFalse(g.tryGo(end::recv));
                assertEquals("errgroup: modify limit while 3 goroutines in the group are still active",
                        assertThrows(IllegalStateException.class, () -> g.setLimit(5)).getMessage());
                end.close();
                g.await();
                g.setLimit(-1);
                assertTrue(g.tryGo(Thread::onSpinWait));
                g.await();
                return null;
            });
        }
    }

    /** A key that counts how often it was looked up; what a lookup leads to has happened when the next begins. */
    private static final class Counting {
        private final AtomicInteger lookups = new AtomicInteger();

        @Override
        public int hashCode() {
            int _ = lookups.incrementAndGet();
            return 0;
        }

        @Override
        public boolean equals(Object o) {
            return this == o;
        }
    }

    /** Go: {@code TestDoDupSuppress}: while one is under way, the others wait for it. */
    @Stress
    void oneFlight() {
        SingleFlight<Counting, Object> flight = new SingleFlight<>();
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (int i = 0; i < 100; i++) {
                AtomicInteger calls = new AtomicInteger();
                Counting key = new Counting();
                Object result = new Object();
                Crew.run(gmp, 4, 2, 2, id -> {
                    try {
                        assertSame(result, flight.run(key, () -> {
                            calls.incrementAndGet();
                            while (key.lookups.get() < 8) { // Each caller's.
                                Thread.yield();
                            }
                            return result;
                        }));
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });
                assertEquals(1, calls.get());
            }
        }
    }

    @Test
    void flights() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.call(() -> {
                SingleFlight<String, Object> flight = new SingleFlight<>();
                Chan<Boolean> end = Chan.make();
                Chan<Object> results = Chan.make(4);
                IOException failed = new IOException("failed");
                for (int i = 0; i < 2; i++) {
                    Go.go(() -> results.send(assertThrows(IOException.class, () -> flight.run("a", () -> {
                        end.recv();
                        throw failed;
                    }))));
                }
                TestGmp.awaitOthers();
                assertEquals("b", flight.run("b", () -> "b"), "another key does not wait");
                flight.forget("a");
                assertEquals("new", flight.run("a", () -> "new"), "forgotten");
                end.close();
                assertSame(failed, results.recv());
                assertSame(failed, results.recv());
                assertNotSame(flight.run("c", Object::new), flight.run("c", Object::new));
                return null;
            });
            gmp.run(() -> {
                SingleFlight<Integer, Integer> flight = new SingleFlight<>();
                Chan<Boolean> end = Chan.make();
                WaitGroup wg = new WaitGroup();
                wg.go(() -> {
                    try {
                        flight.run(1, () -> {
                            end.recv();
                            Go.goexit();
                            return 1;
                        });
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });
                TestGmp.awaitOthers(); // Under way.
                wg.go(() -> assertThrows(IllegalStateException.class, () -> flight.run(1, () -> 2)));
                TestGmp.awaitOthers(); // It waits for it.
                end.close();
                wg.await();
            });
        }
    }

    /** Go: {@code TestDoChan}, {@code TestForgetUnshared}: the caller goes on, and all that asked are told. */
    @Test
    void aKeyWhoseHashCodeThrows() throws Exception {
        record Bad(String text) {
            @Override
            public int hashCode() {
                return text.length(); // Throws without one.
            }
        }

        SingleFlight<Bad, String> flight = new SingleFlight<>();
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.call(() -> {
                assertThrows(NullPointerException.class, () -> flight.run(new Bad(null), () -> "not called"));
                Chan<String> called = Chan.make(1);
                Go.go(() -> {
                    try {
                        called.send(flight.run(new Bad("good"), () -> "called"));
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });
                TestGmp.awaitOthers();
                assertEquals(1, called.len(), "the lock is held");
                return null;
            });
        }
    }

    /** A waiter gets the error all the same. */
    @Test
    void aKeyWhoseHashCodeThrowsInTheEnd() throws Exception {
        record Bad(boolean[] spoilt) {
            @Override
            public int hashCode() {
                if (spoilt[0]) {
                    throw new IllegalArgumentException("spoilt");
                }
                return 1;
            }
        }

        SingleFlight<Bad, String> flight = new SingleFlight<>();
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.call(() -> {
                Bad key = new Bad(new boolean[1]);
                List<Chan<SingleFlight.Result<String>>> told = new ArrayList<>();
                assertThrows(IllegalArgumentException.class, () -> flight.run(key, () -> {
                    told.add(flight.runChan(key, () -> "not called"));
                    key.spoilt()[0] = true;
                    return "called";
                }));
                assertEquals(1, told.getFirst().len(), "nobody is told");
                assertEquals("called", told.getFirst().recv().get());
                return null;
            });
        }
    }

    @Test
    void flightsByChannel() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1)) {
            SingleFlight<String, Object> flight = new SingleFlight<>();
            gmp.call(() -> {
                Chan<Boolean> end = Chan.make();
                Object made = new Object();
                Chan<SingleFlight.Result<Object>> first = flight.runChan("a", () -> {
                    end.recv();
                    return made;
                });
                assertEquals(0, first.len(), "it does not wait");
                Chan<SingleFlight.Result<Object>> second = flight.runChan("a", () -> "not called");
                Chan<Object> third = Chan.make();
                Go.go(() -> {
                    try {
                        third.send(flight.run("a", () -> "not called"));
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });
                TestGmp.awaitOthers();
                flight.forget("a");
                assertEquals(new SingleFlight.Result<>("new", null, false), flight.runChan("a", () -> "new").recv());
                end.close();
                SingleFlight.Result<Object> shared = new SingleFlight.Result<>(made, null, true);
                assertEquals(shared, first.recv());
                assertEquals(shared, second.recv());
                assertSame(made, third.recv());

                IOException failed = new IOException("failed");
                SingleFlight.Result<Object> thrown = flight.runChan("a", () -> {
                    throw failed;
                }).recv();
                assertSame(failed, assertThrows(IOException.class, thrown::get));
                SingleFlight.Result<Object> ended = flight.runChan("a", () -> {
                    Go.goexit();
                    return 1;
                }).recv();
                assertEquals("singleflight: the call was ended by goexit",
                        assertThrows(IllegalStateException.class, ended::get).getMessage());
                assertThrows(NullPointerException.class, () -> flight.runChan("a", null));
                return null;
            });
            assertThrows(IllegalStateException.class, () -> flight.runChan("a", () -> "not started"));
            gmp.call(() -> {
                assertEquals("b", flight.runChan("a", () -> "b").recv().get(), "nothing is left under way");
                return null;
            });
        }
    }
}
