// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import org.gmp4j.timer.RuntimeTimer;

/**
 * The deadline of one direction of a descriptor. All of it is under the lock of its {@link FdWaits}, as all of a timer is. If the deadline
 * was moved, its alarm finds that {@code when} is later than now, and does nothing. It wakes only the waiter, and starts no goroutine.
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
                waiter = fd.unblockLocked(write); // Under the lock: no close has gone past it, so nothing was given back.
                of = fd.unblocked();
            } else if (when != 0) {
                arm();
            }
        } finally { // Also when there was no memory for the next alarm.
            lock.unlock();
        }
        if (of != null) {
            of.wake(waiter);
        }
    }

    /** Under the lock: sets it to so many nanoseconds from now. Without memory it stays as it was. */
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
