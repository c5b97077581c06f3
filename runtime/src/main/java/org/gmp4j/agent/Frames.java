// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static java.lang.classfile.attribute.StackMapFrameInfo.VerificationTypeInfo.ITEM_OBJECT;
import static java.lang.classfile.attribute.StackMapFrameInfo.VerificationTypeInfo.ITEM_UNINITIALIZED;
import static org.gmp4j.classfile.Bytes.u2;

import java.util.Arrays;

import org.gmp4j.classfile.Bytes;

/** Reads the frames of a {@code StackMapTable} one after the other, and writes frames. */
final class Frames {
    /** The types below {@link #SAME_1_EXTENDED} contain the offset delta. */
    private static final int SAME_1 = 64;
    private static final int RESERVED = 128;
    private static final int SAME_1_EXTENDED = 247;
    private static final int CHOP = 248;
    private static final int SAME_EXTENDED = 251;
    private static final int FULL = 255;

    private final byte[] b;
    private int left;
    /** The end of the current frame. */
    private int end;
    /** The start of the current frame's part behind its type and offset delta. */
    private int body;
    private int pc = -1;
    private int type;
    private boolean stackIsEmpty;
    /** The places in the current frame where the offset of a {@code new} instruction is stored. */
    private int[] news = new int[4];
    private int newCount;

    /** @param at the offset of the number of frames, which the frames follow */
    Frames(byte[] b, int at) {
        this.b = b;
        left = u2(b, at);
        end = at + 2;
    }

    /**
     * Advances to the next frame. Returns false when there is none.
     *
     * @throws IndexOutOfBoundsException when the frame has an unknown type
     */
    boolean next() {
        if (left-- == 0) {
            return false;
        }
        int at = end;
        type = b[at++] & 0xFF;
        int delta = type;
        if (type >= SAME_1_EXTENDED) {
            delta = u2(b, at);
            at += 2;
        } else if (type >= RESERVED) {
            throw new IndexOutOfBoundsException("frame type " + type);
        } else if (type >= SAME_1) {
            delta = type - SAME_1;
        }
        pc += delta + 1;
        body = at;
        newCount = 0;
        stackIsEmpty = type < SAME_1 || type >= CHOP;
        if (type == FULL) {
            at = afterTypes(u2(b, at), at + 2);
            stackIsEmpty = u2(b, at) == 0;
            at = afterTypes(u2(b, at), at + 2);
        } else if (type > SAME_EXTENDED) {
            at = afterTypes(type - SAME_EXTENDED, at);
        } else if (!stackIsEmpty) {
            at = afterTypes(1, at);
        }
        end = at;
        return true;
    }

    private int afterTypes(int count, int at) {
        for (int i = 0; i < count; i++) {
            int tag = b[at++];
            if (tag == ITEM_UNINITIALIZED) {
                if (newCount == news.length) {
                    news = Arrays.copyOf(news, 2 * newCount);
                }
                news[newCount++] = at;
            }
            at += tag == ITEM_OBJECT || tag == ITEM_UNINITIALIZED ? 2 : 0;
        }
        return at;
    }

    /** Returns the offset of the frame's instruction. */
    int pc() {
        return pc;
    }

    boolean stackIsEmpty() {
        return stackIsEmpty;
    }

    /** Writes the frame. {@code delta} is its new offset delta. */
    void write(int delta, CodeWriter code, Bytes out) {
        writeHead(type, delta, out);
        int moved = out.size() - body;
        out.copy(b, body, end);
        for (int i = 0; i < newCount; i++) {
            out.u2At(news[i] + moved, code.moved(u2(b, news[i])));
        }
    }

    /** Writes a frame with the locals of the last frame and an empty stack. */
    static void writeSame(int delta, Bytes out) {
        writeHead(0, delta, out);
    }

    private static void writeHead(int type, int delta, Bytes out) {
        if (type >= SAME_1_EXTENDED) {
            out.u1(type);
            out.u2(delta);
            return;
        }
        boolean one = type >= SAME_1;
        if (delta < SAME_1) {
            out.u1(one ? SAME_1 + delta : delta);
        } else {
            out.u1(one ? SAME_1_EXTENDED : SAME_EXTENDED);
            out.u2(delta);
        }
    }
}
