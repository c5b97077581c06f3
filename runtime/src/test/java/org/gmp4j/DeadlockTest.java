// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.Reference;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import jdk.internal.vm.ThreadContainer;
import jdk.internal.vm.ThreadContainers;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Deferred;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Deadlocks, and what is none: those of Go's {@code crash_test.go}. Each program runs in a JVM of its own. */
class DeadlockTest {
    /** The programs, by name. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) throws InterruptedException {
            switch (args[0]) {
                case "SimpleDeadlock" -> Gmp.main(() -> Chan.make().recv());
                case "DeadlockOfTwo" -> Gmp.main(() -> {
                    Chan<Integer> a = Chan.make();
                    Go.go(() -> {
                        Go.sleep(Duration.ofMillis(20));
                        a.send(1);
                        a.send(2);
                    });
                    a.recv();
                    WaitGroup never = new WaitGroup();
                    never.add(1);
                    never.await();
                });
                case "GoexitDeadlock" -> Gmp.main(() -> {
                    Go.go(() -> {
                        for (int i = 0; i < 10; i++) {
                            Go.gosched();
                        }
                    });
                    Go.goexit();
                });
                case "GoexitOthersWait" -> Gmp.main(() -> {
                    Chan<Integer> never = Chan.make();
                    Go.go(never::recv);
                    Go.goexit();
                });
                case "AfterSockets" -> Gmp.main(() -> afterSockets());
                case "Reasons" -> reasons();
                case "Busy" -> busy(Integer.parseInt(args[1]));
                case "BusyLives" -> busyLives();
                case "LeftByAThread" -> leftByAThread();
                case "LeftLate" -> leftLate();
                case "StartedByAThread" -> startedByAThread();
                case "HeldByAThread" -> heldByAThread();
                case "StoppedOutside" -> {
                    boolean _ = Time.afterFunc(Duration.ofHours(1), () -> { }).stop();
                    Gmp.main(() -> Chan.make().recv());
                }
                case "StoppedByAThread" -> Gmp.main(() -> stoppedByAThread());
                case "FunctionOutside" -> {
                    Chan<Integer> c = Chan.make();
                    Timer _ = Time.afterFunc(Duration.ofMillis(50), () -> sendLate(c));
                    Gmp.main(c::recv);
                }
                case "Bystander" -> Gmp.main(() -> bystander());
                case "LooksTwice" -> Gmp.main(() -> looksTwice());
                case "Sleeps" -> Gmp.main(() -> sleeps());
                case "MainReturns" -> mainReturns();
                case "LeftToSysmon" -> Gmp.main(() -> leftToSysmon());
                default -> throw new AssertionError(args[0]);
            }
            System.out.println("returned");
        }

        /** Wakes this goroutine when sysmon has looked some times, and ends some looks later, when it sleeps again. */
        private static void bystander() {
            Chan<String> c = Chan.make();
            Thread _ = Thread.ofPlatform().daemon().name("bystander").start(() -> {
                try {
                    Thread.sleep(200);
                    c.send("woken by " + Thread.currentThread().getName());
                    Thread.sleep(200);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            System.out.println(c.recv());
            c.recv();
        }

        /** The last M sleeps until a timer is due; a thread that stops it wakes none. */
        private static void stoppedByAThread() {
            Timer t = Time.afterFunc(Duration.ofHours(1), () -> { });
            Scheduler s = GStack.mine().scheduler();
            Thread _ = Thread.ofPlatform().daemon().start(() -> {
                while (Schedt.POLLUNTIL.getVolatile(s.sched) == 0) {
                    Thread.onSpinWait();
                }
                LockSupport.parkNanos(20_000_000); // Until the M sleeps. Any other time is right as well, but shows less.
                boolean _ = t.stop();
            });
            Chan.make().recv();
        }

        /** Starts a thread at the second look for threads. A look asks twice: for the threads, and for what these have opened. */
        private static final class Starts extends ThreadContainer {
            private static final int SECOND = 3;
            private final Thread thread;
            private int asked;

            Starts(Thread thread) {
                super(true);
                this.thread = thread;
            }

            @Override
            public Stream<Thread> threads() {
                if (++asked == SECOND) {
                    thread.start();
                }
                return Stream.empty();
            }
        }

        /** The first look at bystanders finds none. */
        private static void looksTwice() {
            Chan<Integer> c = Chan.make();
            ThreadContainer starts = new Starts(Thread.ofPlatform().daemon().unstarted(() -> c.send(1)));
            Object _ = ThreadContainers.registerContainer(starts);
            c.recv();
            Reference.reachabilityFence(starts);
        }

        /** Work for which there was no stack, say: it readies this goroutine, a while after that has gone to sleep. */
        private static void leftToSysmon() {
            Chan<Integer> c = Chan.make(1);
            Deferred send = new Deferred() {
                @Override
                protected void run() {
                    LockSupport.parkNanos(100_000_000);
                    c.trySend(1);
                }
            };
            while (!Deferred.add(send)) {
                Thread.onSpinWait(); // Until sysmon has begun.
            }
            c.recv();
        }

        /** Later than sysmon's next look. */
        private static void sendLate(Chan<Integer> c) {
            try {
                Thread.sleep(1_300);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            c.send(1);
        }

        /** Deadlock when no socket is waited for any more. */
        private static void afterSockets() {
            try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
                Go.go(() -> {
                    try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                        Go.sleep(Duration.ofMillis(20)); // The other waits for this byte, and for nothing else.
                        s.getOutputStream().write(1);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
                try (Socket s = server.accept()) {
                    System.out.println("read " + s.getInputStream().read() + ", goroutines " + Go.numGoroutine());
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            Chan.make().recv();
        }

        /** Every kind of wait that has a name of its own. */
        private static void reasons() {
            Gmp.main(() -> {
                Chan<Integer> c = Chan.make();
                Chan<Integer> d = Chan.make();
                WaitGroup never = new WaitGroup();
                never.add(1);
                Go.go(() -> c.send(1));
                Go.go(never::await);
                Go.go(() -> {
                    Go.lockOSThread();
                    d.recv();
                });
                Go.go(() -> PinningCall.run(d::recv));
                d.recv();
            });
        }

        private static Gmp detecting(SpinPolicy spin, int procs) {
            return Gmp.builder().procs(procs).spin(spin).deadlockDetection(DeadlockDetection.STRICT).build();
        }

        /** No M ever goes to sleep for good after the goroutines have. */
        private static void busy(int procs) {
            Gmp gmp = detecting(SpinPolicy.busy(), procs);
            gmp.go(() -> {
                Chan<Integer> c = Chan.make();
                Go.go(() -> {
                    Go.sleep(Duration.ofMillis(20));
                    c.send(1);
                    c.send(2);
                });
                c.recv();
                Chan.make().recv();
            });
            while (true) {
                LockSupport.park();
            }
        }

        /** Nothing here is a deadlock, though often no goroutine can run for a while. */
        private static void busyLives() {
            for (int procs = 1; procs <= 2; procs++) {
                try (Gmp gmp = detecting(SpinPolicy.busy(), procs)) {
                    Chan<Integer> c = Chan.make();
                    gmp.go(Program::sleeps);
                    gmp.go(() -> {
                        for (int i = 0; i < 2_000; i++) {
                            c.send(i);
                            Go.sleep(Duration.ofNanos(20_000 + 10 * i));
                        }
                    });
                    gmp.go(() -> {
                        for (int i = 0; i < 2_000; i++) {
                            c.recv();
                        }
                    });
                    gmp.run(Program::sleeps);
                }
            }
        }

        /** The last M has slept long since when the last thread leaves our blocking call. */
        private static void leftLate() {
            Chan<Integer> c = Chan.make();
            AtomicReference<Thread> main = new AtomicReference<>();
            Thread.ofPlatform().daemon().start(() -> c.recv());
            Thread.ofPlatform().daemon().start(() -> {
                while (main.get() == null || main.get().getState() != Thread.State.WAITING) {
                    Thread.onSpinWait();
                }
                try {
                    Thread.sleep(100); // Until the M sleeps too. Any other time is right as well, but shows less.
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                c.send(1);
            });
            Gmp.main(() -> {
                main.set(Thread.currentThread());
                Chan.make().recv();
            });
        }

        /** A goroutine that is about to start is no goroutine that sleeps. */
        private static void startedByAThread() {
            for (SpinPolicy spin : new SpinPolicy[] {SpinPolicy.go(), SpinPolicy.busy()}) {
                try (Gmp gmp = detecting(spin, 2)) {
                    for (int i = 0; i < 50_000; i++) {
                        gmp.go(() -> { });
                        if (i % 100 == 0) {
                            gmp.run(() -> { });
                        }
                    }
                }
            }
        }

        private static void leftByAThread() {
            Chan<Integer> c = Chan.make();
            Thread t = Thread.ofPlatform().daemon().start(() -> {
                c.recv();
                while (true) {
                    Thread.onSpinWait(); // Alive, but it holds nothing off any more.
                }
            });
            Gmp.main(() -> {
                Go.go(() -> {
                    while (t.getState() == Thread.State.NEW) {
                        Go.gosched();
                    }
                    c.send(1);
                });
                Chan.make().recv();
            });
        }

        private static void heldByAThread() {
            Chan<Integer> there = Chan.make();
            Chan<Integer> back = Chan.make();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    Thread.sleep(200);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                there.send(1);
                back.recv();
            });
            Thread blocked = Thread.ofPlatform().daemon().start(() -> Chan.make().recv());
            while (blocked.getState() == Thread.State.NEW) {
                Thread.onSpinWait();
            }
            Gmp.main(() -> back.send(there.recv()));
        }

        /** Waits in the JDK that end at any moment, and sleeps of ours: never a deadlock. */
        private static void sleeps() {
            try {
                for (int i = 0; i < 3_000; i++) {
                    Thread.sleep(0, 20_000 + 10 * i);
                    if (i % 10 == 0) {
                        Go.sleep(Duration.ofNanos(30_000));
                    }
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private static void mainReturns() throws InterruptedException {
            for (int i = 0; i < 2; i++) {
                AtomicBoolean returned = new AtomicBoolean();
                CountDownLatch late = new CountDownLatch(1);
                Gmp.main(() -> {
                    Go.go(() -> Chan.make().recv());
                    Go.go(() -> {
                        while (true) {
                            Thread.onSpinWait();
                        }
                    });
                    Go.go(() -> {
                        Go.defer(late::countDown);
                        while (!returned.get()) {
                            Go.sleep(Duration.ofMillis(1));
                        }
                        throw new IllegalStateException("too late to matter");
                    });
                });
                returned.set(true);
                late.await();
                System.out.println("main " + i);
            }
        }
    }

    private static ChildJvm jvm() {
        return new ChildJvm(Program.class);
    }

    @Test
    void simpleDeadlock() {
        jvm().fatal("SimpleDeadlock", """
                fatal error: all goroutines are asleep - deadlock!

                goroutine 1 [chan receive]:
                \torg.gmp4j.Chan.""");
    }

    /** A wait for a socket is no deadlock; one that is over does not hide one. */
    @Test
    void deadlockAfterSockets() {
        Result r = jvm().run("AfterSockets");
        assertTrue(r.out().startsWith("read 1, goroutines "), r::toString);
        assertTrue(r.err().startsWith("fatal error: all goroutines are asleep - deadlock!\n\n"), r::toString);
        assertFalse(r.err().contains("sun.nio.ch.Poller"), r::toString); // No poller is a goroutine.
    }

    @Test
    void deadlockOfTwo() {
        Result r = jvm().run("DeadlockOfTwo");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: all goroutines are asleep - deadlock!\n\n"), r::toString);
        assertTrue(r.err().contains("goroutine 1 [sync.WaitGroup.Wait]:\n"), r::toString);
        assertTrue(r.err().contains(" [chan send]:\n"), r::toString);
        assertTrue(r.err().contains("\ncreated by goroutine 1\n"), r::toString);
    }

    @Test
    void goexitDeadlock() {
        jvm().fatal("GoexitDeadlock", "fatal error: no goroutines (main called runtime.Goexit) - deadlock!\n");
    }

    @Test
    void goexitWhileOthersWait() {
        jvm().fatal("GoexitOthersWait",
                "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 2 [chan receive]:\n");
    }

    /** Each goroutine with what it waits for, and where. */
    @Test
    void everyGoroutineIsShown() {
        Result r = jvm().run("Reasons");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: all goroutines are asleep - deadlock!\n\ngoroutine "), r::toString);
        assertEquals(5, r.err().split("(?m)^goroutine \\d+ \\[", -1).length - 1, r::toString);
        assertEquals(4, r.err().split("\ncreated by goroutine 1\n", -1).length - 1, r::toString);
        assertTrue(r.err().contains("goroutine 1 [chan receive]:\n\torg.gmp4j.Chan."), r::toString);
        assertEquals(2, r.err().split("\\[chan receive, locked to thread\\]:\n\torg.gmp4j.Chan.", -1).length - 1,
                r::toString);
        assertTrue(r.err().contains("[chan send]:\n\torg.gmp4j.Chan."), r::toString);
        assertTrue(r.err().contains("[sync.WaitGroup.Wait]:\n\torg.gmp4j.sync.WaitGroup."), r::toString);
    }

    /** When Ms never sleep no M notices that it was the last; sysmon notices it. */
    @ParameterizedTest
    @ValueSource(strings = {"1", "2", "3"})
    void deadlockWhileMsSpin(String procs) {
        Result r = jvm().run("Busy", procs);
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: all goroutines are asleep - deadlock!\n\n"), r::toString);
        assertEquals(2, r.err().split("(?m)^goroutine \\d+ \\[", -1).length - 1, r::toString);
    }

    /** A thread in a blocking call of ours holds the report off only as long as it is inside. */
    @ParameterizedTest
    @ValueSource(strings = {"LeftByAThread", "LeftLate", "StoppedOutside", "StoppedByAThread"})
    void deadlockAfterAThreadHasLeft(String program) {
        ChildJvm jvm = program.equals("LeftByAThread") ? jvm().env("GMPDEBUG", "deadlock=strict") : jvm(); // That thread goes on.
        jvm.fatal(program, "fatal error: all goroutines are asleep - deadlock!\n");
    }

    /** A thread that has nothing to do with us may wake a goroutine as long as it lives. */
    @Test
    void deadlockWhenAThreadHasEnded() {
        Result r = jvm().env("GMPDEBUG", "deadlock=show").run("Bystander");
        assertEquals(2, r.exit(), r::toString);
        assertEquals("woken by bystander\n", r.out());
        String held = "gmp4j: all goroutines are asleep; no deadlock is reported because of thread \"bystander\" (#";
        assertTrue(r.err().startsWith(held) && r.err().contains(")\nfatal error: all goroutines are asleep - deadlock!\n"), r::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"HeldByAThread", "Sleeps", "BusyLives", "StartedByAThread", "MainReturns", "FunctionOutside",
        "LeftToSysmon", "LooksTwice"})
    void noDeadlock(String program) {
        boolean strict = program.equals("HeldByAThread") || program.equals("LeftToSysmon"); // No bystander holds the report off.
        Result r = (strict ? jvm().env("GMPDEBUG", "deadlock=strict") : jvm()).run(program);
        assertEquals(0, r.exit(), r::toString);
        assertTrue(r.out().endsWith("returned\n"), r::toString);
        assertEquals("", r.err(), r::toString);
    }
}
