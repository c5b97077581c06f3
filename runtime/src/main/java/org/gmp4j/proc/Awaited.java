// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.jspecify.annotations.Nullable;

/**
 * A goroutine's function whose starter is told how it ended. It is a type, so that this is known before the function runs: from its
 * first instruction on anything may fail, for want of memory for example.
 */
public abstract class Awaited implements Runnable {
    /**
     * Told on the goroutine's stack after its deferred work, instead of the uncaught-exception policy.
     *
     * @param end null, Goexit.INSTANCE or what it threw
     */
    protected abstract void ended(@Nullable Throwable end);

    /** Whether an interrupt of its thread is meant for it, and ends what it waits for. */
    protected boolean cancelable() {
        return false;
    }
}
