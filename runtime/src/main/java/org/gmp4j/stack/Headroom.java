// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import org.gmp4j.ffi.StackSpace;
import org.jspecify.annotations.Nullable;

/**
 * Whether the thread's stack has room for a section of the runtime.
 *
 * <p>HotSpot throws {@link StackOverflowError} out of whichever call needs more stack than there is. Between lock and unlock, or halfway
 * through a park, that would leave a lock held or a goroutine lost, and the code that catches the error would not know. So a section
 * on a stack of the user's checks before its first side effect whether there is room for all of it, and if not throws a
 * StackOverflowError itself: nothing has been changed, and the caller may catch it and go on.
 *
 * <p>A section that gives something back asks for {@value #SECTION} bytes, one that takes something for {@value #SLACK} more: so what was
 * taken can be given back at the same depth, for example in a {@code finally}. An operation made of several sections asks for
 * twice as much at its beginning, so that none of them is refused after others are done.
 *
 * <p>The check costs 2 to 3 ns (a critical downcall). Nothing cheaper is known: Java cannot read the stack pointer. Rejected: a
 * method with a large frame, of which HotSpot touches each page at entry: these pages compete for few places in the cache, and where
 * it is inlined the user's method pays at each call. Rejected too: no check where C2 has inlined all of a section, since nothing
 * guarantees that it did, and a contended unlock calls the kernel.
 */
public final class Headroom {
    /**
     * More than any section needs, the first time it runs, too: then classes are loaded and method handles linked by Java code
     * that is interpreted. With {@code SectionOverflowTest} sections break at 2 KB and pass from 6 KB on, interpreted as
     * compiled, once their classes are loaded. The property is for that.
     */
    static final long SECTION = Long.getLong("gmp.headroom", 64 << 10);
    /** How much more is asked for by what takes something. */
    private static final long SLACK = 8 << 10;
    /** HotSpot's guard pages and shadow zone, with some to spare for larger pages. */
    private static final long ZONES = 112 << 10;
    /** HotSpot's alone: what no Java frame gets of a stack. */
    private static final long LEAST_ZONES = 96 << 10;
    /** What an M's thread needs beside what its goroutines may use. */
    public static final long OF_THREAD = 2 * SECTION + SLACK + ZONES;

    private Headroom() {
    }

    /**
     * Before a section that takes something, or waits.
     *
     * @throws StackOverflowError when there is too little room; nothing has happened
     */
    public static void check() {
        if (StackSpace.left() < SECTION + SLACK) {
            throw overflow();
        }
    }

    /**
     * Before an operation of several sections that belong together.
     *
     * @throws StackOverflowError when there is too little room; nothing has happened
     */
    public static void checkAll() {
        if (StackSpace.left() < 2 * SECTION + SLACK) {
            throw overflow();
        }
    }

    /**
     * Before one that gives back what an operation after {@link #checkAll} in about the same place took: it asks for a little less.
     *
     * @throws StackOverflowError when there is too little room; nothing has happened
     */
    public static void checkAllToGive() {
        if (StackSpace.left() < 2 * SECTION) {
            throw overflow();
        }
    }

    /**
     * Runs an M's thread with the stack that was asked for, if it has more: the C library may have given it that of a thread
     * that has ended. A goroutine that grew there would not fit on another M. Where HotSpot then resumes it, that throws a
     * StackOverflowError in the middle of whatever had yielded, or crashes.
     *
     * @param asked the size of its stack
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
        } catch (Throwable e) { // No memory for the call, or a class that had none when it was first used. Or so at its end.
            once = once != null && once.begun ? once : null;
        }
        if (once == null) {
            body.run();
        } else if (once.thrown != null) {
            throw JdkThreads.sneaky(once.thrown);
        }
    }

    /** Nothing may be thrown through native frames. */
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

    /** How many bytes {@link #check} asks for. */
    public static long toTake() {
        return SECTION + SLACK;
    }

    /** How many bytes there are: see {@link StackSpace#left}. */
    public static long left() {
        return StackSpace.left();
    }

    /** Whether there is room for a section that gives something back. */
    public static boolean enough() {
        return StackSpace.left() >= SECTION;
    }

    /** The error; its message tells it from HotSpot's own, which has none. */
    public static StackOverflowError overflow() {
        return new StackOverflowError("too little stack is left for a call of the runtime");
    }
}
