// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.affinity.Affinity;
import org.gmp4j.agent.Points;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.ffi.Signals;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.PreemptSignal;
import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.Test;

/** Several copies of gmp4j in a process, one for each class loader, and class loaders that go. */
class CopiesTest {
    /** What each copy is to do; called by reflection. */
    public static final class Work implements Runnable {
        static long mp;

        @Override
        public void run() {
            try (Gmp gmp = Gmp.builder().procs(1).quantum(Duration.ofMillis(1)).affinity(Affinity.compact()).build()) {
                gmp.run(() -> {
                    AtomicBoolean ran = new AtomicBoolean();
                    Go.go(() -> ran.set(true));
                    while (!ran.get()) { // Only a signal helps.
                        Thread.onSpinWait();
                    }
                    if (PreemptSignal.signal() != Signals.SIGURG) {
                        System.out.println("another signal: " + PreemptSignal.signal());
                    }
                    Go.gosched(); // It was told to yield, and would at the next call.
                    AtomicBoolean ranToo = new AtomicBoolean();
                    Go.go(() -> ranToo.set(true));
                    while (!ranToo.get()) {
                        Preempt.point(); // Told to yield, it says that no other point need be reached.
                    }
                    if (org.gmp4j.ffi.Affinity.get(0).cardinality() != 1) {
                        System.out.println("not placed");
                    }
                    try {
                        Thread.ofPlatform().start(Work::look).join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    mp = Machine.current().mp;
                });
            }
            Signals.queue(OsThread.gettid(), Signals.SIGURG, mp); // As if it came late.
        }

        private static void look() {
            if (org.gmp4j.ffi.Affinity.get(0).cardinality() == 1 && Runtime.getRuntime().availableProcessors() > 1) {
                System.out.println("a thread is placed");
            }
        }
    }

    static final class Program {
        private static final int COPIES = 6;
        private static final int CLEANINGS = 20;

        private Program() {
        }

        private static URLClassLoader copy() {
            List<URL> path = new ArrayList<>();
            for (String entry : System.getProperty("java.class.path").split(":")) {
                try {
                    path.add(Path.of(entry).toUri().toURL());
                } catch (MalformedURLException e) {
                    throw new UncheckedIOException(e);
                }
            }
            return new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
        }

        private static void work(ClassLoader copy) throws ReflectiveOperationException {
            Class<?> work = Class.forName(Work.class.getName(), true, copy);
            ((Runnable) work.getConstructor().newInstance()).run();
        }

        private static WeakReference<ClassLoader> workAndGo() throws ReflectiveOperationException, IOException {
            try (URLClassLoader copy = copy()) {
                work(copy);
                return new WeakReference<>(copy);
            }
        }

        public static void main(String[] args) throws Exception {
            switch (args[0]) {
                case "together" -> {
                    new Work().run();
                    try (URLClassLoader copy = copy()) {
                        work(copy);
                        new Work().run();
                        work(copy);
                    }
                }
                case "atOnce" -> {
                    CyclicBarrier all = new CyclicBarrier(COPIES);
                    List<Future<?>> copies = new ArrayList<>();
                    try (ExecutorService threads = Executors.newFixedThreadPool(COPIES)) {
                        for (int i = 0; i < COPIES; i++) {
                            copies.add(threads.submit(() -> {
                                try (URLClassLoader copy = copy()) {
                                    all.await();
                                    work(copy);
                                }
                                return null;
                            }));
                        }
                    }
                    for (Future<?> copy : copies) {
                        copy.get();
                    }
                }
                case "unloaded" -> {
                    WeakReference<ClassLoader> first = workAndGo();
                    Signals.queue(OsThread.gettid(), Signals.SIGURG, 0); // Our own library is there, and so not in the other's place.
                    while (first.get() != null) {
                        System.gc();
                        Thread.sleep(1);
                    }
                    for (int i = 0; i < CLEANINGS; i++) { // What has gone is cleaned up after by a thread of the JDK's.
                        System.gc();
                        Thread.sleep(5);
                    }
                    Signals.queue(OsThread.gettid(), Signals.SIGURG, 0); // Its handler is asked.
                    Thread.ofPlatform().start(() -> { }).join(); // Its start0.
                    new Work().run();
                }
                case "points" -> {
                    try (InputStream in = CopiesTest.class.getResourceAsStream("CopiesTest$Program.class")) {
                        byte[] _ = Points.addTo(in.readAllBytes());
                    }
                    try (URLClassLoader copy = copy()) {
                        work(copy);
                    }
                    new Work().run();
                }
                default -> throw new IllegalArgumentException(args[0]);
            }
            System.out.println("done");
        }
    }

    private static void program(String what, String err) {
        ChildJvm.Result r = new ChildJvm(Program.class).run(what);
        assertEquals("done\n", r.out(), r::toString);
        assertEquals(err, r.err(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** One handler and one start0 serve both. */
    @Test
    void together() {
        program("together", "");
    }

    /** One of them defines the classes inside of the JDK; the others find all of them. They may choose several signals. */
    @Test
    void atOnce() {
        ChildJvm.Result r = new ChildJvm(Program.class).run("atOnce");
        assertTrue(r.out().endsWith("done\n"), r::toString);
        assertTrue(r.out().lines().allMatch(l -> l.equals("done") || l.startsWith("another signal: ")), r::toString);
        assertEquals("", r.err(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** What was bound to the first copy's C code outlives its class loader. */
    @Test
    void unloaded() {
        program("unloaded", "");
    }

    /** The second copy leaves the first its points, and says so. */
    @Test
    void pointsOfAnother() {
        program("points", "gmp4j: the preemption points of this JVM belong to another copy of gmp4j; goroutines of this copy are"
                + " preempted only by having their P taken: load gmp4j once, in a class loader that all share\n");
    }
}
