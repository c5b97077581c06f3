// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.util.Arrays;

import org.gmp4j.ffi.NativeException;
import org.jspecify.annotations.Nullable;

/**
 * Makes the sudogs of this process, and holds the Java objects that belong to each: the element that the waiter sends or receives, and the
 * waiter itself if it is a virtual thread of the JDK's scheduler. Each kind of object has a table, in which {@code Sudog.INDEX} is the
 * sudog's place. The memory of sudogs is never freed; free sudogs are in {@code queue.SudogCache}.
 */
public final class SudogSlots {
    private static final int SHIFT = 9;
    private static final int CHUNK = 1 << SHIFT;
    private static final int MASK = CHUNK - 1;
    private static final long STRIDE = Mem.stride(Struct.SUDOG);

    private static volatile @Nullable Object[][] elems = new Object[0][];
    private static volatile @Nullable Thread[][] threads = new Thread[0][];

    private SudogSlots() {
    }

    /**
     * Makes {@value #CHUNK} new sudogs, linked by waitlink, and returns the first. Only one thread at a time may call this.
     *
     * @throws OutOfMemoryError when there is no memory for the sudogs; nothing has changed
     */
    public static long grow() {
        @Nullable Object[][] old = elems;
        @Nullable Object[][] grown = Arrays.copyOf(old, old.length + 1);
        grown[old.length] = new Object[CHUNK];
        @Nullable Thread[][] grownThreads = Arrays.copyOf(threads, old.length + 1);
        grownThreads[old.length] = new Thread[CHUNK];
        long addr = alloc();
        for (int i = 0; i < CHUNK; i++) {
            long sg = addr + i * STRIDE;
            Sudog.INDEX.set(sg, (old.length << SHIFT) + i);
            Sudog.WAITLINK.set(sg, i == CHUNK - 1 ? 0 : sg + STRIDE);
        }
        threads = grownThreads;
        elems = grown;
        return addr;
    }

    private static long alloc() {
        try {
            return Mem.alloc(Struct.SUDOG, CHUNK);
        } catch (NativeException e) {
            throw new OutOfMemoryError("no memory for those who wait: " + e.getMessage());
        }
    }

    /**
     * Returns the element. The read needs no fence, because the lock of the object on which the waiter waits, or the wake-up, orders it
     * after the write.
     */
    public static @Nullable Object elem(long sg) {
        int i = Sudog.INDEX.get(sg);
        return elems[i >>> SHIFT][i & MASK];
    }

    /** Sets the element. */
    public static void setElem(long sg, @Nullable Object v) {
        int i = Sudog.INDEX.get(sg);
        elems[i >>> SHIFT][i & MASK] = v;
    }

    /** Returns the waiter if it is a virtual thread that is not a goroutine, else null. The read needs no fence: see {@link #elem}. */
    public static @Nullable Thread thread(long sg) {
        int i = Sudog.INDEX.get(sg);
        return threads[i >>> SHIFT][i & MASK];
    }

    /** Sets the virtual thread that waits, or null. */
    public static void setThread(long sg, @Nullable Thread t) {
        int i = Sudog.INDEX.get(sg);
        threads[i >>> SHIFT][i & MASK] = t;
    }
}
