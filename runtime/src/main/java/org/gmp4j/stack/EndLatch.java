// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;

/**
 * A latch on which a plain thread waits until a goroutine has ended. The thread can do nothing before the goroutine ends, so it does not
 * prevent the report of a deadlock. {@link Bystanders} recognises such a thread by the {@linkplain LockSupport#getBlocker blocker} of its
 * park, which is the latch.
 */
public final class EndLatch extends AbstractQueuedSynchronizer {
    private static final long serialVersionUID = 1L;

    /** Opens the latch. It stays open. */
    public void open() {
        boolean _ = releaseShared(1);
    }

    /** Waits until the latch is open. An interrupt does not end the wait, and stays pending. */
    public void await() {
        acquireShared(1);
    }

    /** Returns whether a thread waits for a latch that is not open. */
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
