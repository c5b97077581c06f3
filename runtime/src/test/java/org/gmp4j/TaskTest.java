// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.context.Context;
import org.gmp4j.sync.ErrGroup;
import org.gmp4j.sync.SingleFlight;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.synctest.Synctest;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Goroutines with results, and schedulers as executors. */
class TaskTest {
    @Test
    void results() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            assertEquals(42, gmp.gmp.submit(() -> 42).join());
            assertEquals(42, gmp.gmp.submit(() -> 42).get());
            assertNull(gmp.gmp.submit(() -> {
                Go.goexit();
                return 1;
            }).get());
            IOException checked = new IOException("x");
            RuntimeException unchecked = new ArithmeticException("y");
            Task<Integer> t = gmp.gmp.submit(() -> {
                throw checked;
            });
            assertSame(checked, assertThrows(CompletionException.class, t::join).getCause());
            assertSame(checked, assertThrows(ExecutionException.class, t::get).getCause());
            assertSame(unchecked, assertThrows(ArithmeticException.class, gmp.gmp.submit(() -> {
                throw unchecked;
            })::join));
            assertEquals(Future.State.FAILED, t.state());
            gmp.run(() -> {
                StringBuilder order = new StringBuilder();
                Task<String> deferred = Go.async(() -> {
                    Go.defer(() -> order.append("deferred"));
                    return "result";
                });
                assertEquals("result", deferred.join());
                assertEquals("deferred", order.toString());
                boolean[] selected = new boolean[1];
                assertEquals(0, Select.of().recvOk(deferred.done(), (v, ok) -> selected[0] = !ok).run());
                assertTrue(selected[0]);
                assertThrows(IllegalStateException.class, () -> ((Chan<Void>) deferred.done()).close());
            });
        }
    }

    @Test
    void cancelled() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            WaitGroup started = new WaitGroup();
            started.add(1);
            Chan<Object> end = Chan.make(1);
            Task<Integer> t = gmp.gmp.submit(() -> {
                started.done();
                try {
                    return c.recv();
                } catch (WaitInterruptedException e) {
                    end.send(Thread.interrupted());
                    throw e;
                }
            });
            started.await();
            assertThrows(TimeoutException.class, () -> t.get(1, TimeUnit.MILLISECONDS));
            try (Context x = Context.background().withTimeout(Duration.ofMillis(1))) {
                assertSame(Context.DEADLINE_EXCEEDED, assertThrows(RuntimeException.class, () -> t.joinUnless(x)));
            }
            assertTrue(t.cancel());
            assertFalse(t.cancel());
            assertTrue(t.isCancelled());
            assertEquals(true, end.recv());
            assertThrows(CancellationException.class, t::join);
            assertThrows(CancellationException.class, t::get);
        }
    }

    /** Cancelled before its goroutine has begun, whether with an interrupt or not: it never runs, and its goroutine ends. */
    @Test
    void cancelledBeforeItBegins() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            AtomicReference<Object> ran = new AtomicReference<>();
            for (boolean interrupt : new boolean[] {false, true}) {
                Task<Integer> t = new Task<>();
                Runnable goroutine = t.running(() -> {
                    ran.set("ran after cancel(" + interrupt + ")");
                    return 1;
                });
                assertTrue(t.cancel(interrupt));
                gmp.gmp.go(goroutine);
                assertTrue(t.isCancelled());
            }
            gmp.run(Go::gosched); // On one P those before have had their turn then.
            assertNull(ran.get());
        }
    }

    /** What a task throws is its failure, also where a CompletableFuture means something else by it. */
    @Test
    void failuresThatAreNoCancellation() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            for (RuntimeException thrown : List.of(new CancellationException("of another"), new CompletionException(new IOException()))) {
                Task<Integer> t = gmp.gmp.submit(() -> {
                    throw thrown;
                });
                assertSame(thrown, assertThrows(thrown.getClass(), t::join));
                assertSame(thrown, assertThrows(ExecutionException.class, t::get).getCause());
                assertSame(thrown, t.exceptionNow());
                assertEquals(Future.State.FAILED, t.state());
                assertFalse(t.isCancelled());
                assertFalse(t.toCompletableFuture().isCancelled());
                assertFalse(t.cancel());
            }
        }
    }

    /** Limits of all units, from no time to more than nanoseconds can count; and an interrupt, which ends waits alone. */
    @Test
    void getWithLimits() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1)) {
            for (TimeUnit unit : TimeUnit.values()) {
                Chan<Integer> c = Chan.make();
                Task<Integer> t = gmp.gmp.submit(c::recv);
                assertThrows(TimeoutException.class, () -> t.get(0, unit));
                assertThrows(TimeoutException.class, () -> t.get(Long.MIN_VALUE, unit));
                gmp.gmp.go(() -> c.send(5));
                assertEquals(5, t.get(Long.MAX_VALUE, unit));
                assertEquals(5, t.get(Long.MIN_VALUE, unit));
            }
            Task<Integer> done = gmp.gmp.submit(() -> 6);
            assertEquals(6, done.join());
            Thread.currentThread().interrupt();
            assertEquals(6, done.get());
            assertEquals(6, done.get(1, TimeUnit.NANOSECONDS));
            assertTrue(Thread.interrupted());
            assertThrows(NullPointerException.class, () -> done.get(1, null));
        }
    }

    /** The interrupt of a cancel never meets the goroutine that has the thread next. */
    @Stress
    void cancelsRace() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            AtomicReference<Object> wrong = new AtomicReference<>();
            for (int i = 0; i < 3_000; i++) {
                Task<Integer> t = gmp.gmp.submit(() -> 1);
                gmp.go(() -> {
                    Go.gosched();
                    if (Thread.interrupted()) {
                        wrong.set("an interrupt of another");
                    }
                });
                boolean first = t.cancel();
                assertEquals(first, t.isCancelled());
                assertTrue(t.isDone());
            }
            assertNull(wrong.get());
        }
    }

    @Test
    void futures() throws Exception {
        Gmp[] closed = new Gmp[1];
        try (TestGmp gmp = TestGmp.procs(2)) {
            closed[0] = gmp.gmp;
            CompletableFuture<Integer> f = gmp.gmp.submit(() -> 20).toCompletableFuture().thenApply(x -> x + 1)
                    .thenCombineAsync(CompletableFuture.supplyAsync(() -> {
                        assertTrue(Go.inGoroutine());
                        return 21;
                    }, gmp.gmp), Integer::sum, gmp.gmp);
            assertEquals(42, f.get());
            Task<Integer> t = gmp.gmp.submit(() -> 1);
            t.toCompletableFuture().complete(7);
            assertEquals(1, t.join());
        }
        assertThrows(RejectedExecutionException.class, () -> closed[0].execute(() -> { }));
    }

    @Test
    void inABubble() {
        Synctest.test(() -> {
            Task<Integer> t = Go.async(() -> {
                Go.sleep(Duration.ofHours(1));
                return 3;
            });
            assertEquals(3, t.join());
        });
    }

    /** Groups that plain threads start, and what several failures make of one. */
    @Test
    void groups() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            WaitGroup wg = new WaitGroup(gmp.gmp);
            java.util.concurrent.atomic.AtomicInteger n = new java.util.concurrent.atomic.AtomicInteger();
            for (int i = 0; i < 10; i++) {
                wg.go(() -> {
                    assertTrue(Go.inGoroutine());
                    Go.defer(n::incrementAndGet);
                });
            }
            wg.await();
            assertEquals(10, n.get());
            WaitGroup other = new WaitGroup(Runnable::run);
            other.go(n::incrementAndGet);
            other.await();
            assertEquals(11, n.get());
            ErrGroup g = ErrGroup.on(gmp.gmp);
            WaitGroup all = new WaitGroup();
            all.add(2);
            for (String text : List.of("a", "b")) {
                g.go(() -> {
                    all.done();
                    all.await();
                    throw new IOException(text);
                });
            }
            Exception e = assertThrows(IOException.class, g::await);
            assertEquals(1, e.getSuppressed().length);
            assertEquals("ab".length(), (e.getMessage() + e.getSuppressed()[0].getMessage()).chars().distinct().count());
            assertEquals(5, new SingleFlight<String, Integer>(gmp.gmp).runChan("k", () -> 5).recv().get());
        }
    }

    @Test
    void names() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).name("orders"))) {
            assertEquals("orders", gmp.gmp.name());
            gmp.run(() -> { });
            assertTrue(Thread.getAllStackTraces().keySet().stream().anyMatch(t -> t.getName().startsWith("orders-M")));
        }
        assertThrows(IllegalArgumentException.class, () -> Gmp.builder().name(" ").build());
    }
}
