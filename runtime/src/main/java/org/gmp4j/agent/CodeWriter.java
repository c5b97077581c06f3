// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.gmp4j.classfile.Bytes.i4;
import static org.gmp4j.classfile.Bytes.u2;

import org.gmp4j.agent.PointScan.MethodPoints;
import org.gmp4j.classfile.Bytes;
import org.gmp4j.classfile.Opcodes;

/**
 * Writes one method's {@code Code} attribute with its points.
 *
 * <p>A <em>plain</em> point is a call ({@link PointWriter}) in front of the instruction. Most loops have a point <em>on the way back</em>
 * to the header instead:
 *
 * <pre>
 *         goto header              // if the instruction before falls through to it
 * point:  call                     // returns whether it called the hook
 *         ifeq header
 *         nop
 * header: ...
 *         if... point              // as every jump back; jumps forward go to the header
 * </pre>
 *
 * So there are two ways from the point to the header. C2 knows the result of the call on each way, and makes two loops. The inner, hot loop
 * has no call: C2 counts and unrolls it as if the point were a load and a branch of the program. The outer loop has the rounds that called
 * the hook. With a plain point the call is in the only loop, and the loop's variables may go through memory in each round ({@link
 * JdkPoint}). The nop keeps the two ways apart: if both were one edge, C2 would drop the test. In code that is entered in the middle of a
 * loop (on-stack replacement) the loop begins at the point, and there is only one way again.
 *
 * <p>Points are plain at a method's entry, at headers where the operand stack is not empty, and in loops that C2 may vectorise, where
 * points are normally not armed.
 *
 * <p>A point leaves nothing on the operand stack, so it has the frame of the instruction behind it. The stack map keeps its frames, and
 * only their offsets move. A header with a point on the way back has its frame twice: at the point and at the header.
 *
 * <p>An old offset has one of two new offsets. The offset of a <em>place to go to</em> (a jump's target, a range's limit, a frame) becomes
 * the offset of the code that was put in front of the instruction. A jump to a header with a point on the way back goes to {@code point} or
 * to {@code header}, as in the picture. The offset of an <em>instruction</em> (the {@code new} of an object whose constructor has not run
 * yet) becomes the offset of the instruction behind that code.
 *
 * <p>A line that begins at a header begins with the instruction if the point is on the way back, because the first round does not pass the
 * point. So a breakpoint in the line stops once in each round. The point belongs to the line before.
 */
final class CodeWriter {
    /** The length of the {@code ifeq} and the {@code nop} behind a call on the way back. */
    static final int BRANCH_SIZE = 4;
    /** The greatest {@code max_stack}. No method that gets points is long enough to fill such a stack. */
    private static final int MAX_STACK = 65_535;

    private final PointScan scan;
    private final MethodPoints points;
    private final PointWriter sites;
    private final byte[] b;
    private final Bytes out;
    /** For each header, whether its point is on the way back. */
    private final boolean[] backs;
    /** The length of a plain point, which is less than that of a point on the way back. */
    private final int plainSize;
    private final int backSize;
    /** The start of the old code. */
    private final int start;
    private final int length;
    /** The old offset at which each move begins. From {@code froms[i]} on, instructions have moved by {@code shifts[i]}. */
    private final int[] froms;
    private final int[] shifts;
    /** The size of the code that was put in front of the instruction at {@code froms[i]}, which is a part of the shift. */
    private final int[] sizes;
    private int moves;
    /** The index of the move that was found last, or -1. */
    private int found = -1;

    /** Makes a writer to {@code out}. {@code sites} writes the calls. */
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
        sizes = new int[froms.length];
        backs = points.backs().clone();
        plainSize = sites.callSize(false);
        backSize = sites.callSize(true) + BRANCH_SIZE;
    }

    void write() {
        int code = points.code();
        boolean allEmpty = clearBacksAtNonEmptyStacks();
        layOut();
        int lengthAt = out.size() + 2;
        out.copy(b, code, code + 6); // name, length (later)
        int stack = u2(b, code + 6);
        out.u2(allEmpty ? Math.max(stack, 1) : Math.min(stack + 1, MAX_STACK));
        out.copy(b, code + 8, code + 10); // max_locals
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

    /**
     * Clears {@link #backs} for headers where the operand stack is not empty, and for unreachable headers. Returns whether the stack is
     * empty at all headers.
     */
    private boolean clearBacksAtNonEmptyStacks() {
        boolean[] empty = new boolean[backs.length];
        int at = start + length;
        at += 2 + 8 * u2(b, at);
        int attributes = u2(b, at);
        at += 2;
        for (int i = 0; i < attributes; i++) {
            if (scan.isUtf8(u2(b, at), "StackMapTable")) {
                emptyStacks(new Frames(b, at + 6), empty);
            }
            at += 6 + i4(b, at + 2);
        }
        boolean all = true;
        for (int i = 0; i < backs.length; i++) {
            backs[i] &= empty[i];
            all &= empty[i];
        }
        return all;
    }

    private void emptyStacks(Frames frames, boolean[] empty) {
        int[] headers = points.headers();
        int next = 0;
        while (frames.next()) {
            while (next < headers.length && headers[next] < frames.pc()) {
                next++;
            }
            if (next < headers.length && headers[next] == frames.pc()) {
                empty[next] = frames.stackIsEmpty();
            }
        }
    }

    /** Computes the moves. The code behind a point, and behind a switch whose padding changes, moves. */
    private void layOut() {
        int shift = points.entry() ? move(0, plainSize, plainSize) : 0;
        int next = 0;
        int from = 0;
        int[] headers = points.headers();
        for (int jump : points.jumps()) {
            for (; next < headers.length && headers[next] <= jump; next++) {
                shift = moveHeader(next, from, shift);
                from = headers[next];
            }
            from = jump;
            if (isSwitch(b[start + jump])) {
                int padding = Opcodes.padding(jump + shift) - Opcodes.padding(jump);
                if (padding != 0) {
                    shift = move(jump + 1, shift + padding, 0);
                }
            }
        }
        for (; next < headers.length; next++) {
            shift = moveHeader(next, from, shift);
            from = headers[next];
        }
    }

    /** @param from an instruction before the header, such that no instruction between them jumps */
    private int moveHeader(int i, int from, int shift) {
        int header = points.headers()[i];
        int size = !backs[i] ? plainSize : backSize + (isFallenInto(from, header) ? PointScan.SKIP_SIZE : 0);
        return move(header, shift + size, size);
    }

    /** Returns whether the instruction before {@code pc} may fall through to {@code pc}. */
    private boolean isFallenInto(int from, int pc) {
        int before = from;
        for (int at = from; at < pc; at += Opcodes.length(b, start, at)) {
            before = at;
        }
        int op = b[start + before] & 0xFF;
        return before == pc || op < Opcodes.GOTO || op > Opcodes.RETURN && op != Opcodes.ATHROW && op != Opcodes.GOTO_W;
    }

    private int move(int from, int shift, int size) {
        froms[moves] = from;
        sizes[moves] = size;
        shifts[moves++] = shift;
        return shift;
    }

    private static boolean isSwitch(byte op) {
        return Opcodes.lengthOrKind(op) == Opcodes.SWITCH;
    }

    /** Returns the new offset of an instruction. */
    int moved(int pc) {
        find(pc);
        return found < 0 ? pc : pc + shifts[found];
    }

    /** Returns the new offset of a place to go to. */
    private int place(int pc) {
        find(pc);
        if (found < 0) {
            return pc;
        }
        // An instruction at the start of a move has a point in front of it.
        return pc + shifts[found] - (froms[found] == pc ? sizes[found] : 0);
    }

    /** Returns the new offset of the target {@code pc} of a jump at {@code from}. */
    private int target(int from, int pc) {
        find(pc);
        if (found < 0 || froms[found] != pc || sizes[found] < backSize) {
            return place(pc);
        }
        return pc + shifts[found] - (from < pc ? 0 : backSize);
    }

    /** Sets {@link #found} to the last move that is not behind {@code pc}. Begins at the old one, because most calls ascend. */
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
            sites.call(out, 0, false);
        }
        for (int jump : points.jumps()) {
            for (; next < headers.length && headers[next] <= jump; next++) {
                copied = header(next, copied);
            }
            out.copy(b, start + copied, start + jump);
            copied = jump + Opcodes.length(b, start, jump);
            jump(jump, copied);
        }
        // A loop that only an exception repeats may come behind the last jump.
        for (; next < headers.length; next++) {
            copied = header(next, copied);
        }
        out.copy(b, start + copied, start + length);
    }

    /** Copies the instructions before the header, and writes its point. */
    private int header(int i, int copied) {
        int header = points.headers()[i];
        out.copy(b, start + copied, start + header);
        int depth = points.depths()[i] | (points.vectors()[i] ? PointWriter.VECTOR : 0);
        if (!backs[i]) {
            sites.call(out, depth, false);
            return header;
        }
        if (moved(header) - place(header) > backSize) {
            out.u1(Opcodes.GOTO);
            out.u2(PointScan.SKIP_SIZE + backSize);
        }
        sites.call(out, depth, true);
        out.u1(Opcodes.IFEQ);
        out.u2(BRANCH_SIZE);
        out.u1(Opcodes.NOP);
        return header;
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
        return target(from, from + offset) - moved(from);
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

    /** Writes an attribute of the code, unless it is dropped. Returns whether it was written. */
    private boolean attribute(int at, int end) {
        int name = u2(b, at);
        if (scan.isUtf8(name, "StackMapTable")) {
            int lengthAt = out.size() + 2;
            out.copy(b, at, at + 6);
            frames(new Frames(b, at + 6));
            out.i4At(lengthAt, out.size() - lengthAt - 4);
        } else if (scan.isUtf8(name, "LineNumberTable")) {
            lines(at, end);
        } else if (scan.isUtf8(name, "LocalVariableTable") || scan.isUtf8(name, "LocalVariableTypeTable")) {
            out.copy(b, at, at + 8);
            for (int i = at + 8; i < end; i += 10) {
                int from = place(u2(b, i));
                out.u2(from);
                out.u2(place(u2(b, i) + u2(b, i + 2)) - from);
                out.copy(b, i + 4, i + 10);
            }
        } else {
            // The attribute is unknown, or has type annotations of the code. It is not read at run time, and its offsets would be
            // wrong.
            return false;
        }
        return true;
    }

    private void lines(int at, int end) {
        int lengthAt = out.size() + 2;
        out.copy(b, at, at + 8);
        for (int i = at + 8; i < end; i += 4) {
            int pc = u2(b, i);
            int to = line(pc);
            out.u2(to);
            out.u2(u2(b, i + 2));
            if (pc == 0 && to > 0) { // Otherwise the code in front would belong to no line. Debuggers take a line's first entry.
                out.u2(0);
                out.u2(u2(b, i + 2));
            }
        }
        int length = out.size() - lengthAt - 4;
        out.i4At(lengthAt, length);
        out.u2At(lengthAt + 4, (length - 2) / 4);
    }

    /** Returns the new offset of the start of a line. In a loop it is an instruction that every round passes, including the first. */
    private int line(int pc) {
        find(pc);
        return found >= 0 && froms[found] == pc && sizes[found] >= backSize ? moved(pc) : place(pc);
    }

    private void frames(Frames frames) {
        int countAt = out.size();
        out.u2(0); // later
        int written = 0;
        int last = -1;
        for (; frames.next(); written++) {
            int pc = frames.pc();
            int to = target(pc, pc);
            frames.write(to - last - 1, this, out);
            last = to;
            if (moved(pc) - to == backSize) { // The header repeats the frame of its point.
                Frames.writeSame(backSize - 1, out);
                last += backSize;
                written++;
            }
        }
        out.u2At(countAt, written);
    }
}
