// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.security.ProtectionDomain;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.metrics.GoroutineProfile.Group;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Whose a virtual thread is: its name, the place where it was started, its task. */
class VirtualThreadsTest {
    private static final String HERE = VirtualThreadsTest.class.getName();

    private final Semaphore end = new Semaphore(0);

    private final class Order implements Callable<Integer> {
        @Override
        public Integer call() throws InterruptedException {
            end.acquire();
            return 0;
        }
    }

    private final class Loop implements Runnable {
        private final CountDownLatch begun;

        Loop(CountDownLatch begun) {
            this.begun = begun;
        }

        @Override
        public void run() {
            begun.countDown();
            end.acquireUninterruptibly();
        }
    }

    private static void awaitWaiting(TestGmp g, long n) {
        Scheduler s = g.scheduler();
        while (!Traceback.states(s).equals(Map.of("park (Semaphore)", n))) { // The goroutine of run has ended, too.
            Thread.yield();
        }
    }

    /** Five threads of one place, of which three are named; one that a goroutine starts; one of an executor of the JDK's. */
    @Test
    void namesAndSites() {
        for (boolean sites : new boolean[] {false, true}) {
            try (TestGmp g = TestGmp.with(b -> b.procs(2).debug(sites ? "createsites=1" : ""));
                    ExecutorService executor = Executors.newThreadPerTaskExecutor(g.gmp.threadFactory())) {
                CountDownLatch begun = new CountDownLatch(5);
                for (int i = 0; i < 5; i++) {
                    Thread t = g.gmp.threadFactory().newThread(new Loop(begun));
                    t.setName("orders-" + i);
                    t.start();
                }
                g.run(() -> Thread.ofVirtual().name("inner").start(() -> end.acquireUninterruptibly()));
                var _ = executor.submit(new Order());
                try {
                    awaitWaiting(g, 7);
                    check(g, sites);
                } finally {
                    end.release(7);
                }
            }
        }
    }

    /** An executor as libraries have them: it wraps each task in the same lambda, and a helper starts the thread. */
    private record Pool(ThreadFactory threads) implements Executor {
        @Override
        public void execute(Runnable task) {
            submit(task);
        }

        private void submit(Runnable task) {
            Helper.start(threads, () -> task.run());
        }
    }

    /** A class beside it. */
    private static final class Helper {
        static void start(ThreadFactory threads, Runnable task) {
            threads.newThread(task).start();
        }
    }

    private void first(Executor executor) {
        executor.execute(() -> end.acquireUninterruptibly());
    }

    private void second(Executor executor) {
        executor.execute(() -> end.acquireUninterruptibly());
    }

    private void third(ThreadFactory threads) {
        Helper.start(threads, () -> end.acquireUninterruptibly());
    }

    /** The place of a thread that a library's executor starts is the frame that called the executor, or the first frame without one. */
    @Test
    void theCallerOfAnExecutor() {
        try (TestGmp g = TestGmp.with(b -> b.procs(2).debug("createsites=1"))) {
            Pool pool = new Pool(g.gmp.threadFactory());
            first(pool);
            second(pool);
            first(pool);
            third(g.gmp.threadFactory());
            try {
                awaitWaiting(g, 4);
                assertEquals(List.of(HERE + "$Helper.start 1", HERE + ".first 2", HERE + ".second 1"), g.gmp.goroutines().groups().stream()
                        .map(x -> x.site().replaceFirst(" .*", "") + " " + x.count()).sorted().toList());
            } finally {
                end.release(4);
            }
        }
    }

    /** An executor that runs each task on the calling thread. */
    public static final class Inline implements Executor {
        @Override
        public void execute(Runnable task) {
            task.run();
        }
    }

    /** Returns an {@link Inline} whose class is in a jar of its own, as a library's. */
    private static Executor ofLibrary() throws IOException, ReflectiveOperationException {
        byte[] bytes;
        try (InputStream in = VirtualThreadsTest.class.getResourceAsStream("VirtualThreadsTest$Inline.class")) {
            bytes = in.readAllBytes();
        }
        ClassLoader library = new ClassLoader(null) {
            @Override
            protected Class<?> findClass(String name) {
                return defineClass(name, bytes, 0, bytes.length, new ProtectionDomain(null, null));
            }
        };
        return (Executor) library.loadClass(Inline.class.getName()).getConstructor().newInstance();
    }

    private void fourth(ThreadFactory threads) {
        threads.newThread(end::acquireUninterruptibly).start();
    }

    /** A task of the program's that a library's executor runs on the calling thread starts its threads itself. */
    @Test
    void aTaskOnTheCallingThread() throws IOException, ReflectiveOperationException {
        Executor inline = ofLibrary();
        try (TestGmp g = TestGmp.with(b -> b.procs(2).debug("createsites=1"))) {
            Runnable task = new Runnable() {
                @Override
                public void run() {
                    fourth(g.gmp.threadFactory());
                }
            };
            inline.execute(task);
            try {
                awaitWaiting(g, 1);
                assertEquals(List.of(HERE + ".fourth"), g.gmp.goroutines().groups().stream()
                        .map(x -> x.site().replaceFirst(" .*", "")).toList());
            } finally {
                end.release();
            }
        }
    }

    /** A name with line breaks and quotes is no other line of a report, and no control sequence of a terminal. */
    @Test
    void aNameIsOneLine() {
        String forged = "a\n\ngoroutine 7 [running]:\r\t\"b\u009b31m\u2028\u001b";
        try (TestGmp g = TestGmp.procs(1)) {
            Thread t = g.gmp.threadFactory().newThread(() -> end.acquireUninterruptibly());
            t.setName(forged);
            t.start();
            try {
                awaitWaiting(g, 1);
                String shown = " \"a??goroutine 7 [running]:??'b?31m??\"";
                assertTrue(g.gmp.dump().contains(shown + ", task "), g.gmp::dump);
                assertTrue(g.gmp.goroutines().toString().contains(shown + "\n"), () -> g.gmp.goroutines().toString());
                assertTrue(g.gmp.goroutines().groups().getFirst().threads().getFirst().endsWith(shown));
            } finally {
                end.release();
            }
        }
    }

    private static void check(TestGmp g, boolean sites) {
        List<Group> groups = g.gmp.goroutines().groups();
        Group loops = group(groups, "Loop");
        assertEquals(5, loops.count());
        assertEquals(3, loops.threads().size());
        assertTrue(loops.threads().getFirst().matches("#[0-9]+ \"orders-[0-4]\""), loops::toString);
        Group order = group(groups, "Order");
        assertTrue(order.threads().getFirst().matches("#[0-9]+"), order::toString);
        Group inner = group(groups, "$Lambda");
        assertTrue(inner.threads().getFirst().endsWith(" \"inner\""), inner::toString);
        for (Group one : groups) {
            assertEquals(sites, one.site().startsWith(HERE + "."), one::toString);
            assertEquals(LockSupport.class.getName(), one.frames().getFirst().getClassName(), one::toString); // Not the JDK's switch.
        }
        String text = g.gmp.goroutines().toString();
        assertTrue(text.contains(sites ? "\ncreated at " + HERE + "." : "\ntask " + HERE + "$Loop\n"), text);
        assertTrue(text.contains("\", \u2026\n") && text.contains("\tthread #"), text);
        String dump = g.gmp.dump();
        assertTrue(dump.contains(" \"orders-4\", task " + HERE + "$Loop\n"), dump);
        assertEquals(sites, dump.contains("created at " + HERE + "."), dump);
    }

    private static Group group(List<Group> groups, String task) {
        return groups.stream().filter(x -> x.function().contains(task)).findFirst().orElseThrow(() -> new AssertionError(groups));
    }
}
