// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.gmp4j.classfile.Opcodes.*;

import org.gmp4j.classfile.ClassFileWriter;

/** The class file of {@code java.lang.invoke.GmpPoint}, which {@link JdkPoint} shows in Java. */
final class PointClass {
    private static final int PUBLIC_STATIC = 0x0009;
    private static final int STATIC = 0x0008;

    private static final String HANDLE = "java/lang/invoke/MethodHandle";
    private static final String A_HANDLE = "L" + HANDLE + ";";
    private static final String HANDLES = "java/lang/invoke/MethodHandles";
    private static final String SITE = "java/lang/invoke/CallSite";
    private static final String RUN = "(Ljava/lang/Object;)V";
    private static final String FORCE_INLINE = "Ljdk/internal/vm/annotation/ForceInline;";
    private static final String DONT_INLINE = "Ljdk/internal/vm/annotation/DontInline;";
    private static final String HIDDEN = "Ljdk/internal/vm/annotation/Hidden;";
    private static final String SCOPED = "Ljdk/internal/misc/ScopedMemoryAccess$Scoped;";

    private final ClassFileWriter c = new ClassFileWriter(JdkPoint.CLASS);
    private final int wanted = c.addField("wanted", "I");
    private final int linker = c.addField("linker", A_HANDLE);
    private final int unarmed = c.addConstant("UNARMED", A_HANDLE);

    private PointClass() {
    }

    static byte[] bytes() {
        return new PointClass().write();
    }

    private byte[] write() {
        int object = c.type("java/lang/Object");
        int constant = c.method(HANDLES, "constant", "(Ljava/lang/Class;Ljava/lang/Object;)" + A_HANDLE);
        c.addMethod(STATIC, "<clinit>", "()V", 2, 0, -1,
                new int[] {LDC_W, object >> 8, object, ACONST_NULL, INVOKESTATIC, constant >> 8, constant, PUTSTATIC,
                        unarmed >> 8, unarmed, RETURN});

        int invoke = c.method(HANDLE, "invokeExact", JdkPoint.SITE_TYPE);
        c.addMethod(PUBLIC_STATIC, JdkPoint.SITE, JdkPoint.SITE_TYPE, 6, 5, -1,
                new int[] {GETSTATIC, linker >> 8, linker, ALOAD_0, ALOAD_1, ALOAD_2, ALOAD_3, ILOAD, 4, INVOKEVIRTUAL,
                        invoke >> 8, invoke, ARETURN});
        int site = c.ownMethod(JdkPoint.SITE, JdkPoint.SITE_TYPE);
        int callSite = c.type(SITE);
        c.addMethod(PUBLIC_STATIC, JdkPoint.LINK, JdkPoint.LINK_TYPE, 5, 5, -1,
                new int[] {ALOAD_0, ALOAD_1, ALOAD_2, ALOAD_3, ILOAD, 4, INVOKESTATIC, site >> 8, site, CHECKCAST,
                        callSite >> 8, callSite, ARETURN});

        c.addMethod(STATIC, "mark", "()V", 0, 0, -1, new int[] {RETURN}, FORCE_INLINE, HIDDEN, SCOPED);
        int slow = c.ownMethod("slow", RUN);
        int[] call = {ALOAD_0, INVOKESTATIC, slow >> 8, slow, RETURN};
        addPoint(JdkPoint.PLAIN, JdkPoint.PLAIN_TYPE, new int[] {RETURN}, call);
        addPoint(JdkPoint.BACK, JdkPoint.BACK_TYPE, new int[] {ICONST_0, IRETURN},
                new int[] {ALOAD_0, INVOKESTATIC, slow >> 8, slow, ICONST_1, IRETURN});

        int runnable = c.type("java/lang/Runnable");
        int run = c.interfaceMethod("java/lang/Runnable", "run", "()V");
        c.addMethod(STATIC, "slow", RUN, 1, 1, -1,
                new int[] {ALOAD_0, CHECKCAST, runnable >> 8, runnable, INVOKEINTERFACE, run >> 8, run, 1, 0, RETURN},
                DONT_INLINE, HIDDEN);
        return c.toBytes();
    }

    /** Adds a method that points call. {@code go} returns without a call of the hook. {@code call} calls the hook and returns. */
    private void addPoint(String name, String type, int[] go, int[] call) {
        int constant = c.method("java/lang/invoke/MethodHandleImpl", "isCompileConstant", "(Ljava/lang/Object;)Z");
        int site = c.type(SITE);
        int target = c.field(SITE, "target", A_HANDLE);
        int mark = c.ownMethod("mark", "()V");
        int check = 23 + go.length;
        int end = check + 6 + go.length;
        int[] code = new int[end + call.length];
        int[] ifUnarmed = {ALOAD_0, INVOKESTATIC, constant >> 8, constant, IFEQ, 0, check - 4,
                ALOAD_0, CHECKCAST, site >> 8, site, GETFIELD, target >> 8, target, GETSTATIC, unarmed >> 8, unarmed,
                IF_ACMPNE, 0, check - 17, INVOKESTATIC, mark >> 8, mark};
        int[] ifWanted = {GETSTATIC, wanted >> 8, wanted, IFNE, 0, 3 + go.length};
        System.arraycopy(ifUnarmed, 0, code, 0, ifUnarmed.length);
        System.arraycopy(go, 0, code, ifUnarmed.length, go.length);
        System.arraycopy(ifWanted, 0, code, check, ifWanted.length);
        System.arraycopy(go, 0, code, check + ifWanted.length, go.length);
        System.arraycopy(call, 0, code, end, call.length);
        c.addMethod(PUBLIC_STATIC, name, type, 2, 1, new int[] {check, end}, code, FORCE_INLINE, HIDDEN);
    }
}
