// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/**
 * The dear half of an asymmetric fence ({@code membarrier(2)}, private and expedited): it makes every other thread of this
 * process execute a full fence, so that the code which runs often needs none of its own. Costs some microseconds. Thread-safe.
 */
public final class Membarrier {
    /** {@code -Dgmp.membarrier=off}: as on a kernel that has none, or forbids it. */
    public static final String PROPERTY = "gmp.membarrier";

    private static final Call.Function MEMBARRIER = Call.function("gmp_membarrier");
    private static final boolean AVAILABLE = register();

    private Membarrier() {
    }

    private static boolean register() {
        return !"off".equals(System.getProperty(PROPERTY))
                && (int) Call.call(Call.function("gmp_membarrier_register")) == 0
                && (int) Call.call(MEMBARRIER) == 0;
    }

    /** Whether {@link #run} works here. */
    public static boolean isAvailable() {
        return AVAILABLE;
    }

    /**
     * A full fence in all threads of this process, the calling one included, before it returns.
     *
     * @throws NativeException ENOSYS or EPERM where it is not available
     */
    public static void run() {
        int r = (int) Call.call(MEMBARRIER);
        if (r < 0) {
            throw new NativeException("membarrier(PRIVATE_EXPEDITED)", -r);
        }
    }
}
