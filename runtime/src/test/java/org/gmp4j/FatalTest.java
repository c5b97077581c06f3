package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;

import org.gmp4j.ffi.gmp.g;
import org.gmp4j.proc.GStack;
import org.gmp4j.struct.GStatus;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.Raw;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How programs end: Go's {@code crash_test.go}. Each runs in a JVM of its own. */
class FatalTest {
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
                case "AfterSockets" -> Gmp.main(() -> afterSockets());
                case "Reasons" -> reasons();
                case "Busy" -> busy(Integer.parseInt(args[1]));
                case "BusyLives" -> busyLives();
                case "LeftByAThread" -> leftByAThread();
                case "LeftLate" -> leftLate();
                case "StartedByAThread" -> startedByAThread();
                case "HeldByAThread" -> heldByAThread();
                case "StoppedOutside" -> {
                    boolean unused = Time.afterFunc(Duration.ofHours(1), () -> { }).stop();
                    Gmp.main(() -> Chan.make().recv());
                }
                case "FunctionOutside" -> {
                    Chan<Integer> c = Chan.make();
                    Timer unused = Time.afterFunc(Duration.ofMillis(50), () -> sendLate(c));
                    Gmp.main(c::recv);
                }
                case "OutOfMemory" -> Gmp.main(() -> outOfMemory());
                case "Sleeps" -> Gmp.main(() -> sleeps());
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
                case "PanicsAtOnce" -> panicsAtOnce();
                case "ThreadsSurvive" -> threadsSurvive();
                case "GoNil" -> Gmp.main(() -> Go.go(null));
                case "MainReturns" -> mainReturns();
                case "StackOverflow" -> Gmp.main(() -> overflow(0));
                case "SmallStackOverflow" -> {
                    try (Gmp gmp = Gmp.builder().maxStack(1 << 20).build()) {
                        gmp.go(() -> overflow(0));
                    }
                }
                case "ThreadExhaustion" -> threadExhaustion();
                case "Throw" -> Gmp.main(() -> corrupt(Go::gosched));
                case "ThrowInJdkPark" -> Gmp.main(() -> corrupt(Thread::yield));
                case "Procs" -> Gmp.main(() -> System.out.println("procs=" + Go.gomaxprocs(0)));
                case "Trace" -> Gmp.main(() -> {
                    Go.go(() -> Chan.make().recv());
                    Go.sleep(Duration.ofMillis(100));
                });
                case "Build" -> Gmp.builder().build().close();
                default -> throw new AssertionError(args[0]);
            }
            System.out.println("returned");
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

        /** Leaves the JDK's pollers behind on this scheduler. */
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
            return Gmp.builder().procs(procs).spin(spin).deadlockDetection(true).build();
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
                case 2 -> overflow(0);
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

        /** Fills the heap but for a little, which the stacks of parked goroutines then take. */
        private static void outOfMemory() {
            Runnable waits = Chan.make()::recv;
            List<byte[]> all = new ArrayList<>(1_000_000);
            try {
                for (;;) {
                    all.add(new byte[1_000]);
                }
            } catch (OutOfMemoryError e) {
                for (int i = 0; i < 300; i++) {
                    all.removeLast();
                }
            }
            for (;;) {
                Go.go(waits);
                Go.gosched();
            }
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

        private static int overflow(int n) {
            return overflow(n + 1) + 1;
        }

        private static void threadExhaustion() {
            try (Gmp gmp = Gmp.builder().procs(1).maxThreads(5).build()) {
                Chan<Integer> c = Chan.make();
                for (int i = 0; i < 10; i++) {
                    gmp.go(() -> PinningCall.run(c::recv));
                }
            }
        }

        private static void corrupt(Runnable next) {
            Go.go(() -> Chan.make().recv());
            Go.sleep(Duration.ofMillis(50)); // The other has parked by now, on whatever P it runs.
            Raw.setInt(g.layout(), "atomicstatus", GStack.current().gp(), GStatus.GCOPYSTACK);
            next.run();
        }
    }

    private static ChildJvm jvm() {
        return new ChildJvm(Program.class);
    }

    private static void fatal(String program, String text) {
        Result r = jvm().run(program);
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith(text), r::toString);
        assertEquals("", r.out().replace("deferred\n", ""), r::toString);
    }

    @Test
    void simpleDeadlock() {
        fatal("SimpleDeadlock", """
                fatal error: all goroutines are asleep - deadlock!

                goroutine 1 [chan receive]:
                \torg.gmp4j.Chan.""");
    }

    /** Who waits for a socket is no deadlock; the JDK's pollers, which wait for ever, do not hide one. */
    @Test
    void deadlockAfterSockets() {
        Result r = jvm().run("AfterSockets");
        assertTrue(r.out().startsWith("read 1, goroutines "), r::toString);
        assertTrue(r.err().startsWith("fatal error: all goroutines are asleep - deadlock!\n\n"), r::toString);
        assertFalse(r.err().contains("sun.nio.ch.Poller"), r::toString); // Go does not show its system goroutines.
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
        fatal("GoexitDeadlock", "fatal error: no goroutines (main called runtime.Goexit) - deadlock!\n");
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

    /** When Ms never sleep nobody notices that he was the last: sysmon does. */
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
    @ValueSource(strings = {"LeftByAThread", "LeftLate", "StoppedOutside"})
    void deadlockAfterAThreadHasLeft(String program) {
        fatal(program, "fatal error: all goroutines are asleep - deadlock!\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"HeldByAThread", "Sleeps", "BusyLives", "StartedByAThread", "MainReturns", "FunctionOutside"})
    void noDeadlock(String program) {
        Result r = jvm().run(program);
        assertEquals(0, r.exit(), r::toString);
        assertTrue(r.out().endsWith("returned\n"), r::toString);
        assertEquals("", r.err(), r::toString);
    }

    /** On an M's own stack, where a stack for a goroutine is made. There may be none left for the report either. */
    @Test
    void outOfMemory() {
        Result r = jvm().with("-Xmx32m").run("OutOfMemory");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: out of memory in the scheduler\n"), r::toString);
    }

    @Test
    void panic() {
        Result r = jvm().run("Panic");
        assertEquals(2, r.exit(), r::toString);
        assertEquals("deferred\n", r.out());
        assertTrue(r.err().startsWith("panic: java.lang.IllegalStateException: boom\n"), r::toString);
        assertTrue(r.err().contains("\n\ngoroutine 1 [running]:\n\torg.gmp4j.FatalTest$Program."), r::toString);
        assertTrue(r.err().contains("java.io.IOException: cause"), r::toString);
    }

    @Test
    void panicInGoroutine() {
        Result r = jvm().run("PanicInGoroutine");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("panic: java.lang.IllegalStateException: boom\n\ngoroutine "), r::toString);
        assertTrue(r.err().contains(" [running]:\n\torg.gmp4j.FatalTest$Program."), r::toString);
        assertTrue(r.err().contains("created by goroutine 1"), r::toString);
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
        fatal("GoNil", "panic: java.lang.NullPointerException: go of nil func value\n\ngoroutine 1 [running]:\n");
    }

    @Test
    void stackOverflow() {
        fatal("StackOverflow", """
                runtime: goroutine stack exceeds 1073741824-byte limit
                fatal error: stack overflow

                goroutine 1 [running]:
                """);
    }

    /** Embedded, without a handler. */
    @Test
    void stackOverflowOfASmallStack() {
        fatal("SmallStackOverflow", """
                runtime: goroutine stack exceeds 1048576-byte limit
                fatal error: stack overflow

                goroutine 1 [running]:
                \torg.gmp4j.FatalTest$Program.overflow""");
    }

    @Test
    void threadExhaustion() {
        fatal("ThreadExhaustion", "runtime: program exceeds 5-thread limit\nfatal error: thread exhaustion\n");
    }

    /**
     * A corrupt scheduler: the message, where it was found, every P, M and G, and the end. The stack of the second
     * cannot be read: the JDK believes that it is about to be parked.
     */
    @ParameterizedTest
    @CsvSource({"Throw,_Grunnable", "ThrowInJdkPark,_Gwaiting"})
    void throwDumpsAll(String program, String wanted) {
        Result r = jvm().run(program);
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: casgstatus: bad transition of goroutine 1: wanted _Grunning -> " + wanted
                + ", found _Gcopystack\n"), r::toString);
        for (String part : new String[] {"\tat org.gmp4j.struct.GStatus.", "\nSCHED ", "\n  P0: ", "\n  M0: ",
            "\n  G1: status=_Gcopystack", ": status=_Gwaiting(chan receive)"}) {
            assertTrue(r.err().contains(part), () -> part + " is not in " + r);
        }
        assertEquals(program.equals("Throw"), r.err().contains(" [chan receive]:\n"), r::toString);
    }

    @Test
    void maxProcsFromTheEnvironment() {
        Result r = jvm().env("GMPMAXPROCS", "3").run("Procs");
        assertEquals("procs=3\nreturned\n", r.out(), r::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "x", "4097", "2.5"})
    void badMaxProcs(String value) {
        Result r = jvm().env("GMPMAXPROCS", value).run("Build");
        assertEquals(1, r.exit(), r::toString);
        assertTrue(r.err().contains("GMPMAXPROCS is \"" + value + "\": use a number from 1 to 4096"), r::toString);
    }

    @Test
    void badDebugKey() {
        Result r = jvm().env("GMPDEBUG", "schedtrac=1").run("Build");
        assertEquals(1, r.exit(), r::toString);
        assertTrue(r.err().contains("java.lang.IllegalArgumentException: GMPDEBUG: the key \"schedtrac\" is unknown"),
                r::toString);
    }

    /** In program mode there is nobody to catch it: one sentence, and the end. */
    @ParameterizedTest
    @CsvSource({"GMPMAXPROCS,many,'GMPMAXPROCS is \"many\": use a number from 1 to 4096'",
        "GMPDEBUG,schedtrac=1,'GMPDEBUG: the key \"schedtrac\" is unknown; known are '",
        "GMPDEBUG,schedtrace=x,'GMPDEBUG: schedtrace cannot be \"x\", only a whole number from 0 to '"})
    void badVariableOfAProgram(String name, String value, String sentence) {
        Result r = jvm().env(name, value).run("Procs");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("gmp4j: " + sentence), r::toString);
        assertEquals(r.err().length() - 1, r.err().indexOf('\n'), r::toString);
        assertEquals("", r.out(), r::toString);
    }

    @Test
    void schedtrace() {
        Result r = jvm().env("GMPDEBUG", "schedtrace=10,scheddetail=1").run("Trace");
        assertEquals(0, r.exit(), r::toString);
        List<String> shapes = List.of(
                "SCHED \\d+ms: gomaxprocs=2 idleprocs=\\d threads=\\d+ spinningthreads=\\d needspinning=\\d "
                        + "idlethreads=\\d+ runqueue=\\d+ gcwaiting=(true|false) nmidlelocked=\\d+ stopwait=\\d "
                        + "sysmonwait=(true|false)",
                "  P[01]: status=[0-4] schedtick=\\d+ syscalltick=\\d+ m=(nil|\\d+) runqsize=\\d+ gfreecnt=\\d+ "
                        + "timerslen=\\d+",
                "  M\\d+: p=(nil|[01]) curg=(nil|\\d+) mallocing=0 throwing=0 preemptoff= locks=\\d+ dying=0 "
                        + "spinning=(true|false) blocked=(true|false) lockedg=(nil|\\d+)",
                "  G\\d+: status=\\d+\\(.*\\) m=(nil|\\d+) lockedm=(nil|\\d+)");
        List<String> lines = r.err().substring(0, r.err().lastIndexOf("SCHED ")).lines().toList(); // Not the last: cut off.
        for (String line : lines) {
            assertTrue(shapes.stream().anyMatch(line::matches), line);
        }
        for (String shape : shapes) {
            assertTrue(lines.stream().anyMatch(line -> line.matches(shape)), shape + r);
        }
    }

    /** Without a flag: one sentence that names them. */
    @ParameterizedTest
    @CsvSource({",Build", ",Procs", "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED,Build",
        "--add-opens=java.base/java.lang=ALL-UNNAMED,Build", "--add-opens=java.base/java.lang=ALL-UNNAMED,Procs"})
    void missingFlags(String flag, String program) {
        ChildJvm jvm = jvm().withoutFlags();
        Result r = (flag == null ? jvm : jvm.with(flag)).run(program);
        assertEquals(1, r.exit(), r::toString);
        assertTrue(r.err().contains("java.lang.IllegalStateException: gmp4j has no access to java.lang.VirtualThread: "
                + "start java with -javaagent:gmp4j-runtime.jar, or with --add-exports=java.base/jdk.internal.vm"),
                r::toString);
        assertFalse(r.err().contains("Caused by"), r::toString);
    }

    /** The agent is the only flag a program needs. */
    @Test
    void agentIsEnough(@TempDir Path dir) throws IOException {
        Path jar = jar(dir, "Premain-Class", "org.gmp4j.agent.Agent", "Can-Retransform-Classes", "true");
        Result r = jvm().withoutFlags().with("-javaagent:" + jar).run("Procs");
        assertEquals("procs=2\nreturned\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** An executable jar needs none, by what its manifest opens or by the agent that it names. */
    @ParameterizedTest
    @CsvSource({"Launcher-Agent-Class,org.gmp4j.agent.Agent,Enable-Native-Access,ALL-UNNAMED",
        "Add-Exports,java.base/jdk.internal.vm,Add-Opens,java.base/java.lang"})
    void executableJar(String name1, String value1, String name2, String value2, @TempDir Path dir) throws IOException {
        StringBuilder path = new StringBuilder();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            path.append(Path.of(entry).toUri()).append(' ');
        }
        Path jar = jar(dir, "Main-Class", Program.class.getName(), "Class-Path", path.toString(), name1, value1, name2,
                value2);
        Result r = jvm().withoutFlags().runJar(jar, "Procs");
        assertEquals("procs=2\nreturned\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
        assertEquals(name2.equals("Enable-Native-Access"), r.err().isEmpty(), r::toString);
    }

    /** Of a manifest alone: the classes are beside it. */
    private static Path jar(Path dir, String... attributes) throws IOException {
        Path jar = dir.resolve("program.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        for (int i = 0; i < attributes.length; i += 2) {
            manifest.getMainAttributes().putValue(attributes[i], attributes[i + 1]);
        }
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        return jar;
    }
}
