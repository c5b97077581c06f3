// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import org.gmp4j.queue.WaitQ;
import org.gmp4j.struct.Sudog;
import org.gmp4j.wait.Ending;
import org.gmp4j.wait.Limits;

/** What ends a wait in one of a channel's queues, under the channel's lock. */
final class ChanEnding extends Ending {
    private final Hchan c;
    private final WaitQ q;

    ChanEnding(Hchan c, WaitQ q, Limits limits) {
        super(limits);
        this.c = c;
        this.q = q;
    }

    @Override
    protected void lock() {
        c.lock.lock();
    }

    @Override
    protected void unlock() {
        c.lock.unlock();
    }

    @Override
    protected boolean remove(long waiter) {
        boolean removed = q.remove(waiter);
        if (removed) {
            Sudog.setSuccess(waiter, 0);
            c.timerLeft();
        }
        return removed;
    }
}
