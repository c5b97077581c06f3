// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;

/**
 * Releases locks, signals, and ends a sleep, waits with a limit of time in the JDK, and a blocking call for the first time in the process
 * while the heap is full. The waits have begun before.
 */
final class FullHeapFirstProgram {
    private static final long NAP_NANOS = 50_000_000;
    private static boolean condition;
    private static volatile boolean slept;
    private static volatile boolean parked;
    private static volatile boolean waited;
    private static volatile boolean returned;
    private static volatile boolean full;

    private FullHeapFirstProgram() {
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
        gmp.go(() -> {
            Go.sleep(Duration.ofNanos(4 * NAP_NANOS));
            slept = true;
        });
        gmp.go(() -> {
            LockSupport.parkNanos(4 * NAP_NANOS);
            parked = true;
        });
        gmp.go(() -> {
            synchronized (m) {
                try {
                    m.wait(TimeUnit.NANOSECONDS.toMillis(4 * NAP_NANOS));
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            waited = true;
        });
        gmp.go(() -> {
            try {
                Object _ = Go.blocking(() -> {
                    while (!full) {
                        Thread.onSpinWait();
                    }
                    return full;
                });
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            returned = true;
        });
        LockSupport.parkNanos(NAP_NANOS); // They wait, more or less.
        Throwable thrown = null;
        Ballast.fill();
        full = true;
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
        while (!slept || !parked || !waited || !returned) {
            LockSupport.parkNanos(NAP_NANOS / 10);
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
