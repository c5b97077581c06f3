// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.sched.GStack;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@link Thread}'s own API in a thread that is a goroutine: one of {@link Gmp#threadFactory}, one of the executor, or a
 * virtual thread that a goroutine started.
 */
class ThreadApiTest {
    private static final ScopedValue<String> SCOPED = ScopedValue.newInstance();

    /** Runs {@code body} in a goroutine and gives back what it threw. */
    private static void inGoroutine(int procs, Callable<?> body) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.gmp.call(body);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void identity(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            List<Thread> seen = new ArrayList<>();
            ThreadFactory factory = gmp.gmp.threadFactory();
            Thread t = factory.newThread(() -> {
                assertTrue(Go.inGoroutine());
                seen.add(Thread.currentThread());
                Go.gosched();
                seen.add(Thread.currentThread());
            });
            t.setName("named");
            assertEquals(Thread.State.NEW, t.getState());
            assertTrue(t.isVirtual() && t.isDaemon() && !t.isAlive());
            t.start();
            t.join();
            assertEquals(List.of(t, t), seen);
            assertEquals("named", t.getName());
            assertEquals(Thread.State.TERMINATED, t.getState());
            assertFalse(t.isAlive());
            assertThrows(IllegalThreadStateException.class, t::start);
            assertTrue(t.threadId() != factory.newThread(() -> { }).threadId());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void locals(int procs) throws Exception {
        ThreadLocal<String> local = ThreadLocal.withInitial(() -> "initial");
        InheritableThreadLocal<String> inheritable = new InheritableThreadLocal<>();
        inGoroutine(procs, () -> {
            local.set("parent's");
            inheritable.set("parent's");
            List<Object> seen = new ArrayList<>();
            Thread heir = Thread.ofVirtual().start(() -> {
                seen.addAll(List.of(local.get(), inheritable.get()));
                inheritable.set("child's");
                Thread.yield();
                seen.add(inheritable.get());
            });
            heir.join();
            Thread.ofVirtual().inheritInheritableThreadLocals(false).start(() -> seen.add(inheritable.get() == null)).join();
            assertEquals(List.of("initial", "parent's", "child's", true), seen);
            assertEquals("parent's", local.get());
            assertEquals("parent's", inheritable.get());
            return null;
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void scopedValues(int procs) throws Exception {
        inGoroutine(procs, () -> {
            ScopedValue.where(SCOPED, "outer").run(() -> {
                Go.gosched();
                assertEquals("outer", SCOPED.get());
                String inner = ScopedValue.where(SCOPED, "inner").call(() -> {
                    LockSupport.parkNanos(1_000);
                    return SCOPED.get();
                });
                assertEquals("inner", inner);
                Go.sleep(Duration.ofNanos(1_000));
                assertEquals("outer", SCOPED.get());
                boolean[] bound = {true};
                Chan<Boolean> done = Chan.make();
                Go.go(() -> { // Not inherited, as in any thread that is just started.
                    bound[0] = SCOPED.isBound();
                    done.close();
                });
                done.recv();
                assertFalse(bound[0]);
            });
            assertFalse(SCOPED.isBound());
            return null;
        });
    }

    /** A binding does not stay on a pooled stack when its goroutine ends inside it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aScopedValueEndsWithItsGoroutine(int procs) throws Exception {
        inGoroutine(procs, () -> {
            for (int i = 0; i < 100; i++) {
                Chan<Boolean> bound = Chan.make();
                Go.go(() -> ScopedValue.where(SCOPED, "leak").run(Go::goexit));
                Go.go(() -> bound.send(SCOPED.isBound()));
                assertFalse(bound.recv());
            }
            return null;
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void uncaughtHandlers(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            LinkedBlockingQueue<Object> told = new LinkedBlockingQueue<>();
            RuntimeException thrown = new RuntimeException("uncaught");
            Thread own = gmp.gmp.threadFactory().newThread(() -> {
                throw thrown;
            });
            own.setUncaughtExceptionHandler((t, e) -> told.addAll(List.of(t, e)));
            own.start();
            own.join();
            assertSame(own, told.take());
            assertSame(thrown, told.take());

            Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
            try {
                Thread.setDefaultUncaughtExceptionHandler((t, e) -> told.addAll(List.of(t, e)));
                Thread without = gmp.call(() -> Thread.ofVirtual().start(() -> {
                    throw thrown;
                }));
                without.join();
                assertSame(without, told.take());
                assertSame(thrown, told.take());
            } finally {
                Thread.setDefaultUncaughtExceptionHandler(before);
            }
        }
    }

    /**
     * Threads stand in the same queues as all goroutines, by the same rules: what starts or is unparked last runs next, the others in
     * their order, and {@code Thread.yield} goes behind everybody. The JDK's scheduler keeps the order of starts, and lets one
     * that yields go on before what plain threads have started.
     */
    @Test
    void order() throws Exception {
        boolean undisturbed = false;
        for (int i = 0; i < 100 && !undisturbed; i++) { // A thread that sleeps in the kernel loses its P, and then nothing is promised.
            undisturbed = orderUndisturbed();
        }
        assertTrue(undisturbed);
    }

    private static boolean orderUndisturbed() throws Exception {
        List<String> ran = new ArrayList<>();
        long taken;
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)))) {
            ThreadFactory factory = gmp.gmp.threadFactory();
            AtomicBoolean queue = new AtomicBoolean();
            AtomicBoolean queued = new AtomicBoolean();
            Thread outside = new Thread(() -> {
                while (!queue.get()) {
                    Thread.onSpinWait();
                }
                factory.newThread(() -> ran.add("outside")).start();
                queued.set(true);
            });
            outside.start(); // Not in there: a thread that starts another waits for it in the kernel, and may lose the P.
            Thread first = factory.newThread(() -> {
                List<Thread> started = new ArrayList<>();
                for (String name : List.of("a", "b", "c")) {
                    Thread t = factory.newThread(() -> {
                        ran.add(name);
                        LockSupport.park();
                        ran.add(name);
                    });
                    t.start();
                    started.add(t);
                }
                queue.set(true);
                while (!queued.get()) {
                    Thread.onSpinWait(); // It keeps the P.
                }
                ran.add("first");
                Thread.yield();
                ran.add("first");
                started.forEach(LockSupport::unpark);
                Thread.yield();
                ran.add("first");
                started.forEach(ThreadApiTest::join);
            });
            first.start();
            first.join();
            taken = gmp.gmp.call(() -> GStack.current().scheduler().signals().taken());
        }
        if (taken != 0) {
            return false;
        }
        assertEquals(List.of("first", "c", "a", "b", "outside", "first", "c", "a", "b", "first"), ran);
        return true;
    }

    private static void join(Thread t) {
        try {
            t.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Joined by a goroutine, by a plain thread, and by one that has no patience. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void joins(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            Chan<Integer> go = Chan.make();
            Thread waits = gmp.gmp.threadFactory().newThread(go::recv);
            waits.start();
            assertFalse(waits.join(Duration.ofMillis(1)));
            Future<Boolean> joiner = gmp.gmp.newThreadPerTaskExecutor().submit(() -> {
                waits.join();
                return waits.isAlive();
            });
            go.send(1);
            assertFalse(joiner.get());
            waits.join();
            assertTrue(waits.join(Duration.ZERO));
        }
    }

    private interface Waits {
        void await() throws InterruptedException;
    }

    /** What an interrupt ends in the JDK it ends in a goroutine, before the wait and during it; the status is cleared. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void interrupts(int procs) throws Exception {
        Object monitor = new Object();
        List<Waits> waits = List.of(() -> Thread.sleep(Duration.ofHours(1)), () -> new LinkedBlockingQueue<>().take(), () -> {
            synchronized (monitor) {
                monitor.wait();
            }
        }, () -> TimeUnit.HOURS.sleep(1), () -> {
            Thread.currentThread().join();
        });
        try (TestGmp gmp = TestGmp.procs(procs)) {
            for (Waits w : waits) {
                for (boolean before : new boolean[] {true, false}) {
                    interrupted(gmp, w, before);
                }
            }
        }
    }

    private static void interrupted(TestGmp gmp, Waits wait, boolean before) throws InterruptedException {
        LinkedBlockingQueue<Object> end = new LinkedBlockingQueue<>();
        Thread t = gmp.gmp.threadFactory().newThread(() -> {
            if (before) {
                Thread.currentThread().interrupt();
            }
            try {
                wait.await();
                end.add("was not interrupted");
            } catch (InterruptedException e) {
                end.add(Thread.currentThread().isInterrupted());
            }
        });
        t.start();
        if (!before) {
            while (t.getState() != Thread.State.WAITING && t.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            t.interrupt();
        }
        assertEquals(false, end.take());
        t.join();
    }

    /** {@code park} returns when interrupted and leaves the status; an unpark before it starts counts for nothing. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void parks(int procs) throws Exception {
        inGoroutine(procs, () -> {
            Thread.currentThread().interrupt();
            LockSupport.park();
            assertTrue(Thread.interrupted());
            Object blocker = new Object();
            Thread t = Thread.ofVirtual().start(() -> LockSupport.park(blocker));
            while (LockSupport.getBlocker(t) == null) {
                Thread.yield();
            }
            assertSame(blocker, LockSupport.getBlocker(t));
            LockSupport.unpark(t);
            t.join();
            assertNull(LockSupport.getBlocker(t));
            LockSupport.parkUntil(System.currentTimeMillis() + 1);
            LockSupport.parkNanos(0);
            return null;
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void executor(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            ExecutorService pool = gmp.gmp.newThreadPerTaskExecutor();
            List<Callable<Integer>> tasks = List.of(() -> 1, () -> {
                Thread.sleep(1);
                return 2;
            }, () -> {
                Go.gosched();
                return 3;
            });
            int sum = 0;
            for (Future<Integer> f : pool.invokeAll(tasks)) {
                sum += f.get();
            }
            assertEquals(6, sum);
            int first = pool.invokeAny(List.of(() -> 1, () -> {
                Thread.sleep(Duration.ofHours(1));
                return 2;
            }));
            assertEquals(1, first);
            ExecutorCompletionService<Integer> done = new ExecutorCompletionService<>(pool);
            Chan<Integer> c = Chan.make();
            done.submit(c::recv);
            done.submit(() -> 8);
            assertEquals(8, done.take().get());
            c.send(7);
            assertEquals(7, done.take().get());
            ArithmeticException thrown = new ArithmeticException();
            Future<?> fails = pool.submit(() -> {
                throw thrown;
            });
            assertSame(thrown, assertThrows(ExecutionException.class, fails::get).getCause());
            Future<?> endless = pool.submit(() -> {
                Thread.sleep(Duration.ofHours(1));
                return 0;
            });
            assertTrue(endless.cancel(true));
            pool.close(); // Waits for all, the cancelled one too: its interrupt ended it.
            assertThrows(RejectedExecutionException.class, () -> pool.submit(() -> 1));
        }
    }

    /** Those of a factory with a prefix are numbered; others have no names, like the JDK's. */
    @Test
    void names() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            ThreadFactory named = gmp.gmp.threadFactory("worker-");
            List<String> names = new CopyOnWriteArrayList<>();
            for (ThreadFactory f : List.of(named, named, gmp.gmp.threadFactory())) {
                Thread t = f.newThread(() -> names.add(Thread.currentThread().getName()));
                t.start();
                t.join();
            }
            assertEquals(List.of("worker-0", "worker-1", ""), names);
        }
    }
}
