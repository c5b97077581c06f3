// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.util.Objects;

import org.gmp4j.proc.GStack;
import org.gmp4j.wait.NotifyList;

/**
 * A condition that goroutines and threads wait for, under a mutex. Thread-safe. There are no spurious wake-ups, but between
 * a signal and the return of {@link #await} others may take the mutex: wait in a loop.
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

    /** A condition under {@code mutex}. */
    public Cond(Mutex mutex) {
        this.mutex = Objects.requireNonNull(mutex, "mutex");
    }

    /**
     * Unlocks the mutex, waits to be notified, and locks the mutex again. Notifications after the unlock reach it.
     *
     * @throws IllegalStateException "sync: unlock of unlocked mutex"; in program mode that ends the program. Nothing has
     *     changed, and no notification is lost
     */
    public void await() {
        if (!mutex.isLocked()) {
            throw Mutex.unlockOfUnlocked(); // Before the ticket is drawn: a signal would go to it in vain.
        }
        GStack.checkAll(); // Once a ticket is drawn it must be waited for, and the mutex be locked.
        int ticket = waiters.add();
        unlock(ticket);
        GStack st = GStack.enterChecked();
        waiters.await(ticket);
        GStack.exit(st);
        mutex.lock();
    }

    private void unlock(int ticket) {
        boolean unlocked = false;
        try {
            mutex.unlock();
            unlocked = true;
        } finally {
            if (!unlocked) { // Somebody else has given it back by mistake since we looked. No signal is to be lost for that.
                GStack st = GStack.enterChecked();
                waiters.drop(ticket);
                GStack.exit(st);
            }
        }
    }

    /** Wakes who waits longest, if anyone does. The caller need not hold the mutex. */
    public void signal() {
        GStack st = GStack.enterToGive();
        waiters.notifyOne();
        GStack.exit(st);
    }

    /** Wakes all who wait. The caller need not hold the mutex. */
    public void broadcast() {
        GStack st = GStack.enterToGive();
        waiters.notifyAllWaiters();
        GStack.exit(st);
    }
}
