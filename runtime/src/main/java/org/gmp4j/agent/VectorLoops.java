// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.gmp4j.classfile.Bytes.u2;

import org.gmp4j.classfile.Opcodes;

/**
 * Decides from a loop's instructions whether C2 may vectorise it. Only such loops become much slower by an armed point, whose load prevents
 * the vectorisation. A loop counts as one that C2 may vectorise when
 * <ul>
 * <li>no other loop is in it,
 * <li>it has an {@code iinc}, or an addition of longs,
 * <li>it reads or writes elements of arrays of numbers, directly or through {@code java.nio} buffers, memory segments, VarHandles or
 * the vector API,
 * <li>and it calls only methods of {@code Math} and of the boxes of numbers, which are intrinsics of C2.
 * </ul>
 * If a loop counts as one by mistake, its point is not armed from the start. Then nudges stop the loop, or, if nudges take effect late,
 * arming does ({@link Points#arm}). A loop that C2 vectorises but this class misses becomes slower when its point is armed. An example is a
 * copy loop that reads its elements by a method of the program, which C2 inlines.
 */
final class VectorLoops {
    private static final String[] ELEMENTS = {"java/nio/", "java/lang/foreign/", "java/lang/invoke/VarHandle",
            "jdk/incubator/vector/"};
    private static final String[] KNOWN = {"java/lang/Math", "java/lang/StrictMath", "java/lang/Integer", "java/lang/Long",
            "java/lang/Short", "java/lang/Byte", "java/lang/Character", "java/lang/Float", "java/lang/Double"};

    private VectorLoops() {
    }

    /**
     * Returns whether C2 may vectorise a loop without inner loops. The loop goes from {@code header} to {@code last}, offsets from {@code
     * start}.
     */
    static boolean mayBe(PointScan scan, int start, int header, int last) {
        byte[] b = scan.classFile();
        boolean elements = false;
        boolean counts = false;
        for (int pc = header; pc <= last; pc += Opcodes.length(b, start, pc)) {
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
}
