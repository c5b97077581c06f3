// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkPollers;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.synctest.Synctest;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The change from the JDK's socket pollers to those of the schedulers, and life with both. It happens once in a JVM, so each
 * program has one of its own.
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
                case "Threads" -> threads(procs);
                case "Before" -> before();
                case "Retry" -> retry(procs);
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
         * The first scheduler closes while goroutines of another, and virtual threads of the JDK's, use sockets; those go on, and so
         * do many schedulers after it.
         */
        private static void closes(int procs) throws InterruptedException {
            AtomicBoolean stop = new AtomicBoolean();
            CountDownLatch begun = new CountDownLatch(2);
            TestGmp first = TestGmp.procs(procs);
            first.run(() -> {
                pingPong(10);
                assertEquals(1, Go.numGoroutine());
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

        /** Prints which thread wakes a goroutine that waits for a socket. */
        private static void where(int procs) throws InterruptedException {
            try (TestGmp gmp = TestGmp.procs(procs)) {
                gmp.run(() -> pingPong(10));
                System.out.println(ours(gmp) ? "ours" : "the JDK's");
            }
        }

        /** Whether they are ours; they are not at once. */
        private static boolean ours(TestGmp gmp) throws InterruptedException {
            for (Thread t : Thread.getAllStackTraces().keySet()) {
                if (t.getName().equals("gmp-sockets")) {
                    t.join();
                }
            }
            Scheduler s = gmp.scheduler();
            try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
                CountDownLatch done = new CountDownLatch(1);
                gmp.go(() -> {
                    try (Socket s1 = server.accept()) {
                        assertTrue(s1.isBound());
                        done.countDown();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
                boolean waits = false;
                for (int i = 0; i < 20 && !waits; i++) {
                    TestGmp other = TestGmp.procs(1); // Waits as long as one needs to wait.
                    other.run(() -> pingPong(ROUNDS));
                    other.close();
                    waits = s.netpoll().anyWaiters(s);
                }
                try (Socket s2 = new Socket(server.getInetAddress(), server.getLocalPort())) {
                    assertTrue(s2.isBound());
                    done.await();
                }
                return waits;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Prints how much time, in nanoseconds, the JDK's pollers take for some connections at work. */
        private static void threads(int procs) throws InterruptedException {
            try (TestGmp gmp = TestGmp.procs(procs)) {
                gmp.run(() -> pingPong(1));
                System.out.println(ours(gmp) ? "ours" : "the JDK's");
                long before = pollersTime();
                gmp.run(() -> {
                    WaitGroup wg = new WaitGroup();
                    for (int i = 0; i < 10; i++) {
                        wg.go(() -> pingPong(ROUNDS));
                    }
                    wg.await();
                });
                System.out.println(pollersTime() - before);
            }
        }

        private static long pollersTime() {
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            return Thread.getAllStackTraces().keySet().stream().filter(t -> t.getName().contains("Poller"))
                    .mapToLong(t -> threads.getThreadCpuTime(t.threadId())).sum();
        }

        private static void exchange(ServerSocket server) {
            try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                for (int i = 0; i < 5; i++) {
                    s.getOutputStream().write(i);
                    assertEquals(i + 1, s.getInputStream().read());
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static void before() throws InterruptedException, IOException {
            ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
            ServerSocket closed = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
            Thread accepts = Thread.ofVirtual().start(() -> echo(server));
            AtomicBoolean failed = new AtomicBoolean();
            Thread fails = Thread.ofVirtual().start(() -> {
                try (Socket s = closed.accept()) {
                    failed.set(s.isClosed());
                } catch (IOException e) {
                    failed.set(true);
                }
            });
            while (accepts.getState() != Thread.State.WAITING || fails.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            try (TestGmp gmp = TestGmp.procs(1)) {
                gmp.run(() -> pingPong(10));
                assertTrue(ours(gmp));
            }
            closed.close();
            fails.join();
            assertTrue(failed.get());
            exchange(server);
            accepts.join();
            server.close();
        }

        /** There is no memory for the change at first. */
        private static void retry(int procs) throws InterruptedException {
            try (TestGmp gmp = TestGmp.procs(procs)) {
                AtomicInteger tries = new AtomicInteger();
                JdkPollers.Waits waits = JdkPollers.waits();
                JdkPollers.use(new JdkPollers.Waits() {
                    @Override
                    public boolean register(int fd, boolean write) throws IOException {
                        return waits.register(fd, write);
                    }

                    @Override
                    public boolean deregister(int fd, boolean write) {
                        return waits.deregister(fd, write);
                    }

                    @Override
                    public void rehearse() {
                        if (tries.getAndIncrement() == 0) {
                            throw new OutOfMemoryError("as if there were none");
                        }
                        waits.rehearse();
                    }
                });
                gmp.run(() -> pingPong(10));
                while (tries.get() == 0) { // Sysmon sees the first wait at its next scan.
                    Thread.onSpinWait();
                }
                System.out.println(ours(gmp) ? "ours" : "the JDK's");
                System.out.println(tries);
            }
        }

        /** The first to wait for a socket is in a bubble, whose clock goes on. */
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

    @Test
    void aSchedulerThatSwitchesByTheJdkCloses() {
        done(new ChildJvm(Main.class).with("-Dgmp.lockrank=true", "-Dgmp.mount=jdk").run("Closes", "2"));
    }

    @Test
    void theSchedulerPolls() {
        assertEquals("ours\ndone\n", new ChildJvm(Main.class).run("Where", "2").out());
    }

    /** By option: they are the JDK's, and all works. */
    @Test
    void leftToTheJdk() {
        String jdk = "-Dgmp.pollers=jdk";
        assertEquals("the JDK's\ndone\n", new ChildJvm(Main.class).with(jdk).run("Where", "2").out());
        done(new ChildJvm(Main.class).with(jdk, "-Dgmp.lockrank=true").run("Closes", "2"));
    }

    /** A JDK that is not the one we know: a line says so, once, and sockets work as its threads make them. */
    @Test
    void anUnknownJdk() {
        ChildJvm.Result r = new ChildJvm(Main.class).with("-Dgmp.pollers=unknown").run("Where", "2");
        assertEquals("the JDK's\ndone\n", r.out(), r::toString);
        assertTrue(r.err().matches("gmp4j does not know the socket pollers of this build of the JDK [^\n]*\n"), r::toString);
    }

    /** The change is tried again while there is no memory for it. */
    @Test
    void withoutMemoryAtFirst() {
        ChildJvm.Result r = new ChildJvm(Main.class).run("Retry", "2");
        assertEquals("ours\n2\ndone\n", r.out(), r::toString);
    }

    /** The JDK's own option for platform threads that poll. */
    @Test
    void pollersThatAreNoVirtualThreads() {
        String jdk = "-Djdk.pollerMode=1";
        assertEquals("ours\ndone\n", new ChildJvm(Main.class).with(jdk).run("Where", "2").out());
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

    /** The JDK's pollers have nothing to do, in a busy server too; the Ms do it. */
    @Test
    void noPollerIsAtWork() {
        assertEquals("ours\n0\ndone\n", new ChildJvm(Main.class).run("Threads", "2").out());
    }

    /** Sockets waited for by the JDK's threads before there was a scheduler: they can still be closed, and become ready. */
    @Test
    void waitsOfBefore() {
        done(new ChildJvm(Main.class).run("Before", "1"));
    }

    private static void done(ChildJvm.Result r) {
        assertEquals("done\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
