// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.gmp4j.classfile.Opcodes.*;

import org.gmp4j.classfile.ClassFileWriter;

/** The class file of {@code java.lang.invoke.GmpPoint}, which {@link JdkPoint} shows in Java. */
final class PointClass {
    private static final int PUBLIC_STATIC = 0x0009;
    private static final int STATIC = 0x0008;

    private static final String HANDLE = "java/lang/invoke/MethodHandle";
    private static final String SITE = "(Ljava/lang/Runnable;)V";
    private static final String BACK = "(Ljava/lang/Runnable;)Z";
    private static final String FORCE_INLINE = "Ljdk/internal/vm/annotation/ForceInline;";
    private static final String DONT_INLINE = "Ljdk/internal/vm/annotation/DontInline;";
    private static final String HIDDEN = "Ljdk/internal/vm/annotation/Hidden;";
    private static final String SCOPED = "Ljdk/internal/misc/ScopedMemoryAccess$Scoped;";

    private PointClass() {
    }

    static byte[] bytes() {
        ClassFileWriter c = new ClassFileWriter(JdkPoint.CLASS);
        int wanted = c.addField("wanted", "I");
        int linker = c.addField("linker", "L" + HANDLE + ";");

        int invoke = c.method(HANDLE, "invokeExact", JdkPoint.LINK_TYPE);
        c.addMethod(PUBLIC_STATIC, JdkPoint.LINK, JdkPoint.LINK_TYPE, 6, 5, -1,
                new int[] {GETSTATIC, linker >> 8, linker, ALOAD_0, ALOAD_0 + 1, ALOAD_0 + 2, ALOAD_0 + 3, ILOAD, 4,
                        INVOKEVIRTUAL, invoke >> 8, invoke, ARETURN});

        int constant = c.method("java/lang/invoke/MethodHandleImpl", "isCompileConstant", "(Ljava/lang/Object;)Z");
        int check = c.ownMethod("check", SITE);
        c.addMethod(PUBLIC_STATIC, "point", SITE, 1, 1, 11,
                new int[] {ALOAD_0, INVOKESTATIC, constant >> 8, constant, IFNE, 0, 7, ALOAD_0, INVOKESTATIC, check >> 8,
                        check, RETURN},
                FORCE_INLINE, HIDDEN, SCOPED);

        int slow = c.ownMethod("slow", SITE);
        c.addMethod(PUBLIC_STATIC, "check", SITE, 1, 1, 10,
                new int[] {GETSTATIC, wanted >> 8, wanted, IFEQ, 0, 7, ALOAD_0, INVOKESTATIC, slow >> 8, slow, RETURN},
                FORCE_INLINE, HIDDEN);

        int checkBack = c.ownMethod("checkBack", BACK);
        c.addMethod(PUBLIC_STATIC, "back", BACK, 1, 1, 9,
                new int[] {ALOAD_0, INVOKESTATIC, constant >> 8, constant, IFEQ, 0, 5, ICONST_0, IRETURN, ALOAD_0, INVOKESTATIC,
                        checkBack >> 8, checkBack, IRETURN},
                FORCE_INLINE, HIDDEN, SCOPED);
        c.addMethod(PUBLIC_STATIC, "checkBack", BACK, 1, 1, 8,
                new int[] {GETSTATIC, wanted >> 8, wanted, IFNE, 0, 5, ICONST_0, IRETURN, ALOAD_0, INVOKESTATIC, slow >> 8, slow,
                        ICONST_1, IRETURN},
                FORCE_INLINE, HIDDEN);

        int run = c.interfaceMethod("java/lang/Runnable", "run", "()V");
        c.addMethod(STATIC, "slow", SITE, 1, 1, -1, new int[] {ALOAD_0, INVOKEINTERFACE, run >> 8, run, 1, 0, RETURN},
                DONT_INLINE, HIDDEN);
        return c.toBytes();
    }
}
