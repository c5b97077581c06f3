// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/** Settings of this JVM, without its management classes. Thread-safe. */
public final class VmFlags {
    private VmFlags() {
    }

    /**
     * Whether C2 puts safepoint polls into counted loops ({@code -XX:+UseCountedLoopSafepoints}): the default of G1, ZGC and
     * Shenandoah, not of the serial and the parallel collector.
     *
     * @return true also where the JVM does not tell
     */
    public static boolean countedLoopsPoll() {
        return (int) Call.call(Call.function("gmp_vm_counted_loops_poll")) != 0;
    }
}
