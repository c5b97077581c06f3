package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.synctest.Synctest;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The JDK's socket pollers on the Ps of the scheduler whose goroutine first waited for a socket, and on the JDK's own once
 * that scheduler has closed. They begin once in a JVM, so each program has one of its own.
 */
class SocketPollersTest {
    private static final int ROUNDS = 200;

    /** The programs. */
    static final class Main {
        public static void main(String[] args) throws InterruptedException, IOException {
            int procs = Integer.parseInt(args[1]);
            switch (args[0]) {
                case "Closes" -> closes(procs);
                case "Hogs" -> hogs(procs);
                case "Where" -> where(procs);
                case "Bubble" -> bubble();
                default -> throw new IllegalArgumentException(args[0]);
            }
            System.out.println("done");
        }

        /** Both ends of a connection; each byte waits for the other end's answer. */
        private static void pingPong(int rounds) {
            try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
                Thread echo = Thread.ofVirtual().start(() -> echo(server));
                try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                    for (int i = 0; i < rounds; i++) {
                        s.getOutputStream().write(i);
                        assertEquals((byte) (i + 1), (byte) s.getInputStream().read());
                    }
                }
                echo.join();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private static void echo(ServerSocket server) {
            try (Socket s = server.accept()) {
                for (int b = s.getInputStream().read(); b >= 0; b = s.getInputStream().read()) {
                    s.getOutputStream().write(b + 1);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /**
         * The first scheduler runs the pollers and closes while goroutines of another, and virtual threads of the JDK's,
         * keep them busy; those go on, and so do many schedulers after it.
         */
        private static void closes(int procs) throws InterruptedException {
            AtomicBoolean stop = new AtomicBoolean();
            CountDownLatch begun = new CountDownLatch(2);
            TestGmp first = TestGmp.procs(procs);
            first.run(() -> {
                pingPong(10);
                assertEquals(1, Go.numGoroutine()); // Pollers are not counted.
            });
            first.check();
            TestGmp other = TestGmp.procs(procs);
            Runnable user = () -> {
                pingPong(10);
                begun.countDown();
                while (!stop.get()) {
                    pingPong(20);
                }
            };
            other.go(user);
            Thread outside = Thread.ofVirtual().start(user);
            begun.await();
            first.run(() -> pingPong(ROUNDS));
            first.close();
            other.run(() -> pingPong(ROUNDS));
            for (int i = 0; i < 50; i++) {
                try (TestGmp next = TestGmp.procs(1 + i % 3)) {
                    next.run(() -> pingPong(10));
                    next.check();
                }
            }
            stop.set(true);
            outside.join();
            other.close();
        }

        /** A goroutine on each P that never yields: sockets are served all the same. */
        private static void hogs(int procs) {
            try (TestGmp gmp = TestGmp.procs(procs)) {
                gmp.run(() -> {
                    pingPong(10);
                    boolean[] stop = new boolean[1];
                    WaitGroup wg = new WaitGroup();
                    for (int i = 0; i < procs; i++) {
                        wg.go(() -> {
                            while (!(boolean) STOP.getOpaque(stop, 0)) {
                                Thread.onSpinWait();
                            }
                        });
                    }
                    pingPong(20);
                    STOP.setOpaque(stop, 0, true);
                    wg.await();
                });
            }
        }

        /** Prints whether the pollers are goroutines of the scheduler whose goroutine was the first to wait for a socket. */
        private static void where(int procs) {
            try (Gmp gmp = Gmp.builder().procs(procs).debug("scheddetail=1").build()) {
                gmp.run(() -> pingPong(10));
                System.out.println(gmp.dump().contains("sun.nio.ch.Poller") ? "here" : "not here");
            }
        }

        /** The first to wait for a socket is in a bubble: the pollers are not, and its clock goes on. */
        private static void bubble() {
            Synctest.test(() -> {
                pingPong(10);
                Go.sleep(Duration.ofDays(1));
                pingPong(10);
            });
        }

        private static final VarHandle STOP = MethodHandles.arrayElementVarHandle(boolean[].class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "2"})
    void aSchedulerClosesWhileOthersUseSockets(String procs) {
        done(new ChildJvm(Main.class).with("-Dgmp.lockrank=true").run("Closes", procs));
    }

    /** A poller that began on our way of switching goes on by the JDK's in any case; here it began by that too. */
    @Test
    void aSchedulerThatSwitchesByTheJdkCloses() {
        done(new ChildJvm(Main.class).with("-Dgmp.lockrank=true", "-Dgmp.mount=jdk").run("Closes", "2"));
    }

    @Test
    void thePollersRunOnOurPs() {
        assertEquals("here\ndone\n", new ChildJvm(Main.class).run("Where", "2").out());
    }

    /** As with a JDK whose pollers we do not know: they are the JDK's, and all works. */
    @Test
    void leftToTheJdk() {
        String jdk = "-Dgmp.pollers=jdk";
        assertEquals("not here\ndone\n", new ChildJvm(Main.class).with(jdk).run("Where", "2").out());
        done(new ChildJvm(Main.class).with(jdk, "-Dgmp.lockrank=true").run("Closes", "2"));
    }

    /** The JDK's own option for platform threads that poll. */
    @Test
    void pollersThatAreNoVirtualThreads() {
        String jdk = "-Djdk.pollerMode=1";
        assertEquals("not here\ndone\n", new ChildJvm(Main.class).with(jdk).run("Where", "2").out());
        done(new ChildJvm(Main.class).with(jdk, "-Dgmp.lockrank=true").run("Closes", "2"));
    }

    @Test
    void inABubble() {
        done(new ChildJvm(Main.class).with("-Dgmp.lockrank=true").run("Bubble", "2"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "2"})
    void hogsDoNotKeepSocketsWaiting(String procs) {
        done(new ChildJvm(Main.class).with("-Dgmp.lockrank=true").run("Hogs", procs));
    }

    // In this JVM, threads with a poller's name stand in for pollers

    private static Thread startPoller(Runnable body) {
        return Thread.ofVirtual().name("SubPoller-test").start(body);
    }

    private static void yieldUntil(AtomicBoolean stop) {
        while (!stop.get()) {
            for (long end = System.nanoTime() + 1_000_000; System.nanoTime() < end; ) { // Seldom seen between two turns.
                Thread.onSpinWait();
            }
            Thread.yield();
        }
    }

    /** Sockets that are busy all the time keep a poller runnable all the time: it is caught when it yields. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void pollersThatNeverParkLeave(int procs) throws InterruptedException {
        AtomicBoolean stop = new AtomicBoolean();
        TestGmp gmp = TestGmp.procs(procs);
        List<Thread> pollers = gmp.call(() -> {
            List<Thread> started = Stream.generate(() -> startPoller(() -> yieldUntil(stop))).limit(4).toList();
            assertEquals(1, Go.numGoroutine());
            return started;
        });
        try {
            String dump = gmp.gmp.dump();
            assertFalse(dump.contains("yieldUntil"), dump);
            gmp.check();
            assertEquals("", gmp.gmp.close(Duration.ofSeconds(20)));
        } finally {
            stop.set(true);
            gmp.close();
        }
        for (Thread poller : pollers) {
            poller.join(); // Some only now: who yields on the JDK's scheduler may keep others from ever running there.
        }
    }

    /** Wakes a poller that parks, answer for question, while its scheduler closes, at another moment each time. */
    @Test
    void noWakeUpIsLostWhenAPollerLeaves() throws InterruptedException {
        int questions = 100;
        for (int round = 0; round < 200; round++) {
            TestGmp gmp = TestGmp.procs(1 + round % 3);
            AtomicInteger asked = new AtomicInteger();
            AtomicInteger answered = new AtomicInteger();
            Thread poller = gmp.call(() -> startPoller(() -> {
                while (answered.get() < questions) {
                    while (asked.get() == answered.get()) {
                        LockSupport.park();
                    }
                    int unused = answered.incrementAndGet();
                }
            }));
            Thread user = Thread.ofPlatform().start(() -> {
                for (int i = 1; i <= questions; i++) {
                    asked.set(i);
                    LockSupport.unpark(poller);
                    while (answered.get() < i) {
                        Thread.yield();
                    }
                }
            });
            int unused = gmp.gmp.setProcs(1); // Perhaps away from under the poller.
            Thread second = Thread.ofPlatform().unstarted(gmp.gmp::close);
            while (answered.get() < round % 50) {
                Thread.yield();
            }
            if (round % 2 == 0) {
                second.start();
            }
            gmp.close();
            gmp.gmp.close();
            second.join();
            user.join();
            poller.join();
        }
    }

    /** A poller that fails is gone, and counted neither before nor after. */
    @Test
    void aPollerEnds() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                for (int i = 0; i < 10; i++) {
                    try {
                        startPoller(() -> { }).join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    assertEquals(1, Go.numGoroutine());
                }
            });
            gmp.check();
        }
    }

    /** One that ends while {@code close} waits for it; until then close keeps to its limit and says what it waits for. */
    @Test
    void closeDoesNotWaitForEverForAPoller() throws InterruptedException {
        AtomicBoolean running = new AtomicBoolean();
        AtomicBoolean stop = new AtomicBoolean();
        try (TestGmp gmp = TestGmp.procs(1)) {
            Thread unused = gmp.call(() -> startPoller(() -> {
                running.set(true);
                while (!stop.get()) {
                    Thread.onSpinWait();
                }
            }));
            while (!running.get()) {
                Thread.yield();
            }
            String left = gmp.gmp.close(Duration.ofMillis(1));
            assertTrue(left.contains("SocketPollersTest"), left);
            Thread closes = Thread.ofPlatform().start(gmp.gmp::close);
            stop.set(true);
            closes.join();
        }
    }

    private static void done(ChildJvm.Result r) {
        assertEquals("done\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
