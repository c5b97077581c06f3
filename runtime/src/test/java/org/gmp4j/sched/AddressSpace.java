// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;

/** How much address space the process may have (RLIMIT_AS): with large stacks it is how many threads. */
@SuppressWarnings("restricted")
final class AddressSpace {
    private static final int RLIMIT_AS = 9;
    private static final MethodHandle SETRLIMIT = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().findOrThrow("setrlimit"),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));

    private AddressSpace() {
    }

    /** Leaves so much beside what is in use now. */
    static void leave(long bytes) throws Throwable {
        long size = Files.readAllLines(Path.of("/proc/self/status")).stream().filter(l -> l.startsWith("VmSize:"))
                .mapToLong(l -> Long.parseLong(l.replaceAll("\\D+", ""))).sum() << 10;
        limit(size + bytes);
    }

    /** There is no limit any more. */
    static void leaveAll() throws Throwable {
        limit(-1);
    }

    private static void limit(long bytes) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment limit = arena.allocate(ValueLayout.JAVA_LONG, 2);
            limit.setAtIndex(ValueLayout.JAVA_LONG, 0, bytes);
            limit.setAtIndex(ValueLayout.JAVA_LONG, 1, -1);
            if ((int) SETRLIMIT.invokeExact(RLIMIT_AS, limit) != 0) {
                throw new IllegalStateException("setrlimit");
            }
        }
    }
}
