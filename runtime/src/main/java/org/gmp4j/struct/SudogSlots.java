package org.gmp4j.struct;

import java.util.Arrays;

import org.gmp4j.ffi.gmp.sudog;

/**
 * The slots of all sudogs of this process, and under the same index the element value that a waiter sends or receives.
 * Slots are never given back to the system; free ones stand in {@code queue.SudogCache}.
 */
public final class SudogSlots {
    private static final int SHIFT = 9;
    private static final int CHUNK = 1 << SHIFT;
    private static final int MASK = CHUNK - 1;
    private static final long STRIDE = Mem.stride(sudog.layout());

    private static volatile Object[][] elems = new Object[0][];

    private SudogSlots() {
    }

    /**
     * Makes {@value #CHUNK} new sudogs, linked by waitlink, and returns the first. One caller at a time. Out of memory is
     * fatal, as in Go: the caller holds locks of the runtime, and of what it is to wait for.
     */
    public static long grow() {
        try {
            return more();
        } catch (OutOfMemoryError e) {
            throw Throw.of("out of memory: no sudog for who waits (" + elems.length * CHUNK + " are in use): "
                    + e.getMessage());
        }
    }

    private static long more() {
        Object[][] old = elems;
        Object[][] grown = Arrays.copyOf(old, old.length + 1);
        grown[old.length] = new Object[CHUNK];
        long addr = Mem.alloc(sudog.layout(), CHUNK);
        for (int i = 0; i < CHUNK; i++) {
            long sg = addr + i * STRIDE;
            Sudog.setIndex(sg, (old.length << SHIFT) + i);
            Sudog.setWaitlink(sg, i == CHUNK - 1 ? 0 : sg + STRIDE);
        }
        elems = grown;
        return addr;
    }

    /** The value; ordered by the lock of what is waited for and by the wake-up. */
    public static Object elem(long sg) {
        int i = Sudog.index(sg);
        return elems[i >>> SHIFT][i & MASK];
    }

    /** Sets the value. */
    public static void setElem(long sg, Object v) {
        int i = Sudog.index(sg);
        elems[i >>> SHIFT][i & MASK] = v;
    }
}
