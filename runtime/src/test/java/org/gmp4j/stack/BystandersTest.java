// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.ref.Reference;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.util.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import jdk.internal.vm.ThreadContainer;
import jdk.internal.vm.ThreadContainers;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.metrics.Dashboard;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** {@link Bystanders}: each thing that counts is found while it is there; what the JVM and the runtime need for themselves is not. */
class BystandersTest {
    /** Whose main thread does not count: it waits for a goroutine, which looks. */
    static final class Program {
        private static final Bystanders LOOK = new Bystanders();
        /** So many looks are enough for a thread that ends, on any machine. */
        private static final int MOST_LOOKS = 5_000;

        private Program() {
        }

        /** Each line: what there is, and what was found. */
        private static void found(String what) {
            System.out.println(what + ": " + String.valueOf(LOOK.any()).replaceAll("#[0-9]+|[$/@]\\S*", "N")
                    .replaceAll(" \\(pid [0-9]+\\)", "")); // A thread that waits for a process has its number once it runs.
        }

        private static void none() {
            for (int looks = 0; LOOK.any() != null; looks++) {
                if (looks == MOST_LOOKS) {
                    found("still there");
                    return;
                }
                LockSupport.parkNanos(1_000_000);
            }
        }

        public static void main(String[] args) throws IOException {
            Gmp gmp = Gmp.builder().procs(2).build();
            Dashboard _ = Dashboard.start(0); // Its threads are the runtime's.
            Runtime.getRuntime().addShutdownHook(new Thread(Program::atTheEnd, "JFR hook")); // Named as one of the JDK's.
            gmp.run(() -> {
                Go.lockOSThread();
                try {
                    lookMore();
                    look();
                } catch (IOException | InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
        }

        /** All that is not daemons has ended, but for hooks. Without the threads of asynchronous channels, which stay. */
        private static void atTheEnd() {
            Thread[] all = Thread.getAllStackTraces().keySet().stream().filter(t -> !t.getName().startsWith("Innocuous"))
                    .toArray(Thread[]::new);
            Thread found = Bystanders.counting(all);
            System.out.println("at the end: " + (found == null ? null : found.getName()));
        }

        private interface Maker {
            /** A thread that was started to run {@code body}. */
            Thread start(Runnable body) throws InterruptedException;
        }

        /** A thread that waits is found until it ends. */
        private static Thread held(String what, Maker maker) throws InterruptedException {
            CountDownLatch end = new CountDownLatch(1);
            Thread t = maker.start(() -> {
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            found(what);
            end.countDown();
            t.join();
            none();
            return t;
        }

        /** As a callback that a thread of the runtime's runs may do. */
        private static Thread startByOwn(Runnable body) throws InterruptedException {
            Thread[] made = new Thread[1];
            Thread own = new OwnThread(() -> {
                made[0] = new Thread(body, "by a callback");
                made[0].start();
            }, "own");
            own.start();
            own.join();
            return made[0];
        }

        /** A container that has no thread, and makes one when it is asked. */
        private static final class Restless extends ThreadContainer {
            Restless() {
                super(true);
            }

            @Override
            public Stream<Thread> threads() {
                Thread _ = new Thread(() -> { });
                return Stream.empty();
            }
        }

        private static void lookMore() throws InterruptedException {
            Thread ended = held("callback", Program::startByOwn);
            System.out.println("ended since it was listed: " + (Bystanders.counting(new Thread[] {ended}) == ended));
            Thread _ = held("events", Thread.ofPlatform().daemon().name("JFR Event Stream 1")::start);
            Thread _ = held("objects", Thread.ofPlatform().group(OwnThread.root()).daemon(false).name("RMI Reaper")::start);
            Thread _ = held("kept alive by main", Thread.ofPlatform().daemon().name("DestroyJavaVM")::start);
            ThreadContainer restless = new Restless();
            Object key = ThreadContainers.registerContainer(restless);
            found("made meanwhile");
            ThreadContainers.deregisterContainer(key);
            Reference.reachabilityFence(restless);
            none();
        }

        private static void look() throws IOException, InterruptedException {
            none(); // The main thread waits by now; the JVM's and the runtime's own threads do not count.
            CountDownLatch end = new CountDownLatch(1);
            Runnable wait = () -> {
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            };
            Thread daemon = Thread.ofPlatform().daemon().name("daemon").start(wait);
            found("daemon");
            end.countDown();
            daemon.join();
            none();

            for (int i = 0; i < 20; i++) { // An idle thread is handed the next process. It has not woken when the search comes.
                Process cat = new ProcessBuilder("cat").start();
                if (i == 0 || LOOK.any() == null) {
                    found("process");
                }
                cat.getOutputStream().close();
                int _ = cat.waitFor();
                none(); // The thread that waited for it lives for a minute.
            }

            Timer timer = new Timer("timer", true);
            found("timer");
            timer.cancel();
            none();

            virtual();

            Thread hook = new Thread(() -> { }, "hook");
            Runtime.getRuntime().addShutdownHook(hook);
            found("hook");
            boolean _ = Runtime.getRuntime().removeShutdownHook(hook);
            none(); // The JVM's own handlers of TERM, INT and HUP do not count.
            Object jvms = handle(null);
            found("handler");
            Object _ = handle(jvms);
            none();

            try (AsynchronousServerSocketChannel c = AsynchronousServerSocketChannel.open()) {
                AsynchronousServerSocketChannel _ = c.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                var _ = c.accept();
                found("channel");
            }
        }

        /** {@code sun.misc.Signal.handle} of TERM; with null, of a handler that does nothing. Reflective: javac warns of the class. */
        private static Object handle(@Nullable Object handler) {
            try {
                Class<?> signal = Class.forName("sun.misc.Signal");
                Class<?> type = Class.forName("sun.misc.SignalHandler");
                Object ours = handler != null ? handler
                        : Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (_, _, _) -> null);
                return signal.getMethod("handle", signal, type).invoke(null, signal.getConstructor(String.class).newInstance("TERM"), ours);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        /** Threads of the JDK's scheduler, which a thread that is no goroutine starts: one by one, and by an executor. */
        private static void virtual() throws InterruptedException {
            CountDownLatch end = new CountDownLatch(1);
            CountDownLatch started = new CountDownLatch(1);
            Thread[] started1 = new Thread[1];
            ExecutorService[] executor = new ExecutorService[1];
            Thread outside = Thread.ofPlatform().start(() -> started1[0] = Thread.ofVirtual().name("virtual").start(() -> {
                started.countDown();
                LockSupport.park();
            }));
            outside.join();
            started.await();
            while (started1[0].getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            found("virtual");
            LockSupport.unpark(started1[0]);
            started1[0].join();
            none(); // Its carrier does not count.
            Thread second = Thread.ofPlatform().start(() -> {
                executor[0] = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("task").factory());
                var _ = CompletableFuture.runAsync(() -> {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }, executor[0]);
            });
            second.join();
            found("executor");
            end.countDown();
            executor[0].close();
            none();
        }
    }

    @Test
    void threads() {
        Result r = new ChildJvm(Program.class).run();
        assertEquals("""
                callback: thread "by a callback" (N)
                ended since it was listed: true
                events: thread "JFR Event Stream 1" (N)
                objects: thread "RMI Reaper" (N)
                kept alive by main: null
                made meanwhile: a thread that was just made
                daemon: thread "daemon" (N)
                process: thread "process reaper" (N)
                timer: thread "timer" (N)
                virtual: virtual thread "virtual" (N)
                executor: virtual thread "task" (N)
                hook: shutdown hook "hook"
                handler: signal handler sun.misc.SignalN
                channel: thread "InnocuousThread-1" (N)
                at the end: DestroyJavaVM
                """, r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
