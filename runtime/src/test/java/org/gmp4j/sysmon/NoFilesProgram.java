// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.function.IntUnaryOperator;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.agent.PointLoader;
import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.Futex;
import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.struct.Mem;

/**
 * A goroutine sleeps in the kernel with the only P, until another runs that wakes it; first as usual, then while the process can
 * open no file, so that sysmon cannot read that it sleeps. There is code with points, through which sysmon would have it come.
 */
@SuppressWarnings("restricted") // libc
final class NoFilesProgram {
    private static final int RLIMIT_NOFILE = 7;
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    private NoFilesProgram() {
    }

    /** The program runs a copy with points. */
    public static final class Loop implements IntUnaryOperator {
        @Override
        public int applyAsInt(int n) {
            int h = 0;
            for (int i = 0; i < n; i++) {
                h = h * 31 + (h >>> 7);
            }
            return h;
        }
    }

    public static void main(String[] args) throws Throwable {
        int _ = ((IntUnaryOperator) PointLoader.ofCopy(Loop.class).loadClass(Loop.class.getName()).getConstructor()
                .newInstance()).applyAsInt(10);
        Linker linker = Linker.nativeLinker();
        MethodHandle get = rlimit(linker, "getrlimit");
        MethodHandle set = rlimit(linker, "setrlimit");
        try (Arena arena = Arena.ofConfined(); Gmp gmp = Gmp.builder().procs(1).quantum(Duration.ofMillis(1)).build()) {
            MemorySegment limit = arena.allocate(ValueLayout.JAVA_LONG, 2);
            var _ = (int) get.invokeExact(RLIMIT_NOFILE, limit);
            long files = limit.getAtIndex(ValueLayout.JAVA_LONG, 0);
            boolean first = woken(gmp);
            limit.setAtIndex(ValueLayout.JAVA_LONG, 0, 0);
            var _ = (int) set.invokeExact(RLIMIT_NOFILE, limit);
            boolean none = OsThread.state(OsThread.gettid()) == -Errno.EMFILE;
            boolean second = woken(gmp);
            limit.setAtIndex(ValueLayout.JAVA_LONG, 0, files);
            var _ = (int) set.invokeExact(RLIMIT_NOFILE, limit);
            System.out.println("woken " + first + ", no files " + none + ", woken " + second);
        }
        System.exit(0);
    }

    private static MethodHandle rlimit(Linker linker, String name) {
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
    }

    private static boolean woken(Gmp gmp) {
        long word = Memory.map(Integer.BYTES);
        boolean[] woken = new boolean[1];
        gmp.run(() -> {
            Go.go(() -> {
                Mem.INT.setVolatile(word, 1);
                int _ = Futex.wake(word, 1);
            });
            woken[0] = Futex.await(word, 0, PATIENCE_NANOS) != Errno.ETIMEDOUT;
        });
        return woken[0];
    }
}
