// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

/**
 * The size classes of blocks. Up to 64 bytes they are the multiples of 16. Above that, up to {@value #LARGEST}, four classes at equal
 * distances divide the interval between each power of two and the next. The last of the four is the upper power. So at most a fifth of a
 * block of more than 64 bytes is wasted. All sizes are multiples of {@value #LEAST}.
 */
final class SizeClasses {
    /** The size of the smallest block, bytes: enough for the link and the mark of a free block. */
    static final int LEAST = 16;
    /** The size of the largest block, bytes. A larger segment has a mapping of its own. */
    static final int LARGEST = 32 << 10;
    /** The size of a span, bytes. A span is divided into blocks of one class, and its address is a multiple of this size. */
    static final int SPAN = 128 << 10;

    private static final int FINE = 64;
    private static final int FINE_CLASSES = FINE / LEAST;
    private static final int FINE_LOG = Integer.numberOfTrailingZeros(FINE);
    private static final int STEPS_LOG = 2;

    static final int COUNT = FINE_CLASSES + (Integer.numberOfTrailingZeros(LARGEST) - FINE_LOG << STEPS_LOG);
    static final int NONE = -1;

    /**
     * The size in bytes of a batch, the unit in which blocks move between a P and the central lists. The number of blocks of a batch is
     * limited by LEAST_BATCH and MOST_BATCH.
     */
    private static final int BATCH_BYTES = 32 << 10;
    private static final int MOST_BATCH = 64;
    private static final int LEAST_BATCH = 2;

    private static final int[] SIZE = sizes();
    /** 2^32 divided by the size, rounded up. A multiplication by it replaces a division. */
    private static final long[] INVERSE = inverses();

    private SizeClasses() {
    }

    private static int[] sizes() {
        int[] sizes = new int[COUNT];
        for (int c = 0; c < COUNT; c++) {
            int above = c - FINE_CLASSES;
            int log = FINE_LOG + (above >> STEPS_LOG);
            sizes[c] = c < FINE_CLASSES ? (c + 1) * LEAST
                    : (1 << log) + ((above & (1 << STEPS_LOG) - 1) + 1 << log - STEPS_LOG);
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

    /** Returns the size of a block, bytes. */
    static int size(int c) {
        return SIZE[c];
    }

    static int batch(int c) {
        return Math.clamp(BATCH_BYTES / SIZE[c], LEAST_BATCH, MOST_BATCH);
    }

    static int blocks(int c) {
        return SPAN / SIZE[c];
    }

    /**
     * Returns the smallest class whose blocks are large enough and aligned; {@link #NONE} when there is none.
     *
     * @param bytes the size, at least 0
     * @param align the alignment, a power of two
     */
    static int of(long bytes, long align) {
        long least = Math.max(Math.max(bytes, align), 1);
        if (least > LARGEST) {
            return NONE;
        }
        int c = of((int) least);
        if (align > LEAST) {
            while ((SIZE[c] & align - 1) != 0) { // The loop ends by the next power of two, a multiple of align.
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
        int log = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(last);
        return FINE_CLASSES + (log - FINE_LOG << STEPS_LOG) + (last - (1 << log) >> log - STEPS_LOG);
    }

    /** Returns whether a block of the class begins {@code offset} bytes behind the start of its span. */
    static boolean begins(int c, int offset) {
        // The relative error of the inverse is less than size / 2^32 <= 2^-17. As offset < 2^17, the quotient is too large by less than
        // 1 / size, and its integer part is exact.
        int index = (int) (offset * INVERSE[c] >>> Integer.SIZE);
        return index * SIZE[c] == offset && index < blocks(c);
    }
}
