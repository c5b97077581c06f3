// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code Builder.stalled} and {@code GMPDEBUG=stall}: what is told of goroutines that keep a P from others. */
class StallsTest {
    private static final int HOGS = 4;

    private static void spin(AtomicBoolean stop) {
        while (!stop.get()) {
            Thread.onSpinWait();
        }
    }

    private static void sleep(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Goroutines that keep the only P of a scheduler. One may yield, or lose its P, on its way to where it keeps it. */
    private static final class Hogs implements AutoCloseable {
        private final AtomicBoolean stop = new AtomicBoolean();
        private final CountDownLatch end = new CountDownLatch(1);
        private final TestGmp gmp;
        private final Stalls stalls;

        Hogs(UnaryOperator<Gmp.Builder> settings) {
            gmp = TestGmp.with(b -> settings.apply(b.procs(1).quantum(Duration.ofMillis(5))));
            stalls = Stalls.of(gmp.scheduler());
            gmp.run(() -> PinningCall.run(() -> { })); // All classes are there.
        }

        /** One that runs. */
        void run() {
            start(() -> spin(stop));
        }

        /** One that sleeps in the kernel. */
        void block() {
            start(() -> PinningCall.run(() -> sleep(end)));
        }

        /** Returns after one more stall. */
        private void start(Runnable hog) {
            long before = stalls.ran() + stalls.blocked();
            gmp.go(hog);
            while (stalls.ran() + stalls.blocked() == before) {
                gmp.run(() -> { }); // It waits for the P, and gets it.
            }
        }

        @Override
        public void close() {
            stop.set(true);
            end.countDown();
            gmp.close();
        }
    }

    /** Handlers and printed reports of stalls, in a JVM of their own. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            switch (args[0]) {
                case "told" -> told();
                case "rate" -> rate();
                case "throws" -> throwing(args[1]);
                case "lock" -> lock(args[1], args[2].equals("true"));
                default -> throw new AssertionError(args[0]);
            }
        }

        /** Prints the goid of one that was told to have run in spin, and of one that was told to have slept in sleep. */
        private static void told() {
            AtomicLong ran = new AtomicLong();
            AtomicLong slept = new AtomicLong();
            Gmp.Builder[] builder = new Gmp.Builder[1];
            try (Hogs hogs = new Hogs(b -> {
                builder[0] = b;
                return b.debug("stall=1").stalled(s -> {
                    if (s.stack().stream().anyMatch(f -> f.getMethodName().equals(s.running() ? "spin" : "sleep"))) {
                        boolean _ = (s.running() ? ran : slept).compareAndSet(0, s.goid());
                    }
                });
            })) {
                builder[0] = builder[0].stalled(s -> System.out.println("told of another's")); // For its next one.
                while (ran.get() == 0) {
                    hogs.run();
                }
                while (slept.get() == 0) {
                    hogs.block();
                }
            }
            System.out.println(ran + " " + slept);
        }

        /** Four stalls, all of goroutines that live. */
        private static void rate() {
            try (Hogs hogs = new Hogs(b -> b.debug("stall=600000"))) {
                for (int i = 0; i < HOGS; i++) {
                    hogs.run();
                }
            }
        }

        private static void throwing(String error) {
            try (Hogs hogs = new Hogs(b -> b.debug("stall=1").stalled(s -> {
                System.out.println("told");
                if (error.equals("IllegalStateException")) {
                    throw new IllegalStateException("so");
                } else if (error.equals("AssertionError")) {
                    throw new AssertionError("so");
                }
                overflow(0);
            }))) {
                for (int i = 0; i < HOGS; i++) {
                    hogs.run();
                }
            }
            System.out.println("closed");
        }

        private static int overflow(int n) {
            return overflow(n + 1) + 1;
        }

        /** Goroutines that run and run, while the one that can stop them holds the lock of stderr and waits for the P. */
        private static void lock(String debug, boolean callback) {
            AtomicBoolean stop = new AtomicBoolean();
            try (TestGmp gmp = TestGmp.with(b -> (callback ? b.stalled(s -> {
                throw new IllegalStateException("so");
            }) : b).procs(1).quantum(Duration.ofMillis(5)).debug(debug))) {
                gmp.run(() -> {
                    synchronized (System.err) {
                        for (int i = 0; i < HOGS; i++) {
                            Go.go(() -> spin(stop));
                            Go.gosched();
                        }
                    }
                    stop.set(true);
                });
            }
            System.out.println("stopped");
        }
    }

    private static ChildJvm.Result program(String... args) {
        ChildJvm.Result r = new ChildJvm(Program.class).run(args);
        assertEquals(0, r.exit(), r::toString);
        return r;
    }

    private static long printed(ChildJvm.Result r) {
        return Pattern.compile("(?m)^STALL goroutine \\d+ ").matcher(r.err()).results().count();
    }

    private static void printed(ChildJvm.Result r, String goid, String what, String method) {
        assertTrue(Pattern.compile("(?m)^STALL goroutine " + goid + " " + what + ":\n(\t.*\n)*\t.*StallsTest\\." + method
                + "\\(StallsTest\\.java:\\d+\\)\n").matcher(r.err()).find(), r::toString);
    }

    /** The callback and the text say the same of one that ran and of one that slept in the kernel. */
    @Test
    void whoRanAndWhoSlept() {
        ChildJvm.Result r = program("told");
        String[] goids = r.out().strip().split(" ");
        printed(r, goids[0], "ran past its quantum without a point", "spin");
        printed(r, goids[1], "blocked its thread", "sleep");
    }

    /** One in ten minutes. */
    @Test
    void atMostSoMany() {
        ChildJvm.Result r = program("rate");
        assertEquals(1, printed(r), r::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"IllegalStateException", "AssertionError", "StackOverflowError"})
    void oneThatThrowsIsNotToldAgain(String error) {
        ChildJvm.Result r = program("throws", error);
        assertEquals("told\nclosed\n", r.out(), r::toString);
        Matcher m = Pattern.compile("(?m)^gmp4j: the stall callback threw java\\.lang\\." + error + "(: so)? and is off$")
                .matcher(r.err());
        assertTrue(m.find(), r::toString);
        assertFalse(m.find(), r::toString);
        assertTrue(printed(r) > 1, r::toString); // There was more to be told.
    }

    /** Sysmon prints, and does not wait for a lock whose holder can get a P from sysmon alone. */
    @ParameterizedTest
    @CsvSource({"schedtrace=1,false,SCHED ", "stall=1,false,STALL ", "stall=0,true,gmp4j: the stall callback threw "})
    void stderrIsLocked(String debug, boolean callback, String prints) {
        ChildJvm.Result r = program("lock", debug, "" + callback);
        assertEquals("stopped\n", r.out(), r::toString);
        assertTrue(r.err().contains(prints), r::toString);
    }
}
