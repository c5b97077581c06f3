// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/**
 * The expensive side of an asymmetric fence ({@code membarrier(2)}, private and expedited). It makes every other thread of this process
 * execute a full fence, so that the frequent side needs no fence. Costs some microseconds. Thread-safe.
 */
public final class Membarrier {
    /** The property that, with the value {@code off}, makes this class act as on a kernel without the call. */
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

    /** Returns whether {@link #run} works on this kernel. */
    public static boolean isAvailable() {
        return AVAILABLE;
    }

    /**
     * Returns after all threads of this process, including the calling thread, have executed a full fence.
     *
     * @throws NativeException ENOSYS or EPERM when the call is not available
     */
    public static void run() {
        int r = (int) Call.call(MEMBARRIER);
        if (r < 0) {
            throw new NativeException("membarrier(PRIVATE_EXPEDITED)", -r);
        }
    }
}
