// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.time.Duration;
import java.util.Objects;

import org.gmp4j.Cancelable;
import org.gmp4j.WaitInterruptedException;
import org.gmp4j.proc.GStack;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Ending;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.NotifyList;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * A condition that goroutines and threads wait for, under a mutex. Thread-safe, from goroutines, virtual threads and platform threads. An
 * interrupt ends the waits of virtual threads of a {@code Gmp} alone ({@link WaitInterruptedException}), and of all in
 * {@link #awaitInterruptibly}. In a bubble of {@code Synctest} the clock moves on while one waits. There are no spurious
 * wake-ups, but between a signal and the return of {@link #await} others may take the mutex: wait in a loop.
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
@NullMarked
public final class Cond {
    private final Mutex mutex;
    private final NotifyList waiters = new NotifyList();

    /** A condition under {@code mutex}. */
    public Cond(Mutex mutex) {
        this.mutex = Objects.requireNonNull(mutex, "mutex");
    }

    /**
     * Unlocks the mutex, waits to be notified, and locks the mutex again. Notifications after the unlock reach it.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws IllegalStateException "sync: unlock of unlocked mutex"; in program mode that ends the program. Nothing has
     *     changed, and no notification is lost
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits; the
     *     mutex is locked again, and no notification is lost
     */
    public void await() {
        boolean _ = await(Limits.DEFAULT);
    }

    /**
     * As {@link #await}, for at most {@code d}, and as long as it takes to lock the mutex again.
     *
     * @return false when the time was up: the mutex is locked, and no notification is lost
     */
    public boolean awaitWithin(Duration d) {
        return await(Limits.within(d));
    }

    /**
     * As {@link #await}, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while this waits; the mutex is locked, no notification is
     *     lost, and the interrupt status is cleared
     */
    public void awaitInterruptibly() throws InterruptedException {
        boolean _ = await(Limits.INTERRUPTIBLY);
    }

    /**
     * As {@link #await}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits; the mutex is locked, and no
     *     notification is lost
     */
    public void awaitUnless(Cancelable ctx) {
        boolean _ = await(Limits.until(ctx));
    }

    private boolean await(Limits limits) {
        if (!mutex.isLocked()) {
            throw Mutex.unlockOfUnlocked(); // Before the ticket is drawn, or a signal would go to it in vain.
        }
        limits.check();
        GStack.checkAll(); // Once a ticket is drawn it must be waited for, and the mutex be locked.
        NotifyList.OfTicket e = limits != Limits.DEFAULT || Ending.byDefault(GStack.current())
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
            if (!unlocked) { // Another has unlocked it by mistake since we looked. No signal may be lost because of that.
                GStack st = GStack.enterChecked();
                waiters.drop(ticket);
                GStack.exit(st);
            }
        }
    }

    /** Wakes the one that has waited longest, if any waits. The caller need not hold the mutex. */
    public void signal() {
        GStack st = GStack.enterToGive();
        waiters.notifyOne();
        GStack.exit(st);
    }

    /** Wakes all that wait. The caller need not hold the mutex. */
    public void broadcast() {
        GStack st = GStack.enterToGive();
        waiters.notifyAllWaiters();
        GStack.exit(st);
    }
}
