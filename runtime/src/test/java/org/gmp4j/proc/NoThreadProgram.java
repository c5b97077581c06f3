// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.gmp4j.Gmp;

/** Schedulers are built while the system gives no thread, for want of address space; the first, and a later one. */
@SuppressWarnings("restricted")
final class NoThreadProgram {
    private static final int RLIMIT_AS = 9;
    /** Less than a thread's stack: see the options it is run with. */
    private static final long LEFT = 48L << 20;
    /** A thread's stack, and one more: too little for what a first scheduler needs, enough for its sysmon. */
    private static final long LEFT_AT_FIRST = 160L << 20;

    /** How many were built before there was no thread for another. */
    private static int count;

    private NoThreadProgram() {
    }

    public static void main(String[] args) throws Throwable {
        Thread.ofVirtual().start(() -> { }).join(); // The JDK's class starts threads when it is initialised.
        Linker linker = Linker.nativeLinker();
        MethodHandle set = linker.downcallHandle(linker.defaultLookup().findOrThrow("setrlimit"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment limit = arena.allocate(ValueLayout.JAVA_LONG, 2);
            String none = refusal(set, limit, LEFT_AT_FIRST) + ", built " + count;
            String first = refusal(set, limit, LEFT);
            Gmp gmp = Gmp.builder().procs(1).build();
            gmp.run(() -> { });
            String second = refusal(set, limit, LEFT);
            int live = LiveSchedulers.all().length;
            gmp.run(() -> { });
            gmp.close();
            System.out.printf("%s%n%s%n%s%nlive %d%n", none, first, second, live);
        }
        System.exit(0);
    }

    private static String refusal(MethodHandle set, MemorySegment limit, long left) throws Throwable {
        long size = Files.readAllLines(Path.of("/proc/self/status")).stream().filter(l -> l.startsWith("VmSize:"))
                .mapToLong(l -> Long.parseLong(l.replaceAll("\\D+", ""))).sum() << 10;
        List<Gmp> built = new ArrayList<>();
        limit(set, limit, size + left);
        try {
            for (;;) { // The C library may have kept the stack of a thread that has ended: that is for the first.
                built.add(Gmp.builder().procs(1).build());
            }
        } catch (OutOfMemoryError e) {
            count = built.size();
            return e.getMessage().replaceAll("[:,].*", "");
        } finally {
            limit(set, limit, -1);
            built.forEach(Gmp::close);
        }
    }

    private static void limit(MethodHandle set, MemorySegment limit, long bytes) throws Throwable {
        limit.setAtIndex(ValueLayout.JAVA_LONG, 0, bytes);
        limit.setAtIndex(ValueLayout.JAVA_LONG, 1, -1);
        if ((int) set.invokeExact(RLIMIT_AS, limit) != 0) {
            throw new IllegalStateException("setrlimit");
        }
    }
}
