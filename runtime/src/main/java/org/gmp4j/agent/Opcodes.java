package org.gmp4j.agent;

import java.util.Arrays;

/** What the scan and the writer must know of instructions: their lengths, and which of them jump. */
final class Opcodes {
    static final int IINC = 132;
    static final int IFEQ = 153;
    static final int JSR = 168;
    static final int RET = 169;
    static final int TABLESWITCH = 170;
    static final int LOOKUPSWITCH = 171;
    static final int GETSTATIC = 178;
    static final int INVOKEVIRTUAL = 182;
    static final int INVOKEINTERFACE = 185;
    static final int INVOKEDYNAMIC = 186;
    static final int WIDE = 196;
    static final int MULTIANEWARRAY = 197;
    static final int IFNULL = 198;
    static final int IFNONNULL = 199;
    static final int GOTO_W = 200;
    static final int JSR_W = 201;

    /** By instruction; 0: one of {@code tableswitch}, {@code lookupswitch}, {@code wide}; -1: no instruction. */
    private static final byte[] LENGTH = lengths();

    private Opcodes() {
    }

    /** The length of the instruction at {@code pc} of the code that starts at {@code start}. */
    static int length(byte[] b, int start, int pc) {
        int op = b[start + pc] & 0xFF;
        int length = LENGTH[op];
        if (length > 0) {
            return length;
        }
        return switch (op) {
            case TABLESWITCH, LOOKUPSWITCH -> {
                int at = start + (pc + 4 & ~3);
                long table = op == TABLESWITCH
                        ? 4 + 4 * (1L + Bytes.i4(b, at + 8) - Bytes.i4(b, at + 4))
                        : 8L * Bytes.i4(b, at + 4);
                if (table < 0 || table > b.length) {
                    throw new IndexOutOfBoundsException("a switch of " + table + " bytes");
                }
                yield at - start - pc + 8 + (int) table;
            }
            case WIDE -> (b[start + pc + 1] & 0xFF) == IINC ? 6 : 4;
            default -> throw new IndexOutOfBoundsException("instruction " + op);
        };
    }

    /** Whether it is a branch with an offset of two bytes. */
    static boolean isBranch(int op) {
        return op >= IFEQ && op <= JSR || op == IFNULL || op == IFNONNULL;
    }

    private static byte[] lengths() {
        byte[] length = new byte[256];
        Arrays.fill(length, 0, GOTO_W + 2, (byte) 1);
        Arrays.fill(length, GOTO_W + 2, 256, (byte) -1);
        set(length, 2, 16, 18, RET, 188); // bipush ldc ret newarray
        Arrays.fill(length, 21, 26, (byte) 2); // loads
        Arrays.fill(length, 54, 59, (byte) 2); // stores
        set(length, 3, 17, 19, 20, IINC, 187, 189, 192, 193, IFNULL, IFNONNULL); // sipush ldc_w ldc2_w new anewarray …
        Arrays.fill(length, IFEQ, RET, (byte) 3);
        Arrays.fill(length, GETSTATIC, INVOKEINTERFACE, (byte) 3);
        set(length, 5, INVOKEINTERFACE, INVOKEDYNAMIC, GOTO_W, JSR_W);
        set(length, 4, MULTIANEWARRAY);
        set(length, 0, TABLESWITCH, LOOKUPSWITCH, WIDE);
        return length;
    }

    private static void set(byte[] length, int value, int... ops) {
        for (int op : ops) {
            length[op] = (byte) value;
        }
    }
}
