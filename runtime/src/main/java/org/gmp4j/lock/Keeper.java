// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

/**
 * What goroutines wait for, or its lock. While somebody looks for leaks ({@code proc.LeakSearch}) it keeps its waiters reachable, so that
 * the collector finds them where it finds this: whoever can reach it can wake them.
 */
public abstract class Keeper {
    /** Its waiters while somebody looks for leaks, else null. Of that search alone. */
    public Object kept;

    /** Keeps nobody. */
    protected Keeper() {
    }
}
