// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import org.jspecify.annotations.Nullable;

/**
 * Something that goroutines wait for, or its lock. While a search for leaks is under way ({@code report.LeakSearch}) it has a reference to
 * its waiters. So the collector finds them reachable exactly if it finds this reachable: code that can reach this can wake them.
 */
public abstract class Keeper {
    /** Its waiters during a search for leaks, else null. Only that search uses it. */
    public @Nullable Object kept;

    /** Without waiters. */
    protected Keeper() {
    }
}
