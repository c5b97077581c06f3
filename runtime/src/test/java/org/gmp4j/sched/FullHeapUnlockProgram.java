// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Gmp;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;

/** Releases locks, and signals, for the first time in the process while the heap is full. Threads have begun to wait before. */
final class FullHeapUnlockProgram {
    private static final long NAP_NANOS = 50_000_000;
    private static boolean condition;

    private FullHeapUnlockProgram() {
    }

    public static void main(String[] args) throws InterruptedException {
        Gmp gmp = Gmp.builder().procs(1).build();
        gmp.run(() -> { });
        Mutex m = new Mutex();
        RWMutex rw = new RWMutex();
        Mutex other = new Mutex();
        Cond cond = new Cond(other);
        m.lock();
        rw.rLock();
        Thread locker = Thread.ofPlatform().start(m::lock);
        Thread writer = Thread.ofPlatform().start(rw::lock);
        Thread waiter = Thread.ofPlatform().start(() -> {
            other.lock();
            while (!condition) {
                cond.await();
            }
            other.unlock();
        });
        LockSupport.parkNanos(NAP_NANOS); // They wait, more or less.
        Throwable thrown = null;
        Ballast.fill();
        try {
            m.unlock();
            rw.rUnlock();
            other.lock();
            condition = true;
            cond.signal();
            other.unlock();
        } catch (OutOfMemoryError e) {
            thrown = e;
        }
        Ballast.drop();
        if (thrown == null) {
            locker.join();
            writer.join();
            waiter.join();
        }
        System.out.println("thrown: " + thrown);
        System.exit(0);
    }
}
