// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static java.lang.classfile.attribute.StackMapFrameInfo.VerificationTypeInfo.ITEM_OBJECT;
import static java.lang.classfile.attribute.StackMapFrameInfo.VerificationTypeInfo.ITEM_UNINITIALIZED;

import static org.gmp4j.classfile.Bytes.i4;
import static org.gmp4j.classfile.Bytes.u2;

import org.gmp4j.agent.PointScan.MethodPoints;
import org.gmp4j.classfile.Bytes;
import org.gmp4j.classfile.Opcodes;

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
    private final PointWriter sites;
    private final byte[] b;
    private final Bytes out;
    /** Where the old code starts, and how long it is. */
    private final int start;
    private final int length;
    /** From the old offset {@code froms[i]} on, an instruction has moved by {@code shifts[i]}. */
    private final int[] froms;
    private final int[] shifts;
    private int moves;
    /** The one found last, or -1. */
    private int found = -1;

    /** Writes to {@code out}; {@code sites} gives the constants that points call. */
    CodeWriter(PointScan scan, MethodPoints points, Bytes out, PointWriter sites) {
        this.scan = scan;
        this.points = points;
        this.sites = sites;
        this.out = out;
        b = scan.classFile();
        start = points.code() + 14;
        length = i4(b, points.code() + 10);
        froms = new int[points.count() + points.jumps().length];
        shifts = new int[froms.length];
    }

    void write() {
        int code = points.code();
        layOut();
        int lengthAt = out.size() + 2;
        out.copy(b, code, code + 10); // name, length (later), max_stack, max_locals
        out.i4(moved(length));
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

    /** Finds what moves: everything behind a point, and behind a switch whose padding changes. */
    private void layOut() {
        int shift = 0;
        if (points.entry()) {
            shift = move(0, PointScan.POINT_SIZE);
        }
        int next = 0;
        int[] headers = points.headers();
        for (int jump : points.jumps()) {
            for (; next < headers.length && headers[next] <= jump; next++) {
                shift = move(headers[next], shift + PointScan.POINT_SIZE);
            }
            if (isSwitch(b[start + jump])) {
                int padding = Opcodes.padding(jump + shift) - Opcodes.padding(jump);
                if (padding != 0) {
                    shift = move(jump + 1, shift + padding);
                }
            }
        }
        for (; next < headers.length; next++) {
            shift = move(headers[next], shift + PointScan.POINT_SIZE);
        }
    }

    private int move(int from, int shift) {
        froms[moves] = from;
        shifts[moves++] = shift;
        return shift;
    }

    private static boolean isSwitch(byte op) {
        return Opcodes.lengthOrKind(op) == Opcodes.SWITCH;
    }

    /** The new offset of an instruction. */
    private int moved(int pc) {
        find(pc);
        return found < 0 ? pc : pc + shifts[found];
    }

    /** The new offset of a place to go to. */
    private int place(int pc) {
        find(pc);
        if (found < 0) {
            return pc;
        }
        // An instruction that begins where a move does is what a point stands in front of.
        return pc + shifts[found] - (froms[found] == pc ? PointScan.POINT_SIZE : 0);
    }

    /** Has {@link #found} be the last move that is not behind {@code pc}. Most are asked for in ascending order. */
    private void find(int pc) {
        int i = found;
        while (i + 1 < moves && froms[i + 1] <= pc) {
            i++;
        }
        while (i >= 0 && froms[i] > pc) {
            i--;
        }
        found = i;
    }

    private void instructions() {
        int copied = 0;
        int next = 0;
        int[] headers = points.headers();
        if (points.entry()) {
            point(0);
        }
        for (int jump : points.jumps()) {
            for (; next < headers.length && headers[next] <= jump; next++) {
                out.copy(b, start + copied, start + headers[next]);
                copied = headers[next];
                point(points.depths()[next] | (points.vectors()[next] ? PointWriter.VECTOR : 0));
            }
            out.copy(b, start + copied, start + jump);
            copied = jump + Opcodes.length(b, start, jump);
            jump(jump, copied);
        }
        // A loop that goes round by an exception alone may come behind the last jump.
        for (; next < headers.length; next++) {
            out.copy(b, start + copied, start + headers[next]);
            copied = headers[next];
            point(points.depths()[next] | (points.vectors()[next] ? PointWriter.VECTOR : 0));
        }
        out.copy(b, start + copied, start + length);
    }

    /** @param depth perhaps with {@link PointWriter#VECTOR} */
    private void point(int depth) {
        out.u1(Opcodes.INVOKEDYNAMIC);
        out.u2(sites.site(depth));
        out.u2(0);
    }

    private void jump(int pc, int end) {
        int at = start + pc;
        int op = b[at] & 0xFF;
        out.u1(op);
        switch (Opcodes.lengthOrKind(b[at])) {
            case Opcodes.BRANCH -> out.u2(offset(pc, (short) u2(b, at + 1)));
            case Opcodes.WIDE_BRANCH -> out.i4(offset(pc, i4(b, at + 1)));
            default -> switchTable(op, pc, end);
        }
    }

    private int offset(int from, int offset) {
        return place(from + offset) - moved(from);
    }

    private void switchTable(int op, int pc, int end) {
        for (int i = Opcodes.padding(moved(pc)); i > 0; i--) {
            out.u1(0);
        }
        int at = pc + 1 + Opcodes.padding(pc);
        out.i4(offset(pc, i4(b, start + at)));
        at += 4;
        if (op == Opcodes.TABLESWITCH) {
            out.copy(b, start + at, start + at + 8);
            for (at += 8; at < end; at += 4) {
                out.i4(offset(pc, i4(b, start + at)));
            }
        } else {
            out.copy(b, start + at, start + at + 4);
            for (at += 4; at < end; at += 8) {
                out.copy(b, start + at, start + at + 4);
                out.i4(offset(pc, i4(b, start + at + 4)));
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
                out.u2(moved(u2(b, at)));
                at += 2;
            }
        }
        return at;
    }
}
