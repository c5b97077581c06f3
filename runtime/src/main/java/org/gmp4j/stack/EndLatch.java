// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;

/**
 * A plain thread waits for it until a goroutine has ended. Such a thread does nothing before a goroutine does, so it does not hold off
 * the report of a deadlock. {@link Bystanders} knows it by the {@linkplain LockSupport#getBlocker blocker} of its park, which is the
 * latch itself.
 */
public final class EndLatch extends AbstractQueuedSynchronizer {
    private static final long serialVersionUID = 1L;

    /** Open for good: the state becomes 1 once. */
    public void open() {
        boolean _ = releaseShared(1);
    }

    /** Waits until it is open; an interrupt is put off until then. */
    public void await() {
        acquireShared(1);
    }

    /** Whether a thread waits for a latch that is not open. */
    static boolean keeps(Thread t) {
        return LockSupport.getBlocker(t) instanceof EndLatch latch && latch.getState() == 0;
    }

    @Override
    protected int tryAcquireShared(int ignored) {
        return getState() == 0 ? -1 : 1;
    }

    @Override
    protected boolean tryReleaseShared(int ignored) {
        setState(1);
        return true;
    }
}
