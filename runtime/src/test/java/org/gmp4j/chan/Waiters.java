// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import org.gmp4j.Go;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.struct.Sudog;

/** What tests see of the queues of channels. */
public final class Waiters {
    private Waiters() {
    }

    /** Returns whether the channel has no waiting goroutine. */
    public static boolean none(Hchan c) {
        c.lock.lock();
        boolean none = c.recvq.isEmpty() && c.sendq.isEmpty();
        c.lock.unlock();
        return none;
    }

    /** Yields until {@code n} receivers wait. */
    public static void awaitReceivers(Hchan c, int n) {
        await(c, c.recvq, n);
    }

    /** Yields until {@code n} senders wait. */
    public static void awaitSenders(Hchan c, int n) {
        await(c, c.sendq, n);
    }

    private static void await(Hchan c, WaitQ q, int n) {
        int waiting = 0;
        while (waiting < n) {
            Go.gosched();
            waiting = 0;
            c.lock.lock();
            for (long sg = q.first(); sg != 0; sg = Sudog.NEXT.get(sg)) {
                waiting++;
            }
            c.lock.unlock();
        }
    }
}
