// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** What {@link Future} and {@link ExecutorService} say, over ours and one of the JDK's. */
class FutureContractTest {
    private interface Body {
        void run(Function<Callable<Integer>, Future<Integer>> submit) throws Exception;
    }

    private static void eachFuture(Body body) throws Exception {
        try (TestGmp gmp = TestGmp.procs(2); ExecutorService ours = gmp.gmp.newThreadPerTaskExecutor();
                ExecutorService jdks = Executors.newCachedThreadPool()) {
            Map<String, Function<Callable<Integer>, Future<Integer>>> all = Map.of("Gmp.submit", gmp.gmp::submit,
                    "our executor", ours::submit, "the JDK's", jdks::submit);
            for (var e : all.entrySet()) {
                try {
                    body.run(e.getValue());
                } catch (AssertionError | Exception failed) {
                    throw new AssertionError(e.getKey(), failed);
                }
            }
        }
    }

    @Test
    void results() throws Exception {
        eachFuture(submit -> {
            Future<Integer> f = submit.apply(() -> 3);
            assertEquals(3, f.get());
            assertEquals(3, f.get(-1, TimeUnit.DAYS));
            assertEquals(3, f.resultNow());
            assertEquals(Future.State.SUCCESS, f.state());
            assertFalse(f.cancel(true) || f.isCancelled());
            assertThrows(IllegalStateException.class, f::exceptionNow);
            assertNull(submit.apply(() -> null).get());
            Thread.currentThread().interrupt();
            assertEquals(3, f.get());
            assertEquals(3, f.get(1, TimeUnit.DAYS));
            assertTrue(Thread.interrupted());
        });
    }

    @Test
    void failures() throws Exception {
        eachFuture(submit -> {
            for (Throwable t : List.of(new IOException(), new ArithmeticException(), new StackOverflowError(),
                    new CancellationException(), new CompletionException(new IOException()), new ExecutionException(new IOException()))) {
                Future<Integer> f = submit.apply(() -> {
                    throw Go.<RuntimeException>sneaky(t);
                });
                assertSame(t, assertThrows(ExecutionException.class, f::get).getCause());
                assertSame(t, f.exceptionNow());
                assertEquals(Future.State.FAILED, f.state());
                assertTrue(f.isDone());
                assertFalse(f.cancel(true) || f.isCancelled());
                assertThrows(IllegalStateException.class, f::resultNow);
            }
        });
    }

    @Test
    void cancels() throws Exception {
        eachFuture(submit -> {
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch interrupted = new CountDownLatch(1);
            Future<Integer> f = submit.apply(() -> {
                begun.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    interrupted.countDown();
                }
                return 1;
            });
            begun.await();
            assertEquals(Future.State.RUNNING, f.state());
            assertThrows(IllegalStateException.class, f::resultNow);
            assertThrows(IllegalStateException.class, f::exceptionNow);
            assertThrows(TimeoutException.class, () -> f.get(0, TimeUnit.DAYS));
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, f::get);
            assertTrue(f.cancel(true));
            assertTrue(f.isCancelled() && f.isDone());
            assertEquals(Future.State.CANCELLED, f.state());
            assertThrows(CancellationException.class, f::get);
            assertThrows(CancellationException.class, () -> f.get(0, TimeUnit.DAYS));
            assertThrows(IllegalStateException.class, f::resultNow);
            assertThrows(IllegalStateException.class, f::exceptionNow);
            interrupted.await();
        });
    }

    @Test
    void executors() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (ExecutorService e : List.of(gmp.gmp.newThreadPerTaskExecutor(), Executors.newCachedThreadPool())) {
                assertThrows(NullPointerException.class, () -> e.execute(null));
                assertThrows(NullPointerException.class, () -> e.submit((Callable<?>) null));
                assertThrows(NullPointerException.class, () -> e.submit((Runnable) null));
                assertThrows(NullPointerException.class, () -> e.invokeAll(null));
                assertThrows(NullPointerException.class, () -> e.invokeAny(null));
                assertThrows(NullPointerException.class, () -> e.invokeAll(Arrays.asList(() -> 1, null)));
                assertThrows(IllegalArgumentException.class, () -> e.invokeAny(List.of()));
                assertEquals(List.of(), e.invokeAll(List.of()));
                List<Integer> got = new ArrayList<>();
                for (Future<Integer> f : e.invokeAll(List.<Callable<Integer>>of(() -> 1, () -> 2), Long.MAX_VALUE, TimeUnit.DAYS)) {
                    assertTrue(f.isDone());
                    got.add(f.get());
                }
                assertEquals(List.of(1, 2), got);
                IOException why = new IOException();
                Callable<Integer> fails = () -> {
                    throw why;
                };
                assertSame(why, assertThrows(ExecutionException.class, () -> e.invokeAny(List.of(fails))).getCause());
                Integer any = e.invokeAny(List.<Callable<Integer>>of(fails, () -> 4), Long.MAX_VALUE, TimeUnit.DAYS);
                assertEquals(4, any);
                assertFalse(e.isShutdown() || e.isTerminated() || e.awaitTermination(Long.MIN_VALUE, TimeUnit.DAYS));
                e.shutdown();
                assertTrue(e.isShutdown());
                assertThrows(RejectedExecutionException.class, () -> e.execute(() -> { }));
                assertThrows(RejectedExecutionException.class, () -> e.submit(() -> 1));
                assertTrue(e.awaitTermination(Long.MAX_VALUE, TimeUnit.DAYS));
                assertTrue(e.isTerminated());
                assertEquals(List.of(), e.shutdownNow());
                e.close();
                e.close();
            }
            assertThrows(NullPointerException.class, () -> gmp.gmp.execute(null));
            assertThrows(NullPointerException.class, () -> gmp.gmp.threadFactory().newThread(null));
        }
    }
}
