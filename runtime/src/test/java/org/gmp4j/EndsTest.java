// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.sync.ErrGroup;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How goroutines end, those with a thread of their own like all others: deferred work, goexit, what is told of an exception, and when. */
class EndsTest {
    /** The ways to a virtual thread that our Ps run. */
    enum Way {
        FACTORY, EXECUTOR, STARTED_BY_A_GOROUTINE, STARTED_BY_A_THREAD;

        /** Runs {@code task} in a thread and returns when that has terminated. */
        Thread run(Gmp gmp, Runnable task) throws Exception {
            Thread[] ran = new Thread[1];
            Runnable noted = () -> {
                ran[0] = Thread.currentThread();
                task.run();
            };
            switch (this) {
                case FACTORY -> gmp.threadFactory().newThread(noted).start();
                case EXECUTOR -> {
                    try (ExecutorService e = gmp.newThreadPerTaskExecutor()) {
                        e.execute(noted);
                    }
                    ran[0].join();
                    return ran[0];
                }
                case STARTED_BY_A_GOROUTINE -> gmp.run(() -> join(Thread.startVirtualThread(noted)));
                case STARTED_BY_A_THREAD -> join(gmp.threadFactory().newThread(() -> join(Thread.ofVirtual().start(noted))), true);
            }
            while (ran[0] == null) {
                Thread.onSpinWait();
            }
            ran[0].join();
            return ran[0];
        }
    }

    private static void join(Thread t) {
        join(t, false);
    }

    private static void join(Thread t, boolean start) {
        if (start) {
            t.start();
        }
        try {
            t.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Last first, on the thread itself, and before those that join it go on. */
    @ParameterizedTest
    @EnumSource
    void deferredWork(Way way) throws Exception {
        List<Object> ran = new ArrayList<>();
        ThreadLocal<String> local = new ThreadLocal<>();
        try (TestGmp gmp = TestGmp.procs(2)) {
            Thread t = way.run(gmp.gmp, () -> {
                long goid = Go.goid();
                local.set("own");
                Go.defer(() -> ran.add(goid == Go.goid()));
                Go.defer(() -> {
                    Go.gosched();
                    ran.add(Thread.currentThread());
                    Go.defer(() -> ran.add("deferred by deferred work"));
                });
                Go.defer(() -> ran.add(local.get()));
            });
            assertEquals(List.of("own", t, "deferred by deferred work", true), ran);
            assertEquals(Thread.State.TERMINATED, t.getState());
        }
    }

    /** goexit is no exception, whether it comes out of the task or is swallowed in it; an exception in deferred work is one. */
    @ParameterizedTest
    @EnumSource
    void goexit(Way way) throws Exception {
        List<Object> ran = new CopyOnWriteArrayList<>();
        RuntimeException thrown = new RuntimeException("deferred");
        try (Gmp gmp = Gmp.builder().procs(2).uncaught((id, t) -> ran.add(t)).build()) {
            Thread _ = way.run(gmp, () -> {
                Go.defer(() -> {
                    Go.gosched();
                    ran.add("deferred");
                });
                try {
                    Go.goexit();
                } finally {
                    ran.add("finally");
                }
            });
            var _ = way.run(gmp, () -> {
                Go.defer(() -> ran.add("deferred after it was swallowed"));
                try {
                    Go.goexit();
                } catch (Throwable t) {
                    return;
                }
            });
            var _ = way.run(gmp, () -> {
                Go.defer(Go::goexit);
                throw new IllegalStateException("replaced");
            });
            var _ = way.run(gmp, () -> {
                Go.defer(() -> {
                    throw thrown;
                });
                Go.goexit();
            });
            assertEquals(List.of("finally", "deferred", "deferred after it was swallowed", thrown), ran);
        }
    }

    /** The scheduler's handler is told of what ends a thread, after deferred work, and before those that join it go on. */
    @ParameterizedTest
    @EnumSource
    void uncaught(Way way) throws Exception {
        Map<Long, Throwable> told = new ConcurrentHashMap<>();
        long[] goid = new long[1];
        boolean[] deferred = new boolean[1];
        Error thrown = new Error("thrown");
        try (Gmp gmp = Gmp.builder().procs(2).uncaught((id, t) -> {
            Go.gosched();
            assertTrue(deferred[0]);
            assertEquals((long) id, Go.goid());
            told.put(id, t);
        }).build()) {
            Thread _ = way.run(gmp, () -> {
                goid[0] = Go.goid();
                Go.defer(() -> deferred[0] = true);
                throw thrown;
            });
            assertEquals(Map.of(goid[0], thrown), told);
        }
    }

    /** A handler that the Thread API has comes first, and alone: the thread's own, then the process's. */
    @Test
    void handlersOfTheThreadApiComeFirst() throws Exception {
        List<Object> told = new CopyOnWriteArrayList<>();
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        try (Gmp gmp = Gmp.builder().procs(2).uncaught((id, t) -> told.add("scheduler's")).build()) {
            Runnable fails = () -> {
                Go.defer(() -> told.add("deferred"));
                throw new IllegalStateException();
            };
            Thread own = gmp.threadFactory().newThread(fails);
            own.setUncaughtExceptionHandler((t, e) -> told.add(t == own && Thread.currentThread() == own ? "own" : "not its"));
            join(own, true);
            Thread.setDefaultUncaughtExceptionHandler((t, e) -> told.add("default"));
            join(gmp.threadFactory().newThread(fails), true);
            WaitGroup wg = new WaitGroup();
            gmp.run(() -> wg.go(fails)); // No thread of its own.
            wg.await();
            Thread.setDefaultUncaughtExceptionHandler(before);
            join(gmp.threadFactory().newThread(fails), true);
            assertEquals(List.of("deferred", "own", "deferred", "default", "deferred", "scheduler's", "deferred", "scheduler's"),
                    told);
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    /** A task of the executor is done when its deferred work is; what that throws, the task threw; goexit leaves no result. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void tasks(int procs) throws Exception {
        AtomicInteger ran = new AtomicInteger();
        Callable<Integer> returns = () -> {
            Go.defer(() -> {
                Go.gosched();
                ran.incrementAndGet();
            });
            return ran.get();
        };
        Callable<Integer> exits = () -> {
            Go.defer(ran::incrementAndGet);
            Go.goexit();
            return 1;
        };
        RuntimeException thrown = new RuntimeException();
        try (TestGmp gmp = TestGmp.procs(procs)) {
            ExecutorService e = gmp.gmp.newThreadPerTaskExecutor();
            assertEquals(0, e.submit(returns).get());
            assertEquals(1, ran.get());
            assertNull(e.submit(exits).get());
            assertEquals(2, ran.get());
            assertEquals("result", e.submit(() -> { }, "result").get());
            assertNull(e.submit((Runnable) Go::goexit, "result").get());
            Future<?> fails = e.submit(() -> Go.defer(() -> {
                throw thrown;
            }));
            assertSame(thrown, assertThrows(ExecutionException.class, fails::get).getCause());
            for (Future<Integer> f : e.invokeAll(List.of(returns, exits))) {
                assertTrue(f.isDone());
            }
            assertEquals(4, ran.get());
            assertNull(e.invokeAny(List.of(exits)));
            e.execute(() -> Go.defer(() -> {
                Go.gosched();
                ran.addAndGet(100);
            }));
            e.close();
            assertEquals(105, ran.get());
            assertThrows(NullPointerException.class, () -> e.execute(null));
            assertThrows(NullPointerException.class, () -> e.submit((Callable<?>) null));
        }
    }

    /** Code that catches all keeps goexit as it would any throwable; the goroutine ends in order all the same. */
    @Test
    void aTaskThatIsWrappedByOthers() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        try (TestGmp gmp = TestGmp.procs(2)) {
            try (ExecutorService e = Executors.newThreadPerTaskExecutor(gmp.gmp.threadFactory())) {
                Future<?> f = e.submit(() -> {
                    Go.defer(ran::incrementAndGet);
                    Go.goexit();
                });
                assertThrows(ExecutionException.class, f::get);
            }
        }
        assertEquals(1, ran.get());
    }

    /** On one P, with a yield in between: no goroutine counts as done before the handler returned. */
    @Test
    void aGroupWaitsForTheReport() throws Exception {
        List<String> order = new CopyOnWriteArrayList<>();
        try (Gmp gmp = Gmp.builder().procs(1).uncaught((id, t) -> {
            for (int i = 0; i < 10; i++) {
                Go.gosched();
            }
            order.add("told");
        }).build()) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                wg.go(() -> {
                    throw new IllegalStateException();
                });
                wg.await();
                order.add("done");
            });
            gmp.call(() -> {
                ErrGroup eg = new ErrGroup();
                eg.go(() -> Go.defer(() -> {
                    throw new IllegalStateException();
                }));
                eg.await();
                return order.add("done");
            });
        }
        assertEquals(List.of("told", "done", "told", "done"), order);
    }

    /** A group that is misused by what it runs: the goroutine's exception, and the next one on the stack knows nothing of it. */
    @Test
    void aGroupThatIsDoneTooOften() {
        List<String> told = new CopyOnWriteArrayList<>();
        try (Gmp gmp = Gmp.builder().procs(1).uncaught((id, t) -> told.add(t.getMessage())).build()) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                wg.go(wg::done);
                wg.await();
            });
            gmp.run(() -> {
                while (told.isEmpty()) {
                    Go.gosched();
                }
            });
        }
        assertEquals(List.of("sync: negative WaitGroup counter"), told);
    }

    /** Exceptions that resist being reported. */
    static final class Program {
        private static final int KINDS = 8;

        private Program() {
        }

        private static final class Evil extends RuntimeException {
            private static final long serialVersionUID = 1L;
            private final int kind;

            Evil(int kind) {
                super("evil");
                this.kind = kind;
            }

            @Override
            public String toString() {
                return switch (kind) {
                    case 0 -> throw this;
                    case 1 -> throw new OutOfMemoryError("not really");
                    case 2 -> kind + toString();
                    case 3 -> null;
                    case 4 -> {
                        Go.goexit();
                        yield "";
                    }
                    default -> super.toString();
                };
            }

            @Override
            public StackTraceElement[] getStackTrace() {
                return switch (kind) {
                    case 5 -> null;
                    case 6 -> throw this;
                    default -> super.getStackTrace();
                };
            }

            @Override
            public synchronized Throwable getCause() {
                return switch (kind) {
                    case 6 -> throw this;
                    case 7 -> new Evil(kind);
                    default -> this;
                };
            }
        }

        public static void main(String[] args) throws Exception {
            Gmp.Builder b = Gmp.builder().procs(2).maxStack(1 << 20);
            switch (args[0]) {
                case "printed" -> report(b.build());
                case "handler" -> report(b.uncaught((id, t) -> {
                    throw (Evil) t;
                }).build());
                case "err" -> {
                    System.setErr(null);
                    report(b.build());
                }
                case "own" -> {
                    Thread.setDefaultUncaughtExceptionHandler((t, e) -> {
                        throw (Evil) e;
                    });
                    report(b.build());
                }
                case "overflow" -> {
                    try (Gmp gmp = b.build()) {
                        gmp.go(() -> FatalTest.Program.overflow(0));
                    }
                }
                default -> throw new AssertionError(args[0]);
            }
            System.out.println("returned");
        }

        private static void report(Gmp gmp) {
            for (int i = 0; i < KINDS; i++) {
                int kind = i;
                gmp.go(() -> {
                    throw new Evil(kind);
                });
                Thread t = gmp.threadFactory().newThread(() -> {
                    throw new Evil(kind);
                });
                join(t, true);
            }
            gmp.run(() -> {
                while (Go.numGoroutine() > 1) {
                    Go.gosched();
                }
            });
            gmp.close();
        }
    }

    /** An embedding service is not ended by an exception of a goroutine, whatever it does to the code that reports it. */
    @ParameterizedTest
    @ValueSource(strings = {"printed", "handler", "err", "own"})
    void exceptionsThatResist(String how) {
        Result r = new ChildJvm(Program.class).run(how);
        assertEquals(0, r.exit(), r::toString);
        assertEquals("returned\n", r.out(), r::toString);
        assertTrue(r.err().contains("Evil (its toString threw java.lang.StackOverflowError)"), r::toString);
        assertTrue(r.err().contains("Evil (its toString threw java.lang.OutOfMemoryError)"), r::toString);
        int reports = r.err().split("\ngoroutine |(^|\n)gmp4j: goroutine ", -1).length - 1;
        assertEquals(2 * Program.KINDS, reports, r::toString);
        assertFalse(r.err().contains("Exception in thread"), r::toString);
    }

    /** Endless recursion is an exception like others there. */
    @Test
    void anOverflowInAService() {
        Result r = new ChildJvm(Program.class).run("overflow");
        assertEquals(0, r.exit(), r::toString);
        assertEquals("returned\n", r.out(), r::toString);
        assertTrue(r.err().startsWith("""
                runtime: goroutine stack exceeds 1048576-byte limit
                panic: java.lang.StackOverflowError

                goroutine 1 [running]:
                \torg.gmp4j.FatalTest$Program.overflow"""), r::toString);
    }
}
