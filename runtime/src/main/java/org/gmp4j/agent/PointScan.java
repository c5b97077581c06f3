// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static java.lang.classfile.constantpool.PoolEntry.*;
import static org.gmp4j.classfile.Bytes.i4;
import static org.gmp4j.classfile.Bytes.u2;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.gmp4j.classfile.Opcodes;
import org.jspecify.annotations.Nullable;

/**
 * Finds the places for a class's points, in one pass over the bytes of the class file, because most classes have no loops and should cost
 * little.
 *
 * <p>A <em>loop header</em> is the target of a branch that does not go forward, or an exception handler that lies before the range it
 * guards. A loop is the code from its header to the last branch back to the header. Its depth is the number of other loops that contain all
 * of its code. In the output of compilers this is the natural loop. If loops overlap without nesting (irreducible code), neither counts as
 * the other's inner loop, and both are armed at once. A method that calls itself gets a point at its entry.
 */
final class PointScan {
    /**
     * The points of one method. The method is the {@code index}th of the class, its {@code Code} attribute is at {@code code}, and its name
     * is the constant {@code name}. {@code headers} are the offsets of the loop headers, ascending, and {@code lasts} the offsets of the
     * last branches back to them. {@code jumps} are the offsets of all jumps and switches, ascending. {@code vectors} marks the loops that
     * C2 may vectorise ({@link VectorLoops}), and {@code backs} the loops that may have their point on the way back ({@link CodeWriter}).
     */
    record MethodPoints(int index, int code, int name, int[] headers, int[] lasts, byte[] depths, boolean[] vectors, boolean[] backs,
            boolean entry, int[] jumps) {
        int count() {
            return headers.length + (entry ? 1 : 0);
        }
    }

    /** HotSpot compiles no methods longer than this ({@code HugeMethodLimit}), bytes. */
    private static final int JIT_LIMIT = 8_000;
    /** In methods up to this length, bytes, a jump with an offset of two bytes reaches every instruction. */
    private static final int JUMP_LIMIT = Short.MAX_VALUE;
    /** The greatest value of {@code constant_pool_count}, which is one more than the number of constants. */
    private static final int MAX_CONSTANTS = 65_535;
    /** An upper bound of the constants that a class needs besides those of {@link #hasRoom}. A woven class needs the most. */
    static final int CONSTANTS_OF_CLASS = 70;
    private static final int INTERFACE = 0x0200;
    /** The greatest length of a plain point. */
    static final int POINT_SIZE = PointWriter.CONSTANT_SIZE;
    /** The greatest length of a point on the way back. */
    static final int BACK_SIZE = PointWriter.TEST_SIZE + PointWriter.CONSTANT_SIZE + CodeWriter.BRANCH_SIZE;
    /** The length of the {@code goto} that may precede a point on the way back. */
    static final int SKIP_SIZE = 3;
    /** The greatest number of padding bytes in front of a switch's table. */
    private static final int PADDING = 3;

    private static final int MAGIC = java.lang.classfile.ClassFile.MAGIC_NUMBER;
    private static final int OLDEST = 51; // Java 7
    private static final int NEWEST = java.lang.classfile.ClassFile.latestMajorVersion();

    /** The length of a {@code long} or {@code double} constant, which also takes two indices. */
    private static final int LONG_SIZE = 9;
    /** The length of a constant, including its tag, by its tag; 0 if the tag's constants differ in length, or the tag is unknown. */
    private static final byte[] CONSTANT_SIZES = constantSizes();

    private final byte[] b;
    /** The offset of each constant. */
    private int[] pool = {};
    /** The offset behind the constants. */
    private int body;
    private int thisClass;
    /** The offset of the number of methods, which the methods follow. */
    private int methods;
    /** The offset of the class's attributes. */
    private int attributes;
    /** The index of the constant "Code" that the last attribute had, or -1. */
    private int codeName = -1;

    /** The loops of the current method. */
    private int[] headers = new int[8];
    private int[] lasts = new int[8];
    private int loops;
    private int[] jumps = new int[64];
    private int jumpCount;
    private int switches;

    private final List<MethodPoints> found = new ArrayList<>();
    /** The reason why the class gets no points, or null. */
    private @Nullable LeftAlone reason;

    private PointScan(byte[] classFile) {
        b = classFile;
    }

    /** Finds the points of a class. */
    static PointScan of(byte[] classFile) {
        PointScan scan = new PointScan(classFile);
        try {
            scan.readClass();
        } catch (IndexOutOfBoundsException | NegativeArraySizeException | ArithmeticException e) {
            scan.reason = LeftAlone.UNKNOWN_FORMAT;
        }
        if (scan.reason == null) {
            scan.reason = scan.found.isEmpty() ? LeftAlone.NO_LOOPS : scan.hasPoints() ? LeftAlone.HAS_POINTS : null;
        }
        if (scan.reason == null && !scan.hasRoom()) {
            scan.reason = LeftAlone.CONSTANT_POOL_FULL;
        }
        return scan;
    }

    /**
     * Returns whether there is room for the constants of the points: the name of each method, and for each point its call site and depth.
     */
    private boolean hasRoom() {
        int needed = CONSTANTS_OF_CLASS;
        for (MethodPoints m : found) {
            needed += 1 + 2 * m.count();
        }
        return pool.length + needed <= MAX_CONSTANTS;
    }

    /** Returns whether the class has points already. Only a point names the class that points link to. */
    private boolean hasPoints() {
        for (int i = 1; i < pool.length; i++) {
            if (pool[i] != 0 && b[pool[i]] == TAG_UTF8 && isUtf8(i, JdkPoint.CLASS)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the reason why the class gets no points, or null when it gets some. */
    @Nullable LeftAlone leftAlone() {
        return reason;
    }

    byte[] classFile() {
        return b;
    }

    /** Returns the methods that get points, in order. */
    List<MethodPoints> found() {
        return found;
    }

    /** Returns whether a loop of the method contains a loop that counts: one that adds a constant to an int, or 1 to a long. */
    boolean countsWithinLoop(MethodPoints m) {
        for (int i = 0; i < m.headers.length; i++) {
            if (m.depths[i] > 0 && counts(m.code + 14, m.headers[i], m.lasts[i])) {
                return true;
            }
        }
        return false;
    }

    private boolean counts(int start, int header, int last) {
        for (int pc = header; pc <= last; pc += Opcodes.length(b, start, pc)) {
            int op = b[start + pc] & 0xFF;
            int next = b[start + pc + 1] & 0xFF;
            if (op == Opcodes.IINC || op == Opcodes.WIDE && next == Opcodes.IINC || op == Opcodes.LCONST_1 && next == Opcodes.LADD) {
                return true;
            }
        }
        return false;
    }

    int poolCount() {
        return pool.length;
    }

    int body() {
        return body;
    }

    int methods() {
        return methods;
    }

    int attributes() {
        return attributes;
    }

    /** Returns the constant of the class itself. */
    int thisClass() {
        return thisClass;
    }

    /** Returns the class's name, with slashes. */
    String name() {
        return utf8(u2(b, pool[thisClass] + 1));
    }

    /** Returns the text of a constant. */
    String utf8(int constant) {
        int at = pool[constant];
        return new String(b, at + 3, u2(b, at + 1), StandardCharsets.UTF_8);
    }

    boolean isInterface() {
        return (u2(b, body) & INTERFACE) != 0;
    }

    /** Returns whether the constant is this text, which must be ASCII. */
    boolean isUtf8(int constant, String text) {
        int at = pool[constant];
        return u2(b, at + 1) == text.length() && startsWith(at + 3, text);
    }

    /** Returns whether the class of a method reference has one of these names, or a name with one of these prefixes. */
    boolean isOwner(int reference, String[] names, boolean prefix) {
        int utf8 = pool[u2(b, pool[u2(b, pool[reference] + 1)] + 1)];
        for (String name : names) {
            int length = u2(b, utf8 + 1);
            if ((prefix ? length >= name.length() : length == name.length()) && startsWith(utf8 + 3, name)) {
                return true;
            }
        }
        return false;
    }

    private boolean startsWith(int at, String text) {
        for (int i = 0; i < text.length(); i++) {
            if (b[at + i] != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private void readClass() {
        int major = u2(b, 6);
        if (i4(b, 0) != MAGIC || major > NEWEST) {
            reason = LeftAlone.UNKNOWN_FORMAT;
            return;
        }
        if (major < OLDEST) {
            reason = LeftAlone.OLD_CLASS_FILE;
            return;
        }
        readPool();
        thisClass = u2(b, body + 2);
        int at = body + 6;
        at += 2 + 2 * u2(b, at);
        int fields = u2(b, at);
        at += 2;
        for (int i = 0; i < fields; i++) {
            at = afterAttributes(at + 6);
        }
        methods = at;
        int count = u2(b, at);
        at += 2;
        for (int i = 0; i < count; i++) {
            at = readMethod(i, at);
        }
        attributes = at;
    }

    private void readPool() {
        int count = u2(b, 8);
        pool = new int[count];
        byte[] in = b; // Local variables are faster in the interpreter, in which this code mostly runs.
        byte[] sizes = CONSTANT_SIZES;
        int at = 10;
        for (int i = 1; i < count; i++) {
            pool[i] = at;
            int tag = in[at];
            if (tag == TAG_UTF8) {
                at += 3 + ((in[at + 1] & 0xFF) << 8 | in[at + 2] & 0xFF);
                continue;
            }
            int size = sizes[tag];
            if (size == 0) {
                throw new IndexOutOfBoundsException("constant tag " + tag);
            }
            at += size;
            if (size == LONG_SIZE) {
                i++;
            }
        }
        body = at;
    }

    private static byte[] constantSizes() {
        byte[] size = new byte[TAG_PACKAGE + 1];
        for (int tag : new int[] {TAG_CLASS, TAG_STRING, TAG_METHOD_TYPE, TAG_MODULE, TAG_PACKAGE}) {
            size[tag] = 3;
        }
        for (int tag : new int[] {TAG_INTEGER, TAG_FLOAT, TAG_FIELDREF, TAG_METHODREF, TAG_INTERFACE_METHODREF,
                TAG_NAME_AND_TYPE, TAG_DYNAMIC, TAG_INVOKE_DYNAMIC}) {
            size[tag] = 5;
        }
        size[TAG_METHOD_HANDLE] = 4;
        size[TAG_LONG] = LONG_SIZE;
        size[TAG_DOUBLE] = LONG_SIZE;
        return size;
    }

    private int afterAttributes(int at) {
        int count = u2(b, at);
        at += 2;
        for (int i = 0; i < count; i++) {
            at = afterAttribute(at);
        }
        return at;
    }

    private int afterAttribute(int at) {
        int length = i4(b, at + 2);
        if (length < 0) {
            throw new IndexOutOfBoundsException("an attribute of " + length + " bytes");
        }
        return Math.addExact(at + 6, length);
    }

    private int readMethod(int index, int method) {
        int count = u2(b, method + 6);
        int at = method + 8;
        for (int i = 0; i < count; i++) {
            if (isCode(u2(b, at))) {
                readCode(index, method, at);
            }
            at = afterAttribute(at);
        }
        return at;
    }

    private boolean isCode(int name) {
        if (name != codeName && isUtf8(name, "Code")) { // A class may have the same text twice.
            codeName = name;
        }
        return name == codeName;
    }

    private void readCode(int index, int method, int code) {
        int start = code + 14;
        int end = start + i4(b, code + 10);
        loops = 0;
        jumpCount = 0;
        switches = 0;
        boolean entry = false;
        byte[] in = b;
        byte[] kinds = Opcodes.KINDS;
        for (int at = start; at < end;) {
            int kind = kinds[in[at] & 0xFF];
            if (kind > 0) {
                at += kind;
                continue;
            }
            switch (kind) {
                case Opcodes.BRANCH -> jump(at - start, (short) u2(b, at + 1));
                case Opcodes.WIDE_BRANCH -> jump(at - start, i4(b, at + 1));
                case Opcodes.SWITCH -> switchTargets(start, at - start);
                case Opcodes.INVOKE -> entry = entry || calls(u2(b, at + 1), method);
                default -> {
                }
            }
            at += Opcodes.length(b, start, at - start);
        }
        handlers(end);
        if (loops > 0 || entry) {
            add(index, method, code, entry);
        }
    }

    private void jump(int from, int offset) {
        note(from);
        branch(from, offset);
    }

    private void note(int jump) {
        if (jumpCount == jumps.length) {
            jumps = Arrays.copyOf(jumps, jumpCount * 2);
        }
        jumps[jumpCount++] = jump;
    }

    private void switchTargets(int start, int pc) {
        note(pc);
        switches++;
        boolean table = (b[start + pc] & 0xFF) == Opcodes.TABLESWITCH;
        int at = start + pc + 1 + Opcodes.padding(pc);
        int end = start + pc + Opcodes.length(b, start, pc);
        branch(pc, i4(b, at));
        for (at += 12; at < end; at += table ? 4 : 8) {
            branch(pc, i4(b, at));
        }
    }

    private void branch(int from, int offset) {
        if (offset <= 0) {
            loop(from + offset, from);
        }
    }

    private void handlers(int at) {
        int count = u2(b, at);
        for (int i = 0; i < count; i++) {
            int from = u2(b, at + 2 + i * 8);
            int handler = u2(b, at + 6 + i * 8);
            if (handler < from) {
                loop(handler, u2(b, at + 4 + i * 8) - 1);
            }
        }
    }

    private void loop(int header, int last) {
        for (int i = loops - 1; i >= 0; i--) {
            if (headers[i] == header) {
                lasts[i] = Math.max(lasts[i], last);
                return;
            }
        }
        if (loops == headers.length) {
            headers = Arrays.copyOf(headers, loops * 2);
            lasts = Arrays.copyOf(lasts, loops * 2);
        }
        headers[loops] = header;
        lasts[loops++] = last;
    }

    /** Returns whether the method reference refers to the method itself. */
    private boolean calls(int reference, int method) {
        int at = pool[reference];
        int nameAndType = pool[u2(b, at + 3)];
        return same(u2(b, nameAndType + 1), u2(b, method + 2)) && same(u2(b, nameAndType + 3), u2(b, method + 4))
                && sameClass(u2(b, at + 1));
    }

    private boolean sameClass(int other) {
        return other == thisClass || same(u2(b, pool[other] + 1), u2(b, pool[thisClass] + 1));
    }

    private boolean same(int utf8, int other) {
        if (utf8 == other) {
            return true;
        }
        int at = pool[utf8] + 1;
        int from = pool[other] + 1;
        int length = 2 + u2(b, at);
        return Arrays.equals(b, at, at + length, b, from, Math.min(from + length, b.length));
    }

    private void add(int index, int method, int code, boolean entry) {
        int name = u2(b, method + 2);
        int length = i4(b, code + 10);
        int grown = length + loops * (BACK_SIZE + SKIP_SIZE) + (entry ? POINT_SIZE : 0) + switches * PADDING;
        if (isUtf8(name, "<clinit>")) {
            LeftAlone.CLASS_INITIALIZER.count();
        } else if (grown > JUMP_LIMIT) {
            LeftAlone.METHOD_TOO_LONG.count();
        } else if (length <= JIT_LIMIT && grown > JIT_LIMIT) {
            LeftAlone.JIT_LIMIT.count();
        } else {
            int[] sorted = Arrays.copyOf(headers, loops);
            Arrays.sort(sorted);
            int[] ends = new int[loops];
            byte[] depths = new byte[loops];
            boolean[] vectors = new boolean[loops];
            boolean[] backs = new boolean[loops];
            for (int i = 0; i < loops; i++) {
                int last = last(sorted[i]);
                depths[i] = (byte) depth(sorted[i], last);
                ends[i] = last;
                boolean innermost = i + 1 == loops || sorted[i + 1] > last;
                vectors[i] = innermost && VectorLoops.mayBe(this, code + 14, sorted[i], last);
                backs[i] = !vectors[i] && !(entry && sorted[i] == 0);
            }
            // In a method that calls itself, the point of a loop at offset 0 is also the point at the entry.
            found.add(new MethodPoints(index, code, name, sorted, ends, depths, vectors, backs,
                    entry && (loops == 0 || sorted[0] != 0), Arrays.copyOf(jumps, jumpCount)));
        }
    }

    private int last(int header) {
        int at = 0;
        while (headers[at] != header) {
            at++;
        }
        return lasts[at];
    }

    private int depth(int header, int last) {
        int depth = 0;
        for (int i = 0; i < loops; i++) {
            if (headers[i] < header && lasts[i] >= last) {
                depth++;
            }
        }
        return Math.min(depth, Byte.MAX_VALUE);
    }
}
