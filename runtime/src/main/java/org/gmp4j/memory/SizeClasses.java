// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

/**
 * The sizes of blocks: multiples of 16 up to 64, from there four to each doubling, up to {@value #LARGEST}. So of a block of more
 * than 64 bytes at most a fifth is waste. All are multiples of {@value #LEAST}, and among four of a doubling is a power of two.
 */
final class SizeClasses {
    /** Bytes of the smallest block: room for what a free block holds, its link and its mark. */
    static final int LEAST = 16;
    /** Bytes of the largest; what is larger has a mapping of its own. */
    static final int LARGEST = 32 << 10;
    /** Bytes of a span, which is cut into blocks of one class, and stands at a multiple of this. */
    static final int SPAN = 128 << 10;

    private static final int FINE = 64;
    private static final int FINE_CLASSES = FINE / LEAST;
    private static final int FINE_LOG = Integer.numberOfTrailingZeros(FINE);
    private static final int STEPS_LOG = 2;

    /** How many classes there are. */
    static final int COUNT = FINE_CLASSES + (Integer.numberOfTrailingZeros(LARGEST) - FINE_LOG << STEPS_LOG);
    /** What has no class. */
    static final int NONE = -1;

    /** A batch is what moves between a P and all others at a time: so many bytes, if that is not too many blocks or too few. */
    private static final int BATCH_BYTES = 32 << 10;
    private static final int MOST_BATCH = 64;
    private static final int LEAST_BATCH = 2;

    private static final int[] SIZE = sizes();
    /** 2 to the 32 by the size, rounded up: instead of a division. */
    private static final long[] INVERSE = inverses();

    private SizeClasses() {
    }

    private static int[] sizes() {
        int[] sizes = new int[COUNT];
        for (int c = 0; c < COUNT; c++) {
            int above = c - FINE_CLASSES;
            int doubling = FINE_LOG + (above >> STEPS_LOG);
            sizes[c] = c < FINE_CLASSES ? (c + 1) * LEAST
                    : (1 << doubling) + ((above & (1 << STEPS_LOG) - 1) + 1 << doubling - STEPS_LOG);
        }
        return sizes;
    }

    private static long[] inverses() {
        long[] inverses = new long[COUNT];
        for (int c = 0; c < COUNT; c++) {
            inverses[c] = ((1L << Integer.SIZE) + SIZE[c] - 1) / SIZE[c];
        }
        return inverses;
    }

    /** Bytes of a block. */
    static int size(int c) {
        return SIZE[c];
    }

    /** How many blocks a batch has. */
    static int batch(int c) {
        return Math.clamp(BATCH_BYTES / SIZE[c], LEAST_BATCH, MOST_BATCH);
    }

    /** How many blocks a span has. */
    static int blocks(int c) {
        return SPAN / SIZE[c];
    }

    /**
     * The class of the smallest blocks that are large enough and stand where they should; {@link #NONE} when there is none.
     *
     * @param bytes at least 0
     * @param align a power of two
     */
    static int of(long bytes, long align) {
        long least = Math.max(Math.max(bytes, align), 1);
        if (least > LARGEST) {
            return NONE;
        }
        int c = of((int) least);
        if (align > LEAST) {
            while ((SIZE[c] & align - 1) != 0) { // The next power of two at the latest.
                c++;
            }
        }
        return c;
    }

    private static int of(int bytes) {
        int last = bytes - 1;
        if (last < FINE) {
            return last / LEAST;
        }
        int doubling = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(last);
        return FINE_CLASSES + (doubling - FINE_LOG << STEPS_LOG) + (last - (1 << doubling) >> doubling - STEPS_LOG);
    }

    /** Whether a block of the class begins so many bytes behind the start of its span. */
    static boolean begins(int c, int offset) {
        // offset < 2^17 and the inverse is off by less than size / 2^32 <= 2^-17, so the quotient is exact.
        int index = (int) (offset * INVERSE[c] >>> Integer.SIZE);
        return index * SIZE[c] == offset && index < SPAN / SIZE[c];
    }
}
