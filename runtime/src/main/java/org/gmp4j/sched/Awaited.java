// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import org.jspecify.annotations.Nullable;

/**
 * A goroutine's function whose starter is notified of its outcome. The function itself has this type, so that the starter is known before
 * the function runs. This matters when the function's first instruction fails, for instance for lack of memory.
 */
public abstract class Awaited implements Runnable {
    /**
     * Notifies the starter of the goroutine's end, in place of the uncaught-exception policy. Called on the goroutine's stack after its
     * deferred work.
     *
     * @param end null, Goexit.INSTANCE or the exception that it threw
     */
    protected abstract void ended(@Nullable Throwable end);

    /** Returns whether an interrupt of the goroutine's thread ends the goroutine's waits. */
    protected boolean cancelable() {
        return false;
    }
}
