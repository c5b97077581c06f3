// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.time.Duration;
import java.util.Objects;

import org.gmp4j.Cancelable;
import org.gmp4j.WaitInterruptedException;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.NotifyList;
import org.gmp4j.wait.WaitCancellation;
import org.jspecify.annotations.Nullable;

/**
 * A condition for which goroutines and threads wait under a mutex. Thread-safe. Goroutines, virtual threads and platform threads may use
 * it. An interrupt ends only the waits of virtual threads of a {@code Gmp} ({@link WaitInterruptedException}), and the waits of all threads
 * in {@link #awaitInterruptibly}. In a bubble of {@code Synctest} the clock moves on during a wait. There are no spurious wake-ups. But
 * other threads may take the mutex between a signal and the return of {@link #await}, so wait in a loop.
 *
 * <pre>
 *  m.lock();
 *  while (!condition()) {
 *      c.await();
 *  }
 *  … m.unlock();
 * </pre>
 *
 * Source: Go's {@code sync.Cond}.
 */
public final class Cond {
    private final Mutex mutex;
    private final NotifyList waiters = new NotifyList();

    /** Makes a condition under {@code mutex}. */
    public Cond(Mutex mutex) {
        this.mutex = Objects.requireNonNull(mutex, "mutex");
    }

    /**
     * Unlocks the mutex, waits for a notification, and locks the mutex again. No notification after the unlock is lost.
     *
     * @throws IllegalStateException "sync: unlock of unlocked mutex", when the mutex is not locked; nothing has changed, and no
     *     notification is lost. In program mode this ends the program
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits; the
     *     mutex is locked again, and no notification is lost
     */
    public void await() {
        boolean _ = await(Limits.DEFAULT);
    }

    /**
     * Like {@link #await}, this waits for a notification, but for at most {@code d}. After that it waits for the mutex without a limit.
     *
     * @return false when the time was up; the mutex is locked, and no notification is lost
     */
    public boolean awaitWithin(Duration d) {
        return await(Limits.within(d));
    }

    /**
     * Like {@link #await}, this waits for a notification, but an interrupt of the calling thread ends the wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while this waits; the mutex is locked, no notification
     *     is lost, and the interrupt status is cleared
     */
    public void awaitInterruptibly() throws InterruptedException {
        boolean _ = await(Limits.INTERRUPTIBLY);
    }

    /**
     * Like {@link #await}, this waits for a notification, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits; the mutex is locked, and no
     *     notification is lost
     */
    public void awaitUnless(Cancelable ctx) {
        boolean _ = await(Limits.until(ctx));
    }

    private boolean await(Limits limits) {
        if (!mutex.isLocked()) {
            throw Mutex.unlockOfUnlocked(); // This comes before the ticket, because a signal for the ticket would be lost.
        }
        limits.check();
        GStack.checkAll(); // A lack of stack must not end this call between the ticket and the return of mutex.lock.
        NotifyList.OfTicket e = limits != Limits.DEFAULT || WaitCancellation.byDefault(GStack.current())
                ? new NotifyList.OfTicket(waiters, limits) : null;
        begin(e);
        boolean called = false;
        try {
            int ticket = waiters.add();
            unlock(ticket);
            GStack st = GStack.enterChecked();
            called = waiters.await(ticket, e, WaitReason.COND_WAIT);
            GStack.exit(st);
            mutex.lock();
        } finally {
            finish(e);
        }
        return called || e == null || !e.timeUp();
    }

    private static void begin(NotifyList.@Nullable OfTicket e) {
        if (e != null) {
            GStack st = GStack.enterChecked();
            try {
                e.begin();
            } finally {
                GStack.exit(st);
            }
        }
    }

    private static void finish(NotifyList.@Nullable OfTicket e) {
        if (e != null) {
            GStack st = GStack.enterChecked();
            e.finish();
            GStack.exit(st);
        }
    }

    private void unlock(int ticket) {
        boolean unlocked = false;
        try {
            mutex.unlock();
            unlocked = true;
        } finally {
            if (!unlocked) { // Another thread has unlocked the mutex by mistake since the check. This ticket must not take a signal.
                GStack st = GStack.enterChecked();
                waiters.drop(ticket);
                GStack.exit(st);
            }
        }
    }

    /** Wakes the thread that has waited longest, if any waits. The caller need not hold the mutex. */
    public void signal() {
        GStack st = GStack.enterToGive();
        waiters.notifyOne();
        GStack.exit(st);
    }

    /** Wakes all waiting threads. The caller need not hold the mutex. */
    public void broadcast() {
        GStack st = GStack.enterToGive();
        waiters.notifyAllWaiters();
        GStack.exit(st);
    }
}
