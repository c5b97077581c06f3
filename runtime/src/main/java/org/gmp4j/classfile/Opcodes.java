// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.classfile;

import java.util.Arrays;

/** The instructions of class files: their numbers, their lengths, and which of them jump or call. */
public final class Opcodes {
    public static final int NOP = 0;
    public static final int ACONST_NULL = 1;
    public static final int ICONST_0 = 3;
    public static final int ICONST_1 = 4;
    public static final int LCONST_1 = 10;
    public static final int LDC_W = 19;
    public static final int ILOAD = 21;
    public static final int ILOAD_1 = 27;
    public static final int ILOAD_2 = 28;
    public static final int ALOAD_0 = 42;
    public static final int ALOAD_1 = 43;
    public static final int ALOAD_2 = 44;
    public static final int ALOAD_3 = 45;
    public static final int IALOAD = 46;
    public static final int AALOAD = 50;
    public static final int SALOAD = 53;
    public static final int IASTORE = 79;
    public static final int AASTORE = 83;
    public static final int SASTORE = 86;
    public static final int LADD = 97;
    public static final int ISUB = 100;
    public static final int IINC = 132;
    public static final int IFEQ = 153;
    public static final int IFNE = 154;
    public static final int IF_ACMPNE = 166;
    public static final int GOTO = 167;
    public static final int RET = 169;
    public static final int TABLESWITCH = 170;
    public static final int LOOKUPSWITCH = 171;
    public static final int IRETURN = 172;
    public static final int ARETURN = 176;
    public static final int RETURN = 177;
    public static final int GETSTATIC = 178;
    public static final int PUTSTATIC = 179;
    public static final int GETFIELD = 180;
    public static final int PUTFIELD = 181;
    public static final int INVOKEVIRTUAL = 182;
    public static final int INVOKESPECIAL = 183;
    public static final int INVOKESTATIC = 184;
    public static final int INVOKEINTERFACE = 185;
    public static final int INVOKEDYNAMIC = 186;
    public static final int ATHROW = 191;
    public static final int CHECKCAST = 192;
    public static final int WIDE = 196;
    public static final int MULTIANEWARRAY = 197;
    public static final int IFNULL = 198;
    public static final int IFNONNULL = 199;
    public static final int GOTO_W = 200;
    public static final int JSR_W = 201;

    /** The kind of jumps that have three bytes, two of them for the offset. */
    public static final int BRANCH = -1;
    /** The kind of jumps that have five bytes, four of them for the offset. */
    public static final int WIDE_BRANCH = -2;
    public static final int SWITCH = -3;
    /** The kind of calls, of three or five bytes, except {@code invokedynamic}. The index of the method's constant follows the opcode. */
    public static final int INVOKE = -4;
    private static final int WIDENED = -5;
    private static final int ILLEGAL = 0;

    /**
     * For each opcode a positive length or a kind, which is negative, or 0 for no instruction. Jumps, switches, calls and {@code wide}
     * have kinds, but {@code ret} and {@code invokedynamic} have lengths. The array must not be written.
     */
    public static final byte[] KINDS = kinds();

    private Opcodes() {
    }

    /** Returns the element of {@link #KINDS} for an opcode: a positive length, or a kind. */
    public static int lengthOrKind(byte op) {
        return KINDS[op & 0xFF];
    }

    /** Returns the length of any instruction, at {@code pc} of the code that starts at {@code start} in {@code b}. */
    public static int length(byte[] b, int start, int pc) {
        int kind = lengthOrKind(b[start + pc]);
        return switch (kind) {
            case BRANCH -> 3;
            case WIDE_BRANCH -> 5;
            case INVOKE -> (b[start + pc] & 0xFF) == INVOKEINTERFACE ? 5 : 3;
            case WIDENED -> (b[start + pc + 1] & 0xFF) == IINC ? 6 : 4;
            case SWITCH -> switchLength(b, start, pc);
            case ILLEGAL -> throw new IndexOutOfBoundsException("instruction " + b[start + pc]);
            default -> kind;
        };
    }

    private static int switchLength(byte[] b, int start, int pc) {
        int padding = padding(pc);
        int at = start + pc + 1 + padding;
        boolean table = (b[start + pc] & 0xFF) == TABLESWITCH;
        long length = table ? 4 * (4L + Bytes.i4(b, at + 8) - Bytes.i4(b, at + 4)) : 4 * (2 + 2L * Bytes.i4(b, at + 4));
        if (length < 8 || length > b.length) {
            throw new IndexOutOfBoundsException("a switch of " + length + " bytes");
        }
        return 1 + padding + (int) length;
    }

    /** Returns the number of bytes between the instruction of a switch at {@code pc} and its table. */
    public static int padding(int pc) {
        return 3 - (pc & 3);
    }

    private static byte[] kinds() {
        byte[] kind = new byte[256];
        Arrays.fill(kind, 0, JSR_W, (byte) 1);
        set(kind, 2, 16, 18, RET, 188); // bipush ldc ret newarray
        Arrays.fill(kind, 21, 26, (byte) 2); // loads
        Arrays.fill(kind, 54, 59, (byte) 2); // stores
        set(kind, 3, 17, 19, 20, IINC, 187, 189, 192, 193); // sipush ldc_w ldc2_w new anewarray checkcast instanceof
        Arrays.fill(kind, GETSTATIC, INVOKEVIRTUAL, (byte) 3);
        set(kind, 5, INVOKEDYNAMIC);
        set(kind, 4, MULTIANEWARRAY);
        Arrays.fill(kind, IFEQ, RET, (byte) BRANCH);
        set(kind, BRANCH, IFNULL, IFNONNULL);
        set(kind, WIDE_BRANCH, GOTO_W, JSR_W);
        set(kind, SWITCH, TABLESWITCH, LOOKUPSWITCH);
        Arrays.fill(kind, INVOKEVIRTUAL, INVOKEDYNAMIC, (byte) INVOKE);
        set(kind, WIDENED, WIDE);
        return kind;
    }

    private static void set(byte[] kind, int value, int... ops) {
        for (int op : ops) {
            kind[op] = (byte) value;
        }
    }
}
