// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/** Reads flags of this JVM without its management classes. Thread-safe. */
public final class VmFlags {
    private VmFlags() {
    }

    /**
     * Returns whether C2 puts safepoint polls into counted loops ({@code -XX:+UseCountedLoopSafepoints}). This is the default with G1, ZGC
     * and Shenandoah, but not with the serial and the parallel collector.
     *
     * @return true also when that is not known
     */
    public static boolean countedLoopsPoll() {
        return (int) Call.call(Call.function("gmp_vm_counted_loops_poll")) != 0;
    }
}
