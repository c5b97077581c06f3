// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Select;
import org.gmp4j.queue.SudogCache;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Semaphore;

/**
 * Threads that are to wait when there is no sudog, and no memory for one: they are told before anything has changed, or wait
 * without. While the heap is full the program itself must use nothing for the first time, not even a string.
 */
final class NoSudogProgram {
    private static final long NAP_NANOS = 5_000_000;
    private static final AtomicInteger LOCKED = new AtomicInteger();
    private static final AtomicInteger SIGNALLED = new AtomicInteger();
    private static volatile boolean full;
    private static volatile boolean condition;

    private NoSudogProgram() {
    }

    public static void main(String[] args) {
        Gmp gmp = Gmp.builder().procs(1).build();
        Chan<Integer> c = Chan.make();
        Chan<Integer> d = Chan.make();
        Select select = Select.of().recv(c, v -> { }).send(d, 1, () -> { });
        Semaphore sem = new Semaphore(1);
        Mutex m = new Mutex();
        Mutex other = new Mutex();
        Cond cond = new Cond(other);
        Duration day = Duration.ofDays(1);
        Integer one = 1;
        Runnable[] steps = {c::recv, () -> c.recvWithin(day), () -> c.send(one), select::run, () -> sem.acquire(1)};
        boolean[] refused = new boolean[steps.length];
        sem.acquire(1);
        m.lock();
        Thread locker = Thread.ofPlatform().daemon().start(() -> {
            awaitFull();
            m.lock();
            m.unlock();
            LOCKED.set(1);
        });
        Thread waiter = Thread.ofPlatform().daemon().start(() -> {
            awaitFull();
            other.lock();
            while (!condition) {
                cond.await();
            }
            other.unlock();
            SIGNALLED.set(1);
        });
        gmp.run(() -> { });
        LockSupport.parkNanos(NAP_NANOS);
        Ballast.fill();
        drainSudogs();
        for (int i = 0; i < steps.length; i++) {
            try {
                steps[i].run();
            } catch (OutOfMemoryError e) {
                refused[i] = true;
            }
        }
        full = true;
        LockSupport.parkNanos(NAP_NANOS); // They wait, more or less.
        m.unlock();
        await(LOCKED);
        other.lock();
        condition = true;
        cond.signal();
        other.unlock();
        await(SIGNALLED);
        Ballast.drop();
        boolean sent = c.trySend(1); // No waiter is queued, and the lock is free.
        sem.release(1);
        boolean taken = sem.tryAcquire(1);
        Thread sender = new Thread(() -> c.send(1));
        sender.start();
        System.out.println("refused " + Arrays.toString(refused) + ", sent " + sent + ", taken " + taken + ", got " + c.recv());
        System.exit(0);
    }

    private static void drainSudogs() {
        try {
            for (;;) {
                long _ = SudogCache.acquire(0);
            }
        } catch (OutOfMemoryError e) {
            return; // All are taken.
        }
    }

    private static void awaitFull() {
        while (!full) {
            LockSupport.parkNanos(NAP_NANOS / 10);
        }
    }

    private static void await(AtomicInteger n) {
        while (n.get() == 0) {
            LockSupport.parkNanos(NAP_NANOS / 10);
        }
    }
}
