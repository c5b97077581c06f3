// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import org.gmp4j.ffi.StackSpace;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether the thread's stack has room for a section of the runtime.
 *
 * <p>HotSpot throws {@link StackOverflowError} out of any call that needs more stack than there is. Between lock and unlock, or halfway
 * through a park, that would leave a lock held or lose a goroutine. The code that catches the error would not notice. So a section that
 * runs on a goroutine's or a user thread's stack checks before its first side effect whether there is room for all of it. If not, it throws
 * a StackOverflowError itself. Then nothing has changed, and the caller may catch the error and continue.
 *
 * <p>A section that releases a lock or another resource demands {@link #SECTION} bytes. A section that acquires one demands {@value #SLACK}
 * bytes more, so that the release has room at the same depth, for example in a {@code finally}. An operation that consists of several
 * sections demands room for two sections at its beginning, so that no section is refused after earlier ones were carried out.
 *
 * <p>The check is a critical downcall, because Java cannot read the stack pointer. Rejected: a call of a Java method with a large frame, so
 * that HotSpot's stack banging makes the check. Such a call touches each page of the frame, and these addresses map to few sets of the
 * CPU's cache. If C2 inlines the method, the user's method has the large frame and pays at each call. Rejected too: to omit the check where
 * C2 has inlined a whole section. No rule guarantees that C2 inlines it, and a contended unlock calls the kernel.
 */
public final class Headroom {
    /**
     * The room for a section, in bytes. It is more than any section needs, even the first time, when interpreted Java code loads classes
     * and links method handles. {@code SectionOverflowTest} uses the property to find the least sufficient room.
     */
    static final long SECTION = Long.getLong("gmp.headroom", 64 << 10);
    /** The additional room, bytes, for a section that acquires a lock or another resource. */
    private static final long SLACK = 8 << 10;
    /** The size of HotSpot's guard pages and shadow zone, with a reserve for larger pages. */
    private static final long ZONES = 112 << 10;
    /** The least size of HotSpot's guard pages and shadow zone. No Java frame can use this part of a stack. */
    private static final long LEAST_ZONES = 96 << 10;
    /** The stack, in bytes, that an M's thread needs in addition to the stack for its goroutines. */
    public static final long OF_THREAD = 2 * SECTION + SLACK + ZONES;

    private Headroom() {
    }

    /**
     * Checks the room for a section that acquires a lock or another resource, or waits.
     *
     * @throws StackOverflowError when there is too little room; nothing has changed
     */
    public static void check() {
        if (StackSpace.left() < SECTION + SLACK) {
            throw overflow();
        }
    }

    /**
     * Checks the room for an operation of several sections that belong together.
     *
     * @throws StackOverflowError when there is too little room; nothing has changed
     */
    public static void checkAll() {
        if (StackSpace.left() < 2 * SECTION + SLACK) {
            throw overflow();
        }
    }

    /**
     * Checks the room for an operation of several sections that undoes an earlier operation, such as a close. It demands a little less room
     * than {@link #checkAll}, so that it succeeds at the depth of the earlier operation.
     *
     * @throws StackOverflowError when there is too little room; nothing has changed
     */
    public static void checkAllToGive() {
        if (StackSpace.left() < 2 * SECTION) {
            throw overflow();
        }
    }

    /**
     * Runs the body of an M's thread with no more stack than {@code asked}. The thread may have a larger stack, because the C library may
     * have reused the stack of a thread that has ended. A goroutine whose stack grew on such an M might not fit on another M. If HotSpot
     * resumed such a goroutine on the other M, a StackOverflowError would be thrown in the middle of the method that had yielded, or the
     * JVM would crash.
     *
     * @param asked the requested stack size, bytes
     */
    public static void runOn(long asked, Runnable body) {
        long more = StackSpace.left() - (asked - LEAST_ZONES);
        if (more <= 0) {
            body.run();
            return;
        }
        Once once = null;
        try {
            once = new Once(body);
            StackSpace.shorten(more, once);
        } catch (Throwable e) { // There was no memory for the call or its classes. The body may have run or not.
            once = once != null && once.begun ? once : null;
        }
        if (once == null) {
            body.run();
        } else if (once.thrown != null) {
            throw JdkThreads.sneaky(once.thrown);
        }
    }

    /** Runs a body, and stores the exception that it throws, because an exception must not pass native frames. */
    private static final class Once implements Runnable {
        private final Runnable body;
        private boolean begun;
        private @Nullable Throwable thrown;

        Once(Runnable body) {
            this.body = body;
        }

        @Override
        public void run() {
            begun = true;
            try {
                body.run();
            } catch (Throwable e) {
                thrown = e;
            }
        }
    }

    /** Returns the least room, in bytes, with which {@link #check} succeeds. */
    public static long toTake() {
        return SECTION + SLACK;
    }

    /** Returns the number of bytes that are left: see {@link StackSpace#left}. */
    public static long left() {
        return StackSpace.left();
    }

    /** Returns whether there is room for a section that releases something. */
    public static boolean enough() {
        return StackSpace.left() >= SECTION;
    }

    /** Returns the error of a refused section. Its message distinguishes it from HotSpot's own error, which has no message. */
    public static StackOverflowError overflow() {
        return new StackOverflowError("too little stack is left for a call of the runtime");
    }
}
