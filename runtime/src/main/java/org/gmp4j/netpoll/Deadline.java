// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import org.gmp4j.timer.RuntimeTimer;

/**
 * The deadline of one direction of a descriptor. It uses the lock of its {@link FdWaits}, which guards all its fields. If the deadline was
 * moved, the old alarm finds that {@code when} is later than now, and sets the next alarm. A deadline that passes wakes only the waiter,
 * and starts no goroutine.
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
                waiter = fd.unblockLocked(write); // A close stops this timer under the lock, so the registrations still exist.
                of = fd.unblocked;
            } else if (when != 0) {
                arm();
            }
        } finally { // Runs also when there was no memory for the next alarm.
            lock.unlock();
        }
        if (of != null) {
            of.wake(waiter);
        }
    }

    /** Sets the deadline to {@code nanos} from now. Called under the lock. Without memory it throws and changes nothing. */
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

    /** Removes the deadline. Called under the lock. */
    void stopLocked() {
        when = 0;
        disarm();
    }
}
