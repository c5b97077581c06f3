// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import org.gmp4j.timer.RuntimeTimer;

/**
 * Until when a direction of a descriptor has time. Under the lock of its {@link FdWaits}, as all of a timer: an alarm of a
 * deadline that was moved finds {@code when} later than now, and does nothing. It wakes nobody but the waiter, and starts no
 * goroutine.
 */
final class Deadline extends RuntimeTimer {
    private final FdWaits fd;
    private final boolean write;

    Deadline(FdWaits fd, boolean write) {
        super(fd.lock);
        this.fd = fd;
        this.write = write;
    }

    @Override
    protected void look(long now) {
        Registration of = null;
        long waiter = 0;
        try {
            if (when != 0 && now >= when) {
                when = 0;
                disarm();
                fd.setExpired(write, true);
                waiter = fd.unblockLocked(write); // Under the lock: no close is through, so nothing is given back.
                of = fd.unblocked();
            } else if (when != 0) {
                arm();
            }
        } finally { // Also when there was no memory for the next alarm.
            lock.unlock();
        }
        if (waiter != 0) {
            of.wake(waiter);
        }
    }

    /** Under the lock: so many nanoseconds from now. As it was if there is no memory. */
    void startLocked(long nanos) {
        long before = when;
        when = in(nanos);
        boolean armed = false;
        try {
            arm();
            armed = true;
        } finally {
            if (!armed) {
                when = before;
            }
        }
    }

    /** Under the lock. */
    void stopLocked() {
        when = 0;
        disarm();
    }

    @Override
    public boolean stop() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean reset(long nanos) {
        throw new UnsupportedOperationException();
    }
}
