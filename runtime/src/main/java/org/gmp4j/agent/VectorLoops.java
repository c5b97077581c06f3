// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.gmp4j.classfile.Bytes.u2;

import org.gmp4j.classfile.Opcodes;

/**
 * Which loops C2 may vectorise, as far as their instructions show. Only these does an armed point make much slower, because the load
 * in it cannot be vectorised (a sum over an array of ints 5.2 times; other loops 0.6 to 1.3). A loop counts as one when
 * <ul>
 * <li>no other loop is in it,
 * <li>it counts: there is an {@code iinc}, or an addition of longs,
 * <li>it touches elements of arrays of numbers, or by way of {@code java.nio} buffers, memory segments, VarHandles or the
 * vector API,
 * <li>and calls nothing else but methods of {@code Math} and of the boxes of numbers, which C2 knows.
 * </ul>
 * A loop that is taken for one by mistake has a point that is not armed from the start, and is reached by nudges, or where
 * those are late by arming ({@link Points#arm}). One that is missed runs slower: a copy loop that gets its elements
 * by a method of the program's own, say, which C2 inlines.
 */
final class VectorLoops {
    private static final String[] ELEMENTS = {"java/nio/", "java/lang/foreign/", "java/lang/invoke/VarHandle",
            "jdk/incubator/vector/"};
    private static final String[] KNOWN = {"java/lang/Math", "java/lang/StrictMath", "java/lang/Integer", "java/lang/Long",
            "java/lang/Short", "java/lang/Byte", "java/lang/Character", "java/lang/Float", "java/lang/Double"};

    private VectorLoops() {
    }

    /** Whether C2 may vectorise the loop without inner loops from {@code header} to {@code last}, offsets from {@code start}. */
    static boolean mayBe(PointScan scan, int start, int header, int last) {
        byte[] b = scan.classFile();
        boolean elements = false;
        boolean counts = false;
        for (int pc = header; pc <= last; pc += length(b, start, pc)) {
            int op = b[start + pc] & 0xFF;
            if (op >= Opcodes.IALOAD && op <= Opcodes.SALOAD && op != Opcodes.AALOAD
                    || op >= Opcodes.IASTORE && op <= Opcodes.SASTORE && op != Opcodes.AASTORE) {
                elements = true;
            } else if (op == Opcodes.IINC || op == Opcodes.LADD || op == Opcodes.WIDE && (b[start + pc + 1] & 0xFF) == Opcodes.IINC) {
                counts = true;
            } else if (op == Opcodes.INVOKEDYNAMIC) {
                return false;
            } else if (op >= Opcodes.INVOKEVIRTUAL && op <= Opcodes.INVOKEINTERFACE) {
                int owner = u2(b, start + pc + 1);
                if (scan.isOwner(owner, ELEMENTS, true)) {
                    elements = true;
                } else if (!scan.isOwner(owner, KNOWN, false)) {
                    return false;
                }
            }
        }
        return elements && counts;
    }

    private static int length(byte[] b, int start, int pc) {
        int kind = Opcodes.lengthOrKind(b[start + pc]);
        return kind > 0 ? kind : Opcodes.length(b, start, pc);
    }
}
