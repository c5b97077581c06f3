// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static java.lang.constant.ConstantDescs.*;
import static org.gmp4j.agent.AssembledCode.BEFORE_DYNAMIC_CONSTANTS;
import static org.gmp4j.agent.AssembledCode.STATIC;
import static org.gmp4j.agent.AssembledCode.build;
import static org.gmp4j.agent.AssembledCode.check;
import static org.gmp4j.agent.AssembledCode.method;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

/** Loops that javac does not make. */
class AssembledLoopsTest {
    private static int[] depths(PointScan.MethodPoints points) {
        return IntStream.range(0, points.depths().length).map(i -> points.depths()[i]).toArray();
    }

    @Test
    void loopEnteredInTheMiddle() throws Exception {
        PointScan.MethodPoints points = check(method(b -> {
            Label first = b.newLabel();
            Label second = b.newLabel();
            b.iconst_0().istore(1).iload(0).iconst_1().iand().ifeq(second);
            b.labelBinding(first).iinc(1, 1);
            b.labelBinding(second).iinc(1, 2).iinc(0, -1).iload(0).ifgt(first);
            b.iload(1).ireturn();
        }));
        assertArrayEquals(new int[] {0}, depths(points));
    }

    /** Neither holds the other, so both are outermost. */
    @Test
    void overlappingLoops() throws Exception {
        PointScan.MethodPoints points = check(method(b -> {
            Label first = b.newLabel();
            Label second = b.newLabel();
            b.iconst_0().istore(1);
            b.labelBinding(first).iinc(1, 1);
            b.labelBinding(second).iinc(1, 3).iinc(0, -1);
            b.iload(0).iconst_3().iand().iconst_1().if_icmpeq(first);
            b.iload(0).ifgt(second);
            b.iload(1).ireturn();
        }));
        assertArrayEquals(new int[] {0, 0}, depths(points));
    }

    /** The loop goes round by exceptions alone. */
    @Test
    void handlerBeforeItsRange() throws Exception {
        PointScan.MethodPoints points = check(method(b -> {
            Label handler = b.newLabel();
            Label from = b.newLabel();
            Label to = b.newLabel();
            b.goto_(from);
            b.labelBinding(handler).pop().iinc(0, -1);
            b.labelBinding(from).iload(0).ifThen(java.lang.classfile.Opcode.IFGT,
                    t -> t.iconst_1().iconst_0().idiv().ireturn());
            b.labelBinding(to).iload(0).ireturn();
            b.exceptionCatch(from, to, handler, ClassDesc.of("java.lang.ArithmeticException"));
        }));
        assertEquals(1, points.headers().length);
    }

    /** A loop whose header is an exception handler as well, and has the exception on the stack. */
    @Test
    void headerIsHandler() throws Exception {
        PointScan.MethodPoints points = check(method(b -> {
            Label header = b.newLabel();
            Label from = b.newLabel();
            Label to = b.newLabel();
            b.iconst_0().istore(1);
            b.labelBinding(from).iload(0).iload(0).idiv().iconst_0().idiv().ireturn();
            b.labelBinding(to);
            b.labelBinding(header).iinc(1, 1).iload(1).iload(0).if_icmplt(header);
            b.pop().iload(1).ireturn();
            b.exceptionCatch(from, to, header, ClassDesc.of("java.lang.ArithmeticException"));
        }));
        assertEquals(1, points.headers().length);
    }

    @Test
    void operandsOnTheStack() throws Exception {
        check(method(b -> {
            Label header = b.newLabel();
            b.ldc(7L).bipush(9).iconst_0().istore(1);
            b.labelBinding(header).iload(1).iadd().iinc(1, 1).iload(1).iload(0).if_icmplt(header);
            b.istore(2).l2i().iload(2).iadd().ireturn();
        }));
    }

    /** The instruction that frames name by its offset is the first of a loop, and of the method. */
    @Test
    void newObjectStartsTheLoop() throws Exception {
        ClassDesc builder = ClassDesc.of("java.lang.StringBuilder");
        PointScan.MethodPoints points = check(method(b -> {
            Label header = b.newLabel();
            b.labelBinding(header).new_(builder).dup().iload(0).ifThenElse(java.lang.classfile.Opcode.IFGT,
                    t -> t.iload(0), e -> e.iconst_5());
            b.invokespecial(builder, INIT_NAME, MethodTypeDesc.of(CD_void, CD_int));
            b.invokevirtual(builder, "capacity", MethodTypeDesc.of(CD_int)).istore(1);
            b.iinc(0, -1).iload(0).ifgt(header);
            b.iload(1).ireturn();
        }));
        assertArrayEquals(new int[] {0}, points.headers());
    }

    @Test
    void switchesBack() throws Exception {
        for (boolean table : new boolean[] {true, false}) {
            for (int padding = 0; padding < 4; padding++) {
                int nops = padding;
                PointScan.MethodPoints points = check(method(b -> {
                    Label a = b.newLabel();
                    Label c = b.newLabel();
                    Label end = b.newLabel();
                    b.iconst_0().istore(1);
                    b.labelBinding(a).iinc(1, 1);
                    b.labelBinding(c).iinc(1, 5).iinc(0, -1);
                    for (int i = 0; i < nops; i++) {
                        b.nop();
                    }
                    b.iload(0).ifle(end).iload(0).iconst_3().irem();
                    List<SwitchCase> cases = List.of(SwitchCase.of(0, a), SwitchCase.of(1, c), SwitchCase.of(2, a));
                    if (table) {
                        b.tableswitch(0, 2, end, cases);
                    } else {
                        b.lookupswitch(end, cases);
                    }
                    b.labelBinding(end).iload(1).ireturn();
                }));
                assertEquals(2, points.headers().length);
            }
        }
    }

    /** The way in passes no point, the way round does, and what follows the point is two ways to the header, for C2's sake. */
    @Test
    void onTheWayBack() throws Exception {
        byte[] plain = method(b -> {
            Label header = b.newLabel();
            Label middle = b.newLabel();
            b.iconst_0().istore(1).iload(0).iconst_1().iand().ifeq(header).iinc(1, 7);
            b.labelBinding(header).iinc(1, 1).iload(1).iconst_3().irem().ifeq(middle).iinc(0, -1);
            b.labelBinding(middle).iinc(0, -1).iload(0).ifgt(header);
            b.iload(1).ireturn();
        });
        check(plain);
        assertEquals(List.of("ICONST_0", "ISTORE_1", "ILOAD_0", "ICONST_1", "IAND", "IFEQ 12", "IINC", "GOTO 12",
                "LDC_W", "INVOKESTATIC (Ljava/lang/Object;)Z", "IFEQ 12", "NOP", "IINC", "ILOAD_1", "ICONST_3", "IREM", "IFEQ 18",
                "IINC", "IINC", "ILOAD_0", "IFGT 8", "ILOAD_1", "IRETURN"), instructions(PointWriter.write(PointScan.of(plain))));
        assertEquals(List.of("LDC_W", "IFNULL 14", "LDC_W", "INVOKESTATIC (Ljava/lang/Object;)Z", "IFEQ 14", "NOP"),
                instructions(PointWriter.writeAlone(PointScan.of(plain))).subList(8, 14), "woven");
        plain[7] = BEFORE_DYNAMIC_CONSTANTS;
        assertEquals(List.of("INVOKEDYNAMIC ()Z", "IFEQ 11", "NOP"),
                instructions(PointWriter.write(PointScan.of(plain))).subList(8, 11));
    }

    /** What stands in front of the header does not go on to it, and no instruction may stand where nothing gets to. */
    @Test
    void nothingGoesOnToTheHeader() throws Exception {
        List<Consumer<CodeBuilder>> ends = List.of(b -> b.iload(1).ireturn(), b -> b.aconst_null().athrow(),
                b -> b.nop().goto_(b.startLabel()));
        for (Consumer<CodeBuilder> end : ends) {
            byte[] plain = method(b -> {
                Label header = b.newLabel();
                Label test = b.newLabel();
                b.iinc(0, -2).iload(0).istore(1).iload(0).ifgt(test);
                end.accept(b);
                b.labelBinding(header).iinc(1, 1);
                b.labelBinding(test).iinc(0, -1).iload(0).ifgt(header);
                b.iload(1).ireturn();
            });
            assertNull(ClassComparison.difference(plain, PointWriter.write(PointScan.of(plain))));
            List<String> all = instructions(PointWriter.write(PointScan.of(plain)));
            int point = all.lastIndexOf("LDC_W");
            assertFalse(all.get(point - 1).equals("GOTO " + (point + 4)), all.toString());
            assertEquals(List.of(), ClassFile.of().verify(PointWriter.write(PointScan.of(plain))));
        }
    }

    /** An operand that looks like a return or a throw is none: the header is gone on to. */
    @Test
    void operandsThatLookLikeEnds() throws Exception {
        for (int operand : new int[] {0xAC, 0xB1, 0xBF, 0xA7}) {
            byte[] plain = method(b -> {
                Label header = b.newLabel();
                b.iconst_0().istore(1).sipush(operand).pop().iinc(1, (byte) operand);
                b.labelBinding(header).iinc(1, 1).iinc(0, -1).iload(0).ifgt(header);
                b.iload(1).ireturn();
            });
            check(plain);
            assertTrue(instructions(PointWriter.write(PointScan.of(plain))).contains("GOTO 10"));
        }
    }

    /** Where there is something on the stack, or C2 may vectorise, the point is in front of the header, on every way to it. */
    @Test
    void inFrontOfTheHeader() throws Exception {
        byte[] stack = method(b -> {
            Label header = b.newLabel();
            b.bipush(9);
            b.labelBinding(header).iload(0).iadd().iinc(0, -1).iload(0).ifgt(header);
            b.ireturn();
        });
        check(stack);
        assertEquals(List.of("LDC_W", "INVOKESTATIC (Ljava/lang/Object;)V"),
                instructions(PointWriter.write(PointScan.of(stack))).subList(1, 3));
        assertEquals("INVOKEDYNAMIC ()V", instructions(PointWriter.writeAlone(PointScan.of(stack))).get(1));
        byte[] vector = method(b -> {
            Label header = b.newLabel();
            b.bipush(50).newarray(java.lang.classfile.TypeKind.INT).astore(1);
            b.labelBinding(header).aload(1).iload(0).iload(0).iastore().iinc(0, -1).iload(0).ifgt(header);
            b.iload(0).ireturn();
        });
        check(vector);
        assertTrue(instructions(PointWriter.write(PointScan.of(vector))).contains("INVOKESTATIC (Ljava/lang/Object;)V"));
    }

    /** A method that used no stack, or all of it at the header, has room for the point's operand. */
    @Test
    void noStack() {
        byte[] plain = build(c -> {
            c.withMethodBody("m", MethodTypeDesc.of(CD_void, CD_int), STATIC, b -> {
                Label header = b.newBoundLabel();
                b.iinc(0, 1).goto_(header);
            });
            c.withMethodBody("full", MethodTypeDesc.of(CD_void, CD_int), STATIC, b -> {
                b.iconst_0();
                Label header = b.newBoundLabel();
                b.iinc(0, 1).goto_(header);
            });
        });
        assertEquals(List.of(), ClassFile.of().verify(PointWriter.write(PointScan.of(plain))));

        int greatest = PointScan.of(plain).found().getLast().code() + 6;
        plain[greatest] = (byte) 0xFF;
        plain[greatest + 1] = (byte) 0xFF;
        assertEquals(List.of(), ClassFile.of().verify(PointWriter.write(PointScan.of(plain))), "max_stack can be no more");
    }

    /** The points of a method's loops of one depth are one site; the call sites of an older class file are linked each for itself. */
    @Test
    void loopsOfOneDepthAreLinkedOnce() throws Exception {
        byte[] plain = method(b -> {
            Label first = b.newLabel();
            Label second = b.newLabel();
            b.iload(0).istore(1);
            b.labelBinding(first).iinc(1, -1).iload(1).ifgt(first);
            b.labelBinding(second).iinc(0, -1).iload(0).ifgt(second);
            b.iload(0).ireturn();
        });
        assertEquals(1, sitesAfterARun(PointWriter.write(PointScan.of(plain))));
        plain[7] = BEFORE_DYNAMIC_CONSTANTS;
        assertEquals(2, sitesAfterARun(PointWriter.write(PointScan.of(plain))));
    }

    private static int sitesAfterARun(byte[] points) throws ReflectiveOperationException {
        Class<?> c = new PointLoader(AssembledCode.class.getClassLoader()).add("org.gmp4j.agent.Assembled", points)
                .load("org.gmp4j.agent.Assembled");
        var _ = c.getMethod("m", int.class).invoke(null, 5);
        return ClassSites.sites(c);
    }

    /** The instructions of the first method, with the number of the one that each jumps to. */
    private static List<String> instructions(byte[] classFile) {
        CodeModel code = ClassFile.of().parse(classFile).methods().getFirst().code().orElseThrow();
        Map<Label, Integer> places = new HashMap<>();
        int n = 0;
        for (CodeElement e : code) {
            if (e instanceof LabelTarget t) {
                places.put(t.label(), n);
            }
            n += e instanceof Instruction ? 1 : 0;
        }
        List<String> all = new ArrayList<>();
        for (CodeElement e : code) {
            if (e instanceof Instruction i) {
                all.add(i.opcode() + switch (i) {
                    case BranchInstruction b -> " " + places.get(b.target());
                    case InvokeDynamicInstruction d -> " " + d.type().stringValue();
                    case InvokeInstruction c -> " " + c.type().stringValue();
                    default -> "";
                });
            }
        }
        return all;
    }

    /** Blocks that jump about at random, with handlers at random: the loops are as irreducible as they get. */
    @Test
    void randomCode() throws Exception {
        int loops = 0;
        for (int seed = 0; seed < 120; seed++) {
            byte[] plain = random(new Random(seed));
            if (PointScan.of(plain).leftAlone() == null) {
                loops += check(plain).count();
            }
        }
        assertTrue(loops > 200, loops + " loops");
    }

    private static byte[] random(Random random) {
        return method(b -> {
            int blocks = 2 + random.nextInt(12);
            List<Label> labels = new ArrayList<>();
            for (int i = 0; i < blocks; i++) {
                labels.add(b.newLabel());
            }
            Label handler = random.nextBoolean() ? labels.get(random.nextInt(blocks)) : null;
            Label catcher = b.newLabel();
            Label end = b.newLabel();
            b.sipush(500).istore(1).iconst_0().istore(2);
            for (Label block : labels) {
                b.labelBinding(block).iinc(1, -1).iload(1).ifle(end);
                b.iload(2).bipush(31).imul().iload(0).iadd().iload(1).ixor().istore(2);
                switch (random.nextInt(5)) {
                    case 0 -> b.iload(2).iconst_1().iand().ifeq(labels.get(random.nextInt(blocks)));
                    case 1 -> b.goto_(labels.get(random.nextInt(blocks)));
                    case 2 -> b.iload(2).iconst_3().iand().tableswitch(0, 1, labels.get(random.nextInt(blocks)),
                            List.of(SwitchCase.of(0, labels.get(random.nextInt(blocks))),
                                    SwitchCase.of(1, labels.get(random.nextInt(blocks)))));
                    case 3 -> b.iload(2).bipush(7).irem().lookupswitch(labels.get(random.nextInt(blocks)),
                            List.of(SwitchCase.of(-3, labels.get(random.nextInt(blocks))),
                                    SwitchCase.of(4, labels.get(random.nextInt(blocks)))));
                    default -> b.iload(0).iload(2).bipush(5).irem().idiv().istore(0);
                }
            }
            b.labelBinding(end).iload(2).ireturn();
            if (handler != null) {
                b.labelBinding(catcher).pop().goto_(handler);
                b.exceptionCatch(labels.getFirst(), end, catcher, ClassDesc.of("java.lang.ArithmeticException"));
            } else {
                b.labelBinding(catcher).pop().goto_(end);
                b.exceptionCatch(labels.getFirst(), end, catcher, ClassDesc.of("java.lang.ArithmeticException"));
            }
        });
    }
}
