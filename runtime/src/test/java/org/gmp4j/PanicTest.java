// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import org.gmp4j.sched.Ballast;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.PinningCall;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Exceptions that goroutines throw and do not catch: the panics of Go's {@code crash_test.go}. Each runs in a JVM of its own. */
class PanicTest {
    /** The programs, by name. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            switch (args[0]) {
                case "Panic" -> Gmp.main(() -> {
                    Go.defer(() -> System.out.println("deferred"));
                    throw new IllegalStateException("boom", new IOException("cause"));
                });
                case "PanicInGoroutine" -> Gmp.main(() -> {
                    Go.go(() -> {
                        throw new IllegalStateException("boom");
                    });
                    Chan.make().recv();
                });
                case "PanicInGroup" -> Gmp.main(() -> {
                    WaitGroup wg = new WaitGroup();
                    wg.go(() -> {
                        throw new Slow();
                    });
                    wg.await();
                });
                case "PanicAfterDone" -> Gmp.main(() -> panicAfterDone(() -> { }));
                case "PanicInDeferredWork" -> Gmp.main(() -> panicAfterDone(PanicTest.Program::turns));
                case "PanicInThread" -> Gmp.main(() -> panicInThread(null));
                case "HandledByThread" -> Gmp.main(() -> panicInThread((t, e) -> System.out.println("thread told of " + e)));
                case "HandledByProcess" -> Gmp.main(() -> {
                    Thread.setDefaultUncaughtExceptionHandler((t, e) -> System.out.println("process told of " + e));
                    panicInThread(null);
                });
                case "PanicsAtOnce" -> panicsAtOnce();
                case "ThreadsSurvive" -> threadsSurvive();
                case "FullHeap" -> Gmp.main(() -> {
                    RuntimeException e = new IllegalStateException("boom");
                    Ballast.fill();
                    throw e;
                });
                case "GoNil" -> Gmp.main(() -> Go.go(null));
                default -> throw new AssertionError(args[0]);
            }
            System.out.println("returned");
        }

        /** Its report gives others their turn. */
        private static final class Slow extends RuntimeException {
            private static final long serialVersionUID = 1L;

            @Override
            public String toString() {
                turns();
                return "slow";
            }
        }

        private static void turns() {
            for (int i = 0; i < 10; i++) {
                Go.gosched();
            }
        }

        private static void panicAfterDone(Runnable then) {
            WaitGroup wg = new WaitGroup();
            wg.add(1);
            Go.go(() -> {
                Go.defer(then);
                Go.defer(wg::done);
                throw new Slow();
            });
            wg.await();
        }

        private static void panicInThread(Thread.UncaughtExceptionHandler own) {
            Thread t = Thread.ofVirtual().unstarted(() -> {
                Go.defer(() -> System.out.println("deferred"));
                throw new IllegalStateException("boom");
            });
            t.setUncaughtExceptionHandler(own);
            t.start();
            try {
                t.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private static void panicsAtOnce() {
            Gmp.main(() -> {
                for (int i = 0; i < 100; i++) {
                    Go.go(() -> {
                        throw new IllegalStateException("boom");
                    });
                }
                Chan.make().recv();
            });
        }

        private static Set<Thread> machines() {
            return Thread.getAllStackTraces().keySet().stream().filter(t -> t.getName().matches("gmp\\d+-M\\d+"))
                    .collect(Collectors.toCollection(HashSet::new));
        }

        /** What goroutines throw, and what the handler throws then, ends no M. */
        private static void threadsSurvive() {
            AtomicInteger handled = new AtomicInteger();
            try (Gmp gmp = Gmp.builder().procs(2).uncaught((goid, t) -> {
                if (handled.incrementAndGet() % 2 == 0) {
                    throw new IllegalStateException(t);
                }
            }).maxStack(1 << 20).build()) {
                Set<Thread> before = new HashSet<>();
                for (int i = 0; i < 2_000; i++) {
                    int kind = i % 6;
                    gmp.go(() -> failing(kind));
                    if (i == 100) {
                        gmp.run(() -> before.addAll(machines()));
                    }
                }
                gmp.run(() -> {
                    while (Go.numGoroutine() > 1) {
                        Go.gosched();
                    }
                    if (before.isEmpty() || !machines().containsAll(before)) {
                        throw new AssertionError(before + " became " + machines());
                    }
                });
            }
            if (handled.get() != 2_000) {
                throw new AssertionError("told of " + handled);
            }
        }

        private static void failing(int kind) {
            switch (kind) {
                case 0 -> throw new IllegalStateException();
                case 1 -> throw new OutOfMemoryError("not really");
                case 2 -> FatalTest.Program.overflow(0);
                case 3 -> {
                    Go.defer(() -> {
                        throw new AssertionError("deferred");
                    });
                    Go.goexit();
                }
                case 4 -> {
                    Go.lockOSThread();
                    Go.unlockOSThread();
                    PinningCall.run(Go::gosched);
                    throw new IllegalStateException();
                }
                default -> {
                    Thread.currentThread().interrupt();
                    Go.gosched();
                    throw new NoClassDefFoundError("not really");
                }
            }
        }
    }

    private static ChildJvm jvm() {
        return new ChildJvm(Program.class);
    }

    @Test
    void panic() {
        Result r = jvm().run("Panic");
        assertEquals(2, r.exit(), r::toString);
        assertEquals("deferred\n", r.out());
        assertTrue(r.err().startsWith("panic: java.lang.IllegalStateException: boom\n"), r::toString);
        assertTrue(r.err().contains("\n\ngoroutine 1 [running]:\n\torg.gmp4j.PanicTest$Program."), r::toString);
        assertTrue(r.err().contains("java.io.IOException: cause"), r::toString);
    }

    /** The program ends though the exception may not be told. */
    @Test
    void withAFullHeap() {
        Result r = jvm().with("-Xmx24m").run("FullHeap");
        assertEquals(2, r.exit(), r::toString);
        assertEquals("", r.out(), r::toString);
    }

    @Test
    void panicInGoroutine() {
        Result r = jvm().run("PanicInGoroutine");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("panic: java.lang.IllegalStateException: boom\n\ngoroutine "), r::toString);
        assertTrue(r.err().contains(" [running]:\n\torg.gmp4j.PanicTest$Program."), r::toString);
        assertTrue(r.err().contains("created by goroutine 1"), r::toString);
    }

    /** Deferred work of one that panics, or its group, would let main return: it does not before the report. */
    @ParameterizedTest
    @ValueSource(strings = {"PanicInGroup", "PanicAfterDone", "PanicInDeferredWork"})
    void mainWaitsForPanics(String name) {
        Result r = jvm().env("GMPMAXPROCS", "1").run(name);
        assertEquals(2, r.exit(), r::toString);
        assertEquals("", r.out(), r::toString);
        assertTrue(r.err().startsWith("panic: slow\n\ngoroutine 2 [running]:\n"), r::toString);
    }

    @Test
    void panicInThread() {
        Result r = jvm().run("PanicInThread");
        assertEquals(2, r.exit(), r::toString);
        assertEquals("deferred\n", r.out(), r::toString);
        assertTrue(r.err().startsWith("panic: java.lang.IllegalStateException: boom\n\ngoroutine 2 [running]:\n"), r::toString);
        assertTrue(r.err().endsWith("created by goroutine 1\n"), r::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Thread", "Process"})
    void aHandlerOfTheThreadApiIsTold(String of) {
        Result r = jvm().run("HandledBy" + of);
        assertEquals(0, r.exit(), r::toString);
        assertEquals("deferred\n" + of.toLowerCase(Locale.ROOT) + " told of java.lang.IllegalStateException: boom\nreturned\n",
                r.out(), r::toString);
    }

    /** The report of one is not torn by another's. */
    @Test
    void onePanicIsReported() {
        Result r = jvm().run("PanicsAtOnce");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().matches("panic: java.lang.IllegalStateException: boom\n\ngoroutine \\d+ \\[running\\]:\n"
                + "(\t[^\n]+\n)+created by goroutine 1\n"), r::toString);
    }

    @Test
    void exceptionsEndNoThread() {
        Result r = jvm().run("ThreadsSurvive");
        assertEquals(0, r.exit(), r::toString);
        assertEquals("returned\n", r.out(), r::toString);
    }

    @Test
    void goNil() {
        jvm().fatal("GoNil", "panic: java.lang.NullPointerException: go of nil func value\n\ngoroutine 1 [running]:\n");
    }
}
