// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.config.Config;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.report.Report;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.Park;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.life.Schedinit;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.Struct;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.sysmon.Sysmon;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.Raw;
import org.gmp4j.timer.TimerHeaps;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Fatal errors but for deadlocks: those of Go's {@code crash_test.go}. Each program runs in a JVM of its own. */
class FatalTest {
    /** The programs, by name. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            switch (args[0]) {
                case "OutOfMemory" -> {
                    Gmp.builder().build().go(Program::outOfMemory);
                    for (;;) {
                        Thread.onSpinWait(); // Needs no memory.
                    }
                }
                case "StackOverflow" -> Gmp.main(() -> overflow(0));
                case "ThreadExhaustion" -> threadExhaustion();
                case "Throw" -> Gmp.main(() -> corrupt(Go::gosched));
                case "ThrowInJdkPark" -> Gmp.main(() -> corrupt(Thread::yield));
                default -> throw new AssertionError(args[0]);
            }
            System.out.println("returned");
        }

        /** Fills the heap to the last byte on an M's own stack. */
        private static void outOfMemory() {
            Park.gopark(GStack.enter(), (gp, lock) -> {
                try {
                    for (;;) {
                        all = new Object[] {all, new byte[10_000]};
                    }
                } catch (OutOfMemoryError e) {
                    for (;;) {
                        all = new Object[] {all};
                    }
                }
            }, null, WaitReason.SLEEP, 0);
        }

        private static Object all;

        static int overflow(int n) {
            return overflow(n + 1) + 1;
        }

        private static void threadExhaustion() {
            Scheduler s = Schedinit.schedinit(new Config(1, null, Placement.NONE, org.gmp4j.affinity.StealOrder.UNIFORM, false,
                    0, 10_000_000, 10_000_000, 5, -1, 1 << 20, null, true, true, 0, DebugVars.parse(null)),
                    new TimerHeaps(), Netpoll.NONE, Sysmon::new, Report.ALL);
            Chan<Integer> c = Chan.make();
            for (int i = 0; i < 10; i++) {
                Newproc.newproc(s, () -> PinningCall.run(c::recv));
            }
            LockSupport.park();
        }

        private static void corrupt(Runnable next) {
            Go.go(() -> Chan.make().recv());
            Go.sleep(Duration.ofMillis(50)); // The other has parked by now, on whatever P it runs.
            Raw.setInt(Struct.G, "atomicstatus", GStack.current().gp(), GStatus.GCOPYSTACK);
            next.run();
        }
    }

    private static ChildJvm jvm() {
        return new ChildJvm(Program.class);
    }

    /** On an M's own stack, as when a stack for a goroutine is made. There is none left for the report either. */
    @Test
    void outOfMemory() {
        Result r = jvm().with("-Xmx32m").run("OutOfMemory");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: out of memory in the scheduler\n"), r::toString);
    }

    @Test
    void stackOverflow() {
        jvm().fatal("StackOverflow", """
                runtime: goroutine stack exceeds 8388608-byte limit
                fatal error: stack overflow

                goroutine 1 [running]:
                """);
    }

    /** In program mode; a service's work waits: {@code sched.ThreadLimitTest}. */
    @Test
    void threadExhaustion() {
        jvm().fatal("ThreadExhaustion", "runtime: program exceeds 5-thread limit\nfatal error: thread exhaustion\n");
    }

    /**
     * A corrupt scheduler: the message, where it was found, every P, M and G, and the end. In the second case JDK 25 and 26 can read no
     * stack, because they believe that the thread is about to be parked. Later the JVM reads it, whatever the JDK believes.
     */
    @Test
    void throwDumpsAll() {
        dumpsAll("Throw", "_Grunnable");
    }

    /** The report waits some seconds for the stack. */
    @Tag("long")
    @Test
    void throwInAParkOfTheJdkDumpsAll() {
        dumpsAll("ThrowInJdkPark", "_Gwaiting");
    }

    private static void dumpsAll(String program, String wanted) {
        Result r = jvm().run(program);
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: casgstatus: bad transition of goroutine 1: wanted _Grunning -> " + wanted
                + ", found _Gcopystack\n"), r::toString);
        for (String part : new String[] {"\tat org.gmp4j.struct.GStatus.", "\nSCHED ", "\n  P0: ", "\n  M0: ",
            "\n  G1: status=_Gcopystack", ": status=_Gwaiting(chan receive)"}) {
            assertTrue(r.err().contains(part), () -> part + " is not in " + r);
        }
        boolean readable = program.equals("Throw") || Runtime.version().feature() > 26;
        assertEquals(readable, r.err().contains(" [chan receive]:\n"), r::toString);
    }
}
