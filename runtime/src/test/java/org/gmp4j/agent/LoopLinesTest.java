// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.LineNumber;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

/** A breakpoint in the first line of a loop stops in each round: its entry is on an instruction that each round passes once. */
class LoopLinesTest {
    private static byte[] loop(boolean atStart) {
        return ClassFile.of().build(ClassDesc.of("Lines"), c -> c.withMethodBody("m", MethodTypeDesc.of(ConstantDescs.CD_void,
                ConstantDescs.CD_int), ClassFile.ACC_STATIC, b -> {
                    if (!atStart) {
                        b.lineNumber(7).iconst_0().istore(0);
                    }
                    b.lineNumber(9);
                    Label header = b.newBoundLabel();
                    b.iinc(0, 1).lineNumber(10).iload(0).bipush(5).if_icmplt(header).lineNumber(11).return_();
                }));
    }

    /** The instructions at which lines begin, in the order of the table. */
    private static List<String> lines(byte[] classFile) {
        CodeModel code = ClassFile.of().parse(classFile).methods().getFirst().code().orElseThrow();
        List<String> lines = new ArrayList<>();
        List<Integer> begun = new ArrayList<>();
        for (CodeElement e : code) {
            if (e instanceof LineNumber l) {
                begun.add(l.line());
            } else if (e instanceof Instruction i && !begun.isEmpty()) {
                lines.add(begun + " " + (i.opcode() == Opcode.IINC_W ? Opcode.IINC : i.opcode()));
                begun.clear();
            }
        }
        return lines;
    }

    @Test
    void theLineIsTheLoops() {
        byte[] changed = PointTransformer.addPoints(loop(false));
        assertEquals(List.of("[7] ICONST_0", "[9] IINC", "[10] ILOAD_0", "[11] RETURN"), lines(changed));
    }

    /** The code before the first line of a method has that line as well. */
    @Test
    void aLoopThatBeginsItsMethod() {
        byte[] changed = PointTransformer.addPoints(loop(true));
        assertEquals(List.of("[9] GOTO", "[9] IINC", "[10] ILOAD_0", "[11] RETURN"), lines(changed));
    }
}
