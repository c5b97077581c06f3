// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import org.gmp4j.queue.WaitQ;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.WaitCancellation;

/**
 * Ends the wait of a select. It competes with the wakers of the channels, and its sudog is in no queue. Like them it holds the lock of one
 * of the channels, so it finds the select parked. One of the wakers wins ({@code WaitQ}).
 */
final class SelectCancellation extends WaitCancellation {
    private final Hchan first;

    SelectCancellation(Hchan first, Limits limits) {
        super(limits);
        this.first = first;
    }

    @Override
    protected void lock() {
        first.lock.lock();
    }

    @Override
    protected void unlock() {
        first.lock.unlock();
    }

    @Override
    protected boolean remove(long waiter) {
        return WaitQ.win(waiter);
    }
}
