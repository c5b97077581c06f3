// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.PinningCall;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Preempted every 200 µs by signal, without the agent: exceptions that the JVM makes of signals too, overflowing stacks,
 * native calls and calls back, threads that end, the end of the process. Collections, class loading, deoptimisation: the
 * soak; debuggers: ToolsTest.
 */
class HandlerSurvivesTest {
    static final class Program {
        private static final int WORKERS = 6;
        private static final long NANOS = 500_000_000;
        private static final int[] FEW = new int[1];
        private static volatile String none;
        private static volatile int zero;
        private static volatile long sink;

        private Program() {
        }

        public static void main(String[] args) throws Exception {
            Gmp gmp = Gmp.builder().procs(2).quantum(Duration.ofNanos(200_000)).maxStack(1 << 20).build();
            Scheduler s = gmp.call(() -> GStack.current().s);
            AtomicLong rounds = new AtomicLong();
            gmp.run(() -> {
                WaitGroup all = new WaitGroup();
                long end = System.nanoTime() + NANOS;
                for (int i = 0; i < WORKERS; i++) {
                    all.go(() -> {
                        while (System.nanoTime() < end || s.signals().taken() == 0) {
                            round(args[0]);
                            rounds.incrementAndGet();
                            spin();
                        }
                    });
                }
                all.await();
            });
            if (args[0].equals("exit")) {
                for (int i = 0; i < WORKERS; i++) {
                    gmp.go(() -> {
                        for (;;) {
                            spin();
                        }
                    });
                }
                gmp.go(() -> System.exit(7));
                Thread.sleep(Long.MAX_VALUE);
            }
            gmp.close();
            System.out.println(rounds.get() > 0 ? "survived" : "no round");
        }

        /** Longer than a quantum, and no point. */
        private static void spin() {
            long end = System.nanoTime() + 300_000;
            while (System.nanoTime() < end) {
                sink++;
            }
        }

        private static void round(String what) {
            switch (what) {
                case "exceptions" -> {
                    for (int i = 0; i < 200; i++) {
                        exceptions();
                    }
                }
                case "overflow" -> {
                    try {
                        overflow(0);
                        throw new AssertionError();
                    } catch (StackOverflowError expected) {
                        return;
                    }
                }
                case "natives" -> PinningCall.run(Program::spin);
                case "threads" -> {
                    WaitGroup one = new WaitGroup();
                    one.go(() -> {
                        Go.lockOSThread(); // It ends with the thread.
                        spin();
                    });
                    one.await();
                }
                default -> { }
            }
        }

        private static void exceptions() {
            try {
                sink += none.length();
                throw new AssertionError();
            } catch (NullPointerException expected) {
                sink++;
            }
            try {
                sink += 1 / zero;
                throw new AssertionError();
            } catch (ArithmeticException expected) {
                sink++;
            }
            try {
                sink += FEW[(int) (sink & 1) + 1];
                throw new AssertionError();
            } catch (ArrayIndexOutOfBoundsException expected) {
                sink++;
            }
        }

        private static long overflow(long n) {
            return overflow(n + 1) + n;
        }
    }

    @ParameterizedTest
    @CsvSource({"exceptions,0,survived", "overflow,0,survived", "natives,0,survived", "threads,0,survived", "exit,7,"})
    void survives(String what, int exit, String out) {
        ChildJvm.Result r = new ChildJvm(Program.class).with("-Dgmp.membarrier=off").with("-XX:TieredStopAtLevel=4").run(what);
        assertEquals("", r.err(), r::toString);
        assertEquals(out == null ? "" : out + "\n", r.out(), r::toString);
        assertEquals(exit, r.exit(), r::toString);
    }
}
