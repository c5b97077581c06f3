// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

/** For tests that had points call something else. */
public final class PointHook {
    private PointHook() {
    }

    /** Points stop goroutines again. */
    public static void restore() {
        Preempt.setHook();
    }
}
