// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static java.lang.constant.ConstantDescs.*;
import static org.gmp4j.agent.AssembledCode.INT;
import static org.gmp4j.agent.AssembledCode.STATIC;
import static org.gmp4j.agent.AssembledCode.THIS;
import static org.gmp4j.agent.AssembledCode.build;
import static org.gmp4j.agent.AssembledCode.check;
import static org.gmp4j.agent.AssembledCode.method;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.MethodTypeDesc;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

/** Classes that javac does not make: with long or recursive methods, full, broken, or of other versions of the format. */
class AssembledClassesTest {
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
                AssembledClassesTest::spin)));
        leftAlone(LeftAlone.NO_LOOPS, build(c -> c.withMethodBody("m", MTD_void, STATIC, CodeBuilder::return_)));
        leftAlone(LeftAlone.NO_LOOPS, build(c -> c.withMethod("m", MTD_void, ClassFile.ACC_NATIVE, m -> {
        })));
        leftAlone(LeftAlone.OLD_CLASS_FILE, build(c -> c.withVersion(50, 0).withMethodBody("m", MTD_void, STATIC,
                AssembledClassesTest::spin)));
        byte[] future = method(AssembledClassesTest::spin);
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
        PointScan one = PointScan.of(method(AssembledClassesTest::spin));
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
        byte[] plain = build(c -> c.withMethodBody("m", MTD_void, STATIC, AssembledClassesTest::spin)
                .withMethodBody("Cod_", MTD_void, STATIC, AssembledClassesTest::spin));
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
                    AssembledClassesTest::spin))));
        }
    }

    /** Whatever the bytes are, neither the transformer nor the weaver throws or loops. */
    @Test
    void brokenClassFiles() {
        byte[] good = notOurs(PointLoader.bytes(LoopShapes.class));
        PointTransformer transformer = new PointTransformer(
                PointOptions.of(AgentOptions.of(null), new java.util.Properties(), PointOptions.When.LOAD));
        ClassWeaver weaver = new ClassWeaver(null);
        Random random = new Random(42);
        for (int i = 0; i < 3_000; i++) {
            byte[] bad = i % 2 == 0 ? Arrays.copyOf(good, random.nextInt(good.length)) : good.clone();
            for (int j = 0; j < i % 7 && bad.length > 0; j++) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt();
            }
            transformer.transform(null, AssembledClassesTest.class.getClassLoader(), "a/B", null, null, bad);
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
}
