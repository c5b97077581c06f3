// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static java.lang.constant.ConstantDescs.*;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

/** Code that javac does not make. */
class AssembledLoopsTest {
    private static final ClassDesc THIS = ClassDesc.of("org.gmp4j.agent.Assembled");
    private static final MethodTypeDesc INT = MethodTypeDesc.of(CD_int, CD_int);
    private static final int STATIC = ClassFile.ACC_STATIC | ClassFile.ACC_PUBLIC;

    private static byte[] build(Consumer<ClassBuilder> content) {
        return ClassFile.of().build(THIS, c -> {
            c.withFlags(ClassFile.ACC_PUBLIC | ClassFile.ACC_SUPER);
            content.accept(c);
        });
    }

    private static byte[] method(Consumer<CodeBuilder> code) {
        return build(c -> c.withMethodBody("m", INT, STATIC, code));
    }

    private static List<Object> run(byte[] classFile) throws ReflectiveOperationException {
        Method m = new PointLoader(AssembledLoopsTest.class.getClassLoader()).add("org.gmp4j.agent.Assembled", classFile)
                .load("org.gmp4j.agent.Assembled").getMethod("m", int.class);
        List<Object> results = new ArrayList<>();
        for (int n = 0; n < 40; n++) {
            results.add(m.invoke(null, n));
        }
        return results;
    }

    /** The points of the class's only method that has any, after checking that the class computes what it did. */
    private static PointScan.MethodPoints check(byte[] plain) throws ReflectiveOperationException {
        PointScan scan = PointScan.of(plain);
        assertNull(scan.leftAlone());
        byte[] points = PointWriter.write(scan);
        assertNull(ClassComparison.difference(plain, points));
        assertEquals(run(plain), run(points));
        return scan.found().getFirst();
    }

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
        assertEquals(List.of("ICONST_0", "ISTORE_1", "ILOAD_0", "ICONST_1", "IAND", "IFEQ 11", "IINC", "GOTO 11",
                "INVOKEDYNAMIC ()Z", "IFEQ 11", "NOP", "IINC", "ILOAD_1", "ICONST_3", "IREM", "IFEQ 17", "IINC", "IINC", "ILOAD_0",
                "IFGT 8", "ILOAD_1", "IRETURN"), instructions(PointWriter.write(PointScan.of(plain))));
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
            int last = all.lastIndexOf("INVOKEDYNAMIC ()Z");
            assertFalse(all.get(last - 1).equals("GOTO " + (last + 3)), all.toString());
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
            assertTrue(instructions(PointWriter.write(PointScan.of(plain))).contains("GOTO 9"));
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
        assertEquals("INVOKEDYNAMIC ()V", instructions(PointWriter.write(PointScan.of(stack))).get(1));
        byte[] vector = method(b -> {
            Label header = b.newLabel();
            b.bipush(50).newarray(java.lang.classfile.TypeKind.INT).astore(1);
            b.labelBinding(header).aload(1).iload(0).iload(0).iastore().iinc(0, -1).iload(0).ifgt(header);
            b.iload(0).ireturn();
        });
        check(vector);
        assertTrue(instructions(PointWriter.write(PointScan.of(vector))).contains("INVOKEDYNAMIC ()V"));
    }

    /** A method that used no stack has room for what the point leaves. */
    @Test
    void noStack() {
        byte[] plain = build(c -> c.withMethodBody("m", MethodTypeDesc.of(CD_void, CD_int), STATIC, b -> {
            Label header = b.newBoundLabel();
            b.iinc(0, 1).goto_(header);
        }));
        assertEquals(List.of(), ClassFile.of().verify(PointWriter.write(PointScan.of(plain))));
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
                    default -> "";
                });
            }
        }
        return all;
    }

    @Test
    void wideJumps() throws Exception {
        check(method(b -> {
            Label header = b.newLabel();
            Label end = b.newLabel();
            b.iconst_0().istore(300);
            b.labelBinding(header).iload(0).ifle(end).iinc(300, 1000).iinc(0, -1).goto_w(header);
            b.labelBinding(end).iload(300).ireturn();
        }));
    }

    private static byte[] long_(int nops) {
        return method(b -> {
            Label header = b.newLabel();
            Label end = b.newLabel();
            b.iconst_0().istore(1);
            b.labelBinding(header).iload(0).ifle(end).iinc(0, -1);
            for (int i = 0; i < nops; i++) {
                b.nop();
            }
            b.iinc(1, 2).goto_(header);
            b.labelBinding(end).iload(1).ireturn();
        });
    }

    /** What the JIT still compiles stays so; what has jumps near their limit stays as it is. */
    @Test
    void longMethods() throws Exception {
        int rest = 17;
        int point = PointScan.BACK_SIZE + PointScan.SKIP_SIZE;
        check(long_(8_000 - rest - point));
        leftAlone(LeftAlone.JIT_LIMIT, long_(8_000 - rest - point + 1));
        leftAlone(LeftAlone.JIT_LIMIT, long_(8_000 - rest));
        check(long_(8_001 - rest));
        check(long_(Short.MAX_VALUE - rest - point));
        leftAlone(LeftAlone.METHOD_TOO_LONG, long_(Short.MAX_VALUE - rest - point + 1));
    }

    private static void leftAlone(LeftAlone reason, byte[] b) {
        long before = reason.counted();
        assertTrue(PointTransformer.addPoints(b) == null, "it has points");
        assertEquals(before + 1, reason.counted());
    }

    private static void spin(CodeBuilder b) {
        Label header = b.newBoundLabel();
        b.goto_(header);
    }

    @Test
    void leftAlone() {
        leftAlone(LeftAlone.CLASS_INITIALIZER, build(c -> c.withMethodBody(CLASS_INIT_NAME, MTD_void, ClassFile.ACC_STATIC,
                AssembledLoopsTest::spin)));
        leftAlone(LeftAlone.NO_LOOPS, build(c -> c.withMethodBody("m", MTD_void, STATIC, CodeBuilder::return_)));
        leftAlone(LeftAlone.NO_LOOPS, build(c -> c.withMethod("m", MTD_void, ClassFile.ACC_NATIVE, m -> {
        })));
        leftAlone(LeftAlone.OLD_CLASS_FILE, build(c -> c.withVersion(50, 0).withMethodBody("m", MTD_void, STATIC,
                AssembledLoopsTest::spin)));
        byte[] future = method(AssembledLoopsTest::spin);
        future[7] = 99;
        leftAlone(LeftAlone.UNKNOWN_FORMAT, future);
    }

    /** A class of 800 methods with loops has points as long as there is room for all the constants that they need. */
    @Test
    void constantsUpToTheLimit() {
        int room = 65_535 - PointScan.of(manyLoops(0)).poolCount() - PointScan.CONSTANTS_OF_CLASS - 800 * 5;
        byte[] woven = PointWriter.writeAlone(PointScan.of(manyLoops(room)));
        assertEquals(List.of(), ClassFile.of().verify(woven));
        leftAlone(LeftAlone.CONSTANT_POOL_FULL, manyLoops(room + 1));
        assertNotNull(PointTransformer.addPoints(manyLoops(room)));
        PointScan one = PointScan.of(method(AssembledLoopsTest::spin));
        int added = PointScan.of(PointWriter.writeAlone(one)).poolCount() - one.poolCount();
        assertTrue(added <= PointScan.CONSTANTS_OF_CLASS + 3, added + " constants for one point");
    }

    private static byte[] manyLoops(int constants) {
        return build(c -> {
            for (int i = 0; i < constants; i++) {
                c.constantPool().intEntry(i + 1_000);
            }
            for (int i = 0; i < 800; i++) {
                c.withMethodBody("m" + i, INT, STATIC, b -> {
                    Label outer = b.newBoundLabel();
                    b.iinc(0, -1);
                    Label inner = b.newBoundLabel();
                    b.iinc(0, -1).iload(0).ifgt(inner).iload(0).iconst_1().iand().ifne(outer).iload(0).ireturn();
                });
            }
        });
    }

    /** A frame of a type that no JVM has yet: where one has it, we would make nonsense of it. */
    @Test
    void framesOfAnotherType() {
        byte[] bad = method(b -> {
            Label header = b.newLabel();
            b.iinc(0, -1);
            b.labelBinding(header).iinc(0, -1).iload(0).ifgt(header).iload(0).ireturn();
        });
        int at = new String(bad, StandardCharsets.ISO_8859_1).lastIndexOf("\0\0\0\3\0\1\3");
        assertTrue(at > 0);
        bad[at + 6] = (byte) 246;
        bad = notOurs(bad);
        PointScan scan = PointScan.of(bad);
        assertNull(scan.leftAlone());
        assertThrows(IndexOutOfBoundsException.class, () -> PointWriter.write(scan));
        ClassWeaver weaver = new ClassWeaver(null);
        assertNull(weaver.weave(bad));
        assertEquals(1, weaver.leftAlone(LeftAlone.FAILED));
    }

    /** In a package of the same length that is not ours, whose classes are left alone where a jar is woven. */
    private static byte[] notOurs(byte[] classFile) {
        return new String(classFile, StandardCharsets.ISO_8859_1).replace("org/gmp4j/", "com/acme4/").getBytes(StandardCharsets.ISO_8859_1);
    }

    /** The text "Code" may be two constants. */
    @Test
    void codeByTwoNames() {
        byte[] plain = build(c -> c.withMethodBody("m", MTD_void, STATIC, AssembledLoopsTest::spin)
                .withMethodBody("Cod_", MTD_void, STATIC, AssembledLoopsTest::spin));
        String text = new String(plain, StandardCharsets.ISO_8859_1);
        plain[text.indexOf("Cod_") + 3] = 'e';
        ClassModel model = ClassFile.of().parse(plain);
        int name = model.methods().getLast().methodName().index();
        assertEquals("Code", model.methods().getLast().methodName().stringValue());
        PointScan scan = PointScan.of(plain);
        int code = scan.found().getLast().code();
        plain[code] = (byte) (name >> 8);
        plain[code + 1] = (byte) name;
        assertEquals(2, PointScan.of(plain).found().size());
    }

    @Test
    void oldestAndNewestVersionsHavePoints() {
        for (int version = 51; version <= ClassFile.latestMajorVersion(); version++) {
            int v = version;
            assertNotNull(PointTransformer.addPoints(build(c -> c.withVersion(v, 0).withMethodBody("m", MTD_void, STATIC,
                    AssembledLoopsTest::spin))));
        }
    }

    /** Whatever the bytes are, neither the transformer nor the weaver throws or loops. */
    @Test
    void brokenClassFiles() {
        byte[] good = notOurs(PointLoader.bytes(LoopShapes.class));
        PointTransformer transformer = new PointTransformer(PointOptions.of(AgentOptions.of(null), new java.util.Properties()));
        ClassWeaver weaver = new ClassWeaver(null);
        Random random = new Random(42);
        for (int i = 0; i < 3_000; i++) {
            byte[] bad = i % 2 == 0 ? Arrays.copyOf(good, random.nextInt(good.length)) : good.clone();
            for (int j = 0; j < i % 7 && bad.length > 0; j++) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt();
            }
            transformer.transform(null, AssembledLoopsTest.class.getClassLoader(), "a/B", null, null, bad);
            byte[] _ = weaver.weave(bad);
        }
    }

    private static List<Boolean> entries(Consumer<ClassBuilder> content) {
        return PointScan.of(build(content)).found().stream().map(PointScan.MethodPoints::entry).toList();
    }

    @Test
    void recursion() {
        MethodTypeDesc v = MTD_void;
        assertEquals(List.of(true), entries(c -> c.withMethodBody("m", v, STATIC, b -> b.invokestatic(THIS, "m", v).return_())));
        assertEquals(List.of(true), entries(c -> c.withMethodBody("m", v, 0, b -> b.aload(0).invokevirtual(THIS, "m", v).return_())));
        assertEquals(List.of(true), entries(c -> c.withMethodBody("m", v, 0, b -> b.aload(0).invokespecial(THIS, "m", v).return_())));
        assertEquals(List.of(true), entries(c -> c.withMethodBody("m", v, 0, b -> b.aload(0).invokeinterface(THIS, "m", v).return_())));
        // Another type, another name, the superclass's: no recursion that we see.
        assertEquals(List.of(),
                entries(c -> c.withMethodBody("m", v, STATIC, b -> b.iconst_0().invokestatic(THIS, "m", INT).pop().return_())));
        assertEquals(List.of(), entries(c -> c.withMethodBody("m", v, STATIC, b -> b.invokestatic(THIS, "n", v).return_())));
        assertEquals(List.of(), entries(c -> c.withMethodBody("m", v, 0, b -> b.aload(0).invokespecial(CD_Object, "m", v).return_())));
    }

    /** A loop that starts the method has the entry's point. */
    @Test
    void recursionInALoopFromTheStart() {
        PointScan.MethodPoints points = PointScan.of(build(c -> c.withMethodBody("m", MTD_void, STATIC, b -> {
            Label header = b.newBoundLabel();
            b.invokestatic(THIS, "m", MTD_void).goto_(header);
        }))).found().getFirst();
        assertEquals(1, points.count());
        assertArrayEquals(new int[] {0}, points.headers());
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
