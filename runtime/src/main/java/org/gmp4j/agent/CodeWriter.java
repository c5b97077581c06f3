package org.gmp4j.agent;

import static java.lang.classfile.attribute.StackMapFrameInfo.VerificationTypeInfo.ITEM_OBJECT;
import static java.lang.classfile.attribute.StackMapFrameInfo.VerificationTypeInfo.ITEM_UNINITIALIZED;

import static org.gmp4j.agent.Bytes.i4;
import static org.gmp4j.agent.Bytes.u2;

import java.util.Arrays;
import java.util.function.IntUnaryOperator;

import org.gmp4j.agent.PointScan.MethodPoints;

/**
 * Writes one method's {@code Code} attribute with its points.
 *
 * <p>A point takes nothing from the operand stack and leaves nothing there, so the frame of the instruction behind it is
 * its frame: the stack map keeps its frames, only their offsets move. An offset has one of two meanings. As a <em>place to
 * go to</em> (a jump's target, a range's limit, a frame, a line) it means the point in front of the instruction; as
 * <em>the instruction</em> (the {@code new} of an object whose constructor has not run yet) it means what is behind.
 */
final class CodeWriter {
    private static final int SAME_1 = 64;
    private static final int SAME_1_EXTENDED = 247;
    private static final int CHOP = 248;
    private static final int SAME_EXTENDED = 251;
    private static final int FULL = 255;

    private final PointScan scan;
    private final MethodPoints points;
    private final IntUnaryOperator site;
    private final byte[] b;
    private final Bytes out;
    /** Where the old code starts, and how long it is. */
    private final int start;
    private final int length;
    /** By old offset of an instruction: its new offset. */
    private final int[] moved;

    /** Writes to {@code out}; {@code site} gives the constant that a point of a depth calls. */
    CodeWriter(PointScan scan, MethodPoints points, Bytes out, IntUnaryOperator site) {
        this.scan = scan;
        this.points = points;
        this.site = site;
        this.out = out;
        b = scan.classFile();
        start = points.code() + 14;
        length = i4(b, points.code() + 10);
        moved = new int[length + 1];
    }

    void write() {
        int code = points.code();
        int newLength = layOut();
        int lengthAt = out.size() + 2;
        out.copy(b, code, code + 10); // name, length (later), max_stack, max_locals
        out.i4(newLength);
        instructions();
        int at = exceptions(start + length);
        int attributes = u2(b, at);
        out.u2(attributes);
        int countAt = out.size() - 2;
        at += 2;
        int kept = 0;
        for (int i = 0; i < attributes; i++) {
            int end = at + 6 + i4(b, at + 2);
            kept += attribute(at, end) ? 1 : 0;
            at = end;
        }
        out.u2At(countAt, kept);
        out.i4At(lengthAt, out.size() - lengthAt - 4);
    }

    /** Fills {@link #moved}; returns the new length. */
    private int layOut() {
        int next = 0;
        int to = points.entry() ? PointScan.POINT_SIZE : 0;
        int[] headers = points.headers();
        for (int pc = 0; pc < length;) {
            if (next < headers.length && headers[next] == pc) {
                next++;
                to += PointScan.POINT_SIZE;
            }
            moved[pc] = to;
            int op = b[start + pc] & 0xFF;
            int size = Opcodes.length(b, start, pc);
            if (op == Opcodes.TABLESWITCH || op == Opcodes.LOOKUPSWITCH) {
                to += padding(to) - padding(pc);
            }
            pc += size;
            to += size;
        }
        if (next != headers.length) {
            throw new IllegalArgumentException("a branch into the middle of an instruction");
        }
        moved[length] = to;
        return to;
    }

    /** The bytes between a switch at {@code pc} and its table. */
    private static int padding(int pc) {
        return 3 - (pc & 3);
    }

    /** The new offset of a place to go to. */
    private int place(int pc) {
        boolean point = pc == 0 ? moved[0] > 0 : Arrays.binarySearch(points.headers(), pc) >= 0;
        return moved[pc] - (point ? PointScan.POINT_SIZE : 0);
    }

    private void instructions() {
        int next = 0;
        int[] headers = points.headers();
        if (points.entry()) {
            point(0);
        }
        for (int pc = 0; pc < length;) {
            if (next < headers.length && headers[next] == pc) {
                point(points.depths()[next++]);
            }
            int at = start + pc;
            int op = b[at] & 0xFF;
            int size = Opcodes.length(b, start, pc);
            if (Opcodes.isBranch(op)) {
                out.u1(op);
                out.u2(jump(pc, (short) u2(b, at + 1)));
            } else if (op == Opcodes.GOTO_W || op == Opcodes.JSR_W) {
                out.u1(op);
                out.i4(jump(pc, i4(b, at + 1)));
            } else if (op == Opcodes.TABLESWITCH || op == Opcodes.LOOKUPSWITCH) {
                switchTable(op, pc, pc + size);
            } else {
                out.copy(b, at, at + size);
            }
            pc += size;
        }
    }

    private void point(int depth) {
        out.u1(Opcodes.INVOKEDYNAMIC);
        out.u2(site.applyAsInt(depth));
        out.u2(0);
    }

    private int jump(int from, int offset) {
        return place(from + offset) - moved[from];
    }

    private void switchTable(int op, int pc, int end) {
        out.u1(op);
        for (int i = padding(moved[pc]); i > 0; i--) {
            out.u1(0);
        }
        int at = pc + 1 + padding(pc);
        out.i4(jump(pc, i4(b, start + at)));
        at += 4;
        if (op == Opcodes.TABLESWITCH) {
            out.copy(b, start + at, start + at + 8);
            for (at += 8; at < end; at += 4) {
                out.i4(jump(pc, i4(b, start + at)));
            }
        } else {
            out.copy(b, start + at, start + at + 4);
            for (at += 4; at < end; at += 8) {
                out.copy(b, start + at, start + at + 4);
                out.i4(jump(pc, i4(b, start + at + 4)));
            }
        }
    }

    private int exceptions(int at) {
        int count = u2(b, at);
        out.u2(count);
        at += 2;
        for (int i = 0; i < count; i++, at += 8) {
            out.u2(place(u2(b, at)));
            out.u2(place(u2(b, at + 2)));
            out.u2(place(u2(b, at + 4)));
            out.u2(u2(b, at + 6));
        }
        return at;
    }

    /** Whether it was kept. */
    private boolean attribute(int at, int end) {
        int name = u2(b, at);
        if (scan.isUtf8(name, "StackMapTable")) {
            int lengthAt = out.size() + 2;
            out.copy(b, at, at + 6);
            frames(at + 6);
            out.i4At(lengthAt, out.size() - lengthAt - 4);
        } else if (scan.isUtf8(name, "LineNumberTable")) {
            out.copy(b, at, at + 8);
            for (int i = at + 8; i < end; i += 4) {
                out.u2(place(u2(b, i)));
                out.u2(u2(b, i + 2));
            }
        } else if (scan.isUtf8(name, "LocalVariableTable") || scan.isUtf8(name, "LocalVariableTypeTable")) {
            out.copy(b, at, at + 8);
            for (int i = at + 8; i < end; i += 10) {
                int from = place(u2(b, i));
                out.u2(from);
                out.u2(place(u2(b, i) + u2(b, i + 2)) - from);
                out.copy(b, i + 4, i + 10);
            }
        } else {
            // Type annotations inside code, and what we do not know: nothing at run time reads them, and their offsets
            // would be wrong.
            return false;
        }
        return true;
    }

    private void frames(int at) {
        int count = u2(b, at);
        out.u2(count);
        at += 2;
        int old = -1;
        int last = -1;
        for (int i = 0; i < count; i++) {
            int type = b[at++] & 0xFF;
            int delta = type;
            if (type >= SAME_1_EXTENDED) {
                delta = u2(b, at);
                at += 2;
            } else if (type >= SAME_1) {
                delta = type - SAME_1;
            }
            old += delta + 1;
            int to = place(old);
            frameHead(type, to - last - 1);
            last = to;
            at = frameTypes(type, at);
        }
    }

    private void frameHead(int type, int delta) {
        if (type < SAME_1_EXTENDED) {
            int base = type < SAME_1 ? 0 : SAME_1;
            if (delta < SAME_1) {
                out.u1(base + delta);
                return;
            }
            type = base == 0 ? SAME_EXTENDED : SAME_1_EXTENDED;
        }
        out.u1(type);
        out.u2(delta);
    }

    private int frameTypes(int type, int at) {
        if (type == FULL) {
            int locals = u2(b, at);
            out.u2(locals);
            at = types(locals, at + 2);
            int stack = u2(b, at);
            out.u2(stack);
            return types(stack, at + 2);
        }
        if (type > SAME_EXTENDED) {
            return types(type - SAME_EXTENDED, at);
        }
        return type >= SAME_1 && type < CHOP ? types(1, at) : at;
    }

    private int types(int count, int at) {
        for (int i = 0; i < count; i++) {
            int tag = b[at++];
            out.u1(tag);
            if (tag == ITEM_OBJECT) {
                out.u2(u2(b, at));
                at += 2;
            } else if (tag == ITEM_UNINITIALIZED) {
                out.u2(moved[u2(b, at)]);
                at += 2;
            }
        }
        return at;
    }
}
