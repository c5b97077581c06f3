// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import org.gmp4j.queue.WaitQ;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.WaitCancellation;

/**
 * Ends the wait of a select. It competes with the channels' wakers, and only one of them wins ({@code WaitQ}). Like a waker it holds the
 * lock of one of the channels, so if it finds the waiter's sudog, the waiter is parked. The sudog of this cancellation is in no queue.
 */
final class SelectCancellation extends WaitCancellation {
    SelectCancellation(Hchan first, Limits limits) {
        super(limits, first.lock);
    }

    @Override
    protected boolean remove(long waiter) {
        return WaitQ.win(waiter);
    }
}
