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
import java.util.concurrent.CountDownLatch;

import org.gmp4j.Gmp;
import org.gmp4j.testing.PinningCall;

/** Goroutines that block have taken all threads but those that the runtime leaves to the JVM; then comes a SIGTERM. */
@SuppressWarnings("restricted")
final class LastThreadProgram {
    private static final int RLIMIT_AS = 9;
    private static final int SIGTERM = 15;
    private static final int THREADS = 20;
    private static final long STACK = 64L << 20;

    private LastThreadProgram() {
    }

    public static void main(String[] args) throws Throwable {
        Gmp gmp = Gmp.builder().procs(2).maxStack(STACK).build();
        gmp.run(() -> { });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
        CountDownLatch never = new CountDownLatch(1);
        limit();
        for (int i = 0; i < 2 * THREADS; i++) {
            gmp.go(() -> PinningCall.run(() -> {
                try {
                    never.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }));
        }
        Scheduler s = LiveSchedulers.all()[0];
        while (!s.shortage.lasts()) {
            Thread.sleep(10);
        }
        System.out.println("Ms " + (s.mcount() > THREADS / 2));
        long began = System.nanoTime();
        Thread.sleep(1000);
        System.out.println("seconds " + (System.nanoTime() - began) / 1_000_000_000);
        int _ = (int) raise().invokeExact(SIGTERM);
        Thread.currentThread().join();
    }

    private static MethodHandle raise() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow("raise"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    }

    /** Leaves address space for so many more threads, whose stacks are large: see the options it is run with. */
    private static void limit() throws Throwable {
        long size = Files.readAllLines(Path.of("/proc/self/status")).stream().filter(l -> l.startsWith("VmSize:"))
                .mapToLong(l -> Long.parseLong(l.replaceAll("\\D+", ""))).sum() << 10;
        Linker linker = Linker.nativeLinker();
        MethodHandle set = linker.downcallHandle(linker.defaultLookup().findOrThrow("setrlimit"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment limit = arena.allocate(ValueLayout.JAVA_LONG, 2);
            limit.setAtIndex(ValueLayout.JAVA_LONG, 0, size + THREADS * STACK);
            limit.setAtIndex(ValueLayout.JAVA_LONG, 1, -1);
            if ((int) set.invokeExact(RLIMIT_AS, limit) != 0) {
                throw new IllegalStateException("setrlimit");
            }
        }
    }
}
