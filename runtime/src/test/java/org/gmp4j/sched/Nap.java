// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Instant;

import org.gmp4j.ffi.Errno;

/** Calls that sleep in the kernel for a while, in which nothing comes. */
enum Nap {
    USLEEP(0), POLL(0), EPOLL_WAIT(0), SEM_TIMEDWAIT(Errno.ETIMEDOUT), RECV(Errno.EAGAIN);

    private static final int MILLIS = 20;
    private static final int MICROS = MILLIS * 1_000;
    private static final int SEM_BYTES = 32;
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOL_SOCKET = 1;
    private static final int SO_RCVTIMEO = 20;
    private static final MemoryLayout ERRNO = Linker.Option.captureStateLayout();
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final MemoryLayout POINTER = ValueLayout.ADDRESS;

    /** The error by which it ends when its time is up; 0 for none. */
    final int end;

    Nap(int end) {
        this.end = end;
    }

    /** Calls it, and says by which error it ended; 0 for none. */
    int take() throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment a = arena.allocate(SEM_BYTES);
            MemorySegment b = arena.allocate(SEM_BYTES);
            switch (this) {
                case USLEEP -> {
                    return call(arena, "usleep", FunctionDescriptor.of(INT, INT), MICROS);
                }
                case POLL -> {
                    return call(arena, "poll", FunctionDescriptor.of(INT, POINTER, LONG, INT), a, 0L, MILLIS);
                }
                case EPOLL_WAIT -> {
                    int fd = (int) handle("epoll_create1", FunctionDescriptor.of(INT, INT)).invoke(0);
                    int error = call(arena, "epoll_wait", FunctionDescriptor.of(INT, INT, POINTER, INT, INT), fd, a, 1, MILLIS);
                    close(fd);
                    return error;
                }
                case SEM_TIMEDWAIT -> {
                    int _ = call(arena, "sem_init", FunctionDescriptor.of(INT, POINTER, INT, INT), a, 0, 0);
                    Instant until = Instant.now().plusMillis(MILLIS);
                    b.set(LONG, 0, until.getEpochSecond());
                    b.set(LONG, Long.BYTES, until.getNano());
                    return call(arena, "sem_timedwait", FunctionDescriptor.of(INT, POINTER, POINTER), a, b);
                }
                default -> {
                    int _ = call(arena, "socketpair", FunctionDescriptor.of(INT, INT, INT, INT, POINTER), AF_UNIX, SOCK_STREAM, 0, a);
                    int fd = a.get(INT, 0);
                    b.set(LONG, Long.BYTES, MICROS);
                    int _ = call(arena, "setsockopt", FunctionDescriptor.of(INT, INT, INT, INT, POINTER, INT), fd, SOL_SOCKET,
                            SO_RCVTIMEO, b, 2 * Long.BYTES);
                    int error = call(arena, "recv", FunctionDescriptor.of(LONG, INT, POINTER, LONG, INT), fd, b, 1L, 0);
                    close(fd);
                    close(a.get(INT, Integer.BYTES));
                    return error;
                }
            }
        }
    }

    private static void close(int fd) throws Throwable {
        int _ = (int) handle("close", FunctionDescriptor.of(INT, INT)).invoke(fd);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(String function, FunctionDescriptor as, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(function), as, options);
    }

    private static int call(Arena arena, String function, FunctionDescriptor as, Object... arguments) throws Throwable {
        MemorySegment state = arena.allocate(ERRNO);
        Object[] all = new Object[arguments.length + 1];
        all[0] = state;
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        Number result = (Number) handle(function, as, Linker.Option.captureCallState("errno")).invokeWithArguments(all);
        return result.longValue() < 0 ? (int) ERRNO.varHandle(MemoryLayout.PathElement.groupElement("errno")).get(state, 0L) : 0;
    }
}
