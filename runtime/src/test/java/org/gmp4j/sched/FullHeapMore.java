// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.context.Context;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.ErrGroup;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Once;
import org.gmp4j.sync.Pool;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.SingleFlight;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Ticker;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;

/** More users of {@link FullHeapProgram}: the rest of the public operations. Each waits for something that must come. */
final class FullHeapMore {
    private static final Duration MOMENT = Duration.ofMillis(1);
    /** At the end each must be free. */
    private static final List<BooleanSupplier> FREE = new ArrayList<>();

    private FullHeapMore() {
    }

    static boolean allFree() {
        return FREE.stream().allMatch(BooleanSupplier::getAsBoolean);
    }

    static void users() {
        locks();
        groups();
        contexts();
        others();
    }

    private static void locks() {
        RWMutex rw = new RWMutex();
        Semaphore sem = new Semaphore(2);
        Mutex mutex = new Mutex();
        Cond cond = new Cond(mutex);
        FREE.add(rw::tryLock);
        FREE.add(() -> sem.tryAcquire(2));
        FREE.add(mutex::tryLock);
        for (int i = 0; i < 2; i++) {
            FullHeapProgram.user(() -> {
                rw.rLock();
                Go.gosched();
                rw.rUnlock();
            });
            FullHeapProgram.user(() -> {
                rw.lock();
                Go.gosched();
                rw.unlock();
            });
            FullHeapProgram.user(() -> {
                sem.acquire(2);
                Go.gosched();
                sem.release(2);
            });
            FullHeapProgram.user(() -> {
                Context ctx = Context.background().withTimeout(MOMENT);
                try {
                    sem.acquire(ctx, 1);
                } catch (Exception e) {
                    if (e != Context.DEADLINE_EXCEEDED) {
                        throw e;
                    }
                    return;
                }
                Go.gosched();
                sem.release(1);
            });
        }
        FullHeapProgram.user(() -> {
            mutex.lock();
            try {
                cond.await();
            } finally {
                mutex.unlock();
            }
        });
        FullHeapProgram.Step wake = () -> { // One: in the loop there might be no memory for it.
            cond.broadcast();
            Thread.sleep(1);
        };
        Thread _ = Thread.ofPlatform().daemon().start(() -> {
            for (;;) { // Also at the end, when others still wait.
                FullHeapProgram.attempt(wake);
            }
        });
    }

    private static void groups() {
        Runnable yields = Go::gosched;
        Runnable sleeps = () -> Go.sleep(MOMENT);
        FullHeapProgram.user(() -> {
            WaitGroup g = new WaitGroup();
            try {
                g.go(yields);
                g.go(sleeps);
            } finally {
                g.await();
            }
        });
        ErrGroup limited = new ErrGroup();
        limited.setLimit(2);
        FREE.add(() -> {
            try {
                limited.await();
            } catch (Exception | OutOfMemoryError e) {
                Thread.onSpinWait(); // What the first that failed threw.
            }
            limited.setLimit(2); // Throws when some were not given back.
            return true;
        });
        SingleFlight<String, Integer> flights = new SingleFlight<>();
        byte[][] last = new byte[1][];
        ErrGroup.Body allocates = () -> {
            Go.gosched();
            last[0] = new byte[100];
        };
        Callable<Integer> late = () -> {
            Go.gosched();
            return 1;
        };
        Callable<Integer> soon = () -> 1;
        for (int i = 0; i < 3; i++) {
            FullHeapProgram.user(() -> limited.go(allocates));
            FullHeapProgram.user(() -> {
                int _ = flights.run("k", late);
            });
            FullHeapProgram.user(() -> {
                Object _ = flights.runChan("k", soon).recv();
            });
        }
    }

    private static void contexts() {
        for (int i = 0; i < 2; i++) {
            FullHeapProgram.user(() -> {
                Chan<Void> done = Context.background().withTimeout(MOMENT).done();
                done.recv();
            });
            FullHeapProgram.user(() -> {
                Context root = Context.background().withCancel();
                Context child = root.withCancel().withTimeout(Duration.ofHours(1));
                Chan<Integer> told = Chan.make(1);
                BooleanSupplier _ = child.afterFunc(new FullHeapProgram.Told(told));
                root.cancel();
                if (child.err() == null) {
                    throw new AssertionError("half a tree");
                }
                int _ = FullHeapProgram.surelyFrom(told);
            });
        }
    }

    private static void others() {
        LongChan there = LongChan.make();
        FullHeapProgram.user(() -> {
            LongChan c = LongChan.make(4);
            c.send(1);
            c.close();
            long _ = c.recv() + (there.trySend(1) ? 1 : 0);
        });
        FullHeapProgram.user(() -> {
            LongChan.Recv _ = there.recvOkWithin(MOMENT);
        });
        FullHeapProgram.user(() -> {
            Ticker t = Time.newTicker(MOMENT);
            try {
                Object _ = FullHeapProgram.surelyFrom(t.c());
            } finally {
                t.stop();
            }
        });
        Runnable yields = Go::gosched;
        Runnable sleeps = () -> Go.sleep(MOMENT);
        Runnable nothing = () -> { };
        Callable<Timer> timer = () -> Time.afterFunc(MOMENT, nothing);
        Pool<byte[]> pool = new Pool<>(() -> new byte[100]);
        FullHeapProgram.user(() -> {
            pool.put(pool.get());
            new Once().run(yields);
        });
        FullHeapProgram.loop(body -> Thread.ofPlatform().daemon().start(body), () -> { // Outside all schedulers.
            Chan<?> c = Time.after(MOMENT);
            Object _ = FullHeapProgram.surelyFrom(c);
        });
        FullHeapProgram.user(() -> {
            Gmp another = Gmp.builder().procs(1).build();
            try {
                another.run(sleeps);
                Timer _ = another.call(timer);
            } finally {
                FullHeapProgram.surelyClose(another);
            }
        });
    }
}
