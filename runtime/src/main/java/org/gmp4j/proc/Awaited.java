// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

/**
 * The function of a goroutine of which somebody has to know how it ended. That is settled before it runs: from its first
 * instruction on anything may fail, for want of memory say.
 */
public abstract class Awaited implements Runnable {
    /**
     * Told on the goroutine's stack after its deferred work, instead of the uncaught-exception policy.
     *
     * @param end null, Goexit.INSTANCE or what it threw
     */
    protected abstract void ended(Throwable end);

    /** Whether an interrupt of its thread is meant for it, and ends what it waits for. */
    protected boolean cancelable() {
        return false;
    }
}
