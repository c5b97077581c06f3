// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** HotSpot's compiler threads, as the kernel sees them. The JVM starts and ends some of them as it needs them. Thread-safe. */
public final class CompilerThreads {
    private static final int MOST = 256;

    private CompilerThreads() {
    }

    /**
     * The threads that compile, those that have nothing to do at the moment included.
     *
     * @return the kernel's thread ids; none where {@code /proc} cannot be read
     */
    public static int[] ids() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ids = arena.allocate(ValueLayout.JAVA_INT, MOST);
            int n = (int) Call.call(Call.function("gmp_compiler_threads"), ids.address(), MOST, 0);
            return Arrays.copyOf(ids.toArray(ValueLayout.JAVA_INT), Math.max(0, n));
        }
    }

    /**
     * The CPU time that the compiler threads which there are now have had.
     *
     * @return nanoseconds; 0 when there is none
     */
    public static long cpuNanos() {
        long sum = 0;
        for (int id : ids()) {
            sum += Math.max(0, OsThread.cpuNanos(id));
        }
        return sum;
    }
}
