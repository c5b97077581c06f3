// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static java.lang.constant.ConstantDescs.CD_int;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Makes classes of given code, and compares what they compute with points and without. */
final class AssembledCode {
    static final ClassDesc THIS = ClassDesc.of("org.gmp4j.agent.Assembled");
    static final MethodTypeDesc INT = MethodTypeDesc.of(CD_int, CD_int);
    static final int STATIC = ClassFile.ACC_STATIC | ClassFile.ACC_PUBLIC;

    static final byte BEFORE_DYNAMIC_CONSTANTS = 54;

    private AssembledCode() {
    }

    static byte[] build(Consumer<ClassBuilder> content) {
        return ClassFile.of().build(THIS, c -> {
            c.withFlags(ClassFile.ACC_PUBLIC | ClassFile.ACC_SUPER);
            content.accept(c);
        });
    }

    static byte[] method(Consumer<CodeBuilder> code) {
        return build(c -> c.withMethodBody("m", INT, STATIC, code));
    }

    private static List<Object> run(byte[] classFile) throws ReflectiveOperationException {
        Method m = new PointLoader(AssembledCode.class.getClassLoader()).add("org.gmp4j.agent.Assembled", classFile)
                .load("org.gmp4j.agent.Assembled").getMethod("m", int.class);
        List<Object> results = new ArrayList<>();
        for (int n = 0; n < 40; n++) {
            results.add(m.invoke(null, n));
        }
        return results;
    }

    /**
     * The points of the class's only method that has any, after checking that the class computes what it did, also if it is woven, and
     * as an older class file.
     */
    static PointScan.MethodPoints check(byte[] plain) throws ReflectiveOperationException {
        PointScan scan = PointScan.of(plain);
        assertNull(scan.leftAlone());
        List<Object> results = run(plain);
        byte[] old = plain.clone();
        old[7] = BEFORE_DYNAMIC_CONSTANTS;
        for (byte[] version : List.of(plain, old)) {
            byte[] points = PointWriter.write(PointScan.of(version));
            assertNull(ClassComparison.difference(version, points));
            assertEquals(results, run(points));
            assertEquals(results, run(PointWriter.writeAlone(PointScan.of(version))));
        }
        return scan.found().getFirst();
    }
}
