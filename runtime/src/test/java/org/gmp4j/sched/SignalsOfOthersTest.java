// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.ffi.Signals;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Gcount;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.Test;

/** Signals that other code in the process owns are left to it. */
class SignalsOfOthersTest {
    private static final int[] OURS = {Signals.SIGURG, 60, 59, 58, 57};

    /** A goroutine that calls nothing until another has run, on one P: it must lose its P. */
    @SuppressWarnings("restricted") // signal(2)
    static final class Program {
        private static final Linker LINKER = Linker.nativeLinker();
        private static final MethodHandle SIGNAL = LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow("signal"),
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));

        private Program() {
        }

        /** Other code's handler: it does nothing. */
        private static void handle(int signo) throws Throwable {
            MemorySegment abs = LINKER.defaultLookup().findOrThrow("abs");
            long _ = (long) SIGNAL.invokeExact(signo, abs);
        }

        public static void main(String[] args) throws Throwable {
            if (args[0].equals("taken")) {
                handle(Signals.SIGURG);
            } else if (args[0].equals("all taken")) {
                for (int signo : OURS) {
                    handle(signo);
                }
            }
            try (Gmp gmp = Gmp.builder().procs(1).quantum(Duration.ofMillis(1)).build()) {
                if (args[0].equals("all taken")) {
                    gmp.run(() -> {
                        AtomicBoolean ran = new AtomicBoolean();
                        Go.go(() -> ran.set(true));
                        while (!ran.get()) {
                            Go.preemptPoint();
                        }
                    });
                    System.out.println("yielded");
                    return;
                }
                preempt(gmp);
                if (args[0].equals("stolen")) {
                    handle(Signals.SIGURG);
                    long end = System.nanoTime() + 1_500_000_000; // Sysmon looks whose the signal is once a second.
                    do {
                        hog(gmp);
                    } while (System.nanoTime() < end);
                    System.out.println("preempted");
                } else if (args[0].equals("stolen, stop the world")) {
                    for (Scheduler s : Scheduler.all()) {
                        while (Gcount.gcount(s) != 0) { // Or it may want the P once more, and the next one lose it.
                            Thread.onSpinWait();
                        }
                    }
                    AtomicBoolean stop = new AtomicBoolean();
                    AtomicBoolean runs = new AtomicBoolean();
                    gmp.go(() -> {
                        runs.set(true);
                        spinUntil(stop);
                    });
                    spinUntil(runs);
                    handle(Signals.SIGURG);
                    int _ = gmp.setProcs(1);
                    stop.set(true);
                    System.out.println("stopped");
                }
            }
        }

        private static void preempt(Gmp gmp) {
            hog(gmp);
            System.out.println("preempted");
        }

        private static void hog(Gmp gmp) {
            gmp.run(() -> {
                AtomicBoolean ran = new AtomicBoolean();
                Go.go(() -> ran.set(true));
                spinUntil(ran);
            });
        }

        private static void spinUntil(AtomicBoolean flag) {
            while (!flag.get()) {
                Thread.onSpinWait();
            }
        }
    }

    private static void program(String what, String out, String err) {
        ChildJvm.Result r = new ChildJvm(Program.class).with("-Dgmp.membarrier=off").run(what);
        assertEquals(out, r.out(), r::toString);
        assertEquals(err, r.err(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    private static final String ANOTHER = "gmp4j: SIGURG belongs to other code in this process; preempting with signal 60\n";

    @Test
    void oursIsFree() {
        program("free", "preempted\n", "");
    }

    @Test
    void taken() {
        program("taken", "preempted\n", ANOTHER);
    }

    /** Where no signal is sent, no line says which it would be. */
    @Test
    void takenButNotWanted() {
        assumeTrue(Gate.possible());
        ChildJvm.Result r = new ChildJvm(Program.class).run("taken");
        assertEquals("preempted\n", r.out(), r::toString);
        assertEquals("", r.err(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    @Test
    void allTaken() {
        program("all taken", "yielded\n",
                "gmp4j: no signal is free for preemption; goroutines yield at calls of the runtime only\n");
    }

    /** Sysmon finds out within a second or so. */
    @Test
    void stolen() {
        program("stolen", "preempted\npreempted\n", ANOTHER);
    }

    /** The thread that stops the world finds out itself, as sysmon sleeps then. */
    @Test
    void stolenWhileTheWorldIsToStop() {
        program("stolen, stop the world", "preempted\nstopped\n", ANOTHER);
    }
}
