// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import org.jspecify.annotations.Nullable;

/**
 * An object for which goroutines wait, or its lock. During a search for leaks ({@code report.LeakSearch}) it refers to its waiters. So the
 * collector finds the waiters reachable exactly if this object is reachable. If this object is reachable, some code can wake the waiters.
 */
public abstract class WaitObject {
    /** The waiters during a search for leaks, else null. Accessed by that search only. */
    public @Nullable Object kept;

    /** Makes an object without waiters. */
    protected WaitObject() {
    }
}
