// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import org.gmp4j.queue.WaitQ;
import org.gmp4j.wait.Ending;
import org.gmp4j.wait.Limits;

/**
 * What ends the wait of a select: one more waker, with a sudog that stands in no queue. It holds the lock of one of the channels, as all
 * wakers do, so it finds the select parked; of all wakers one wins it ({@code WaitQ}).
 */
final class SelectEnding extends Ending {
    private final Hchan first;

    SelectEnding(Hchan first, Limits limits) {
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
