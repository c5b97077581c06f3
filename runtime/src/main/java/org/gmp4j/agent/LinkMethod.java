// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import org.gmp4j.classfile.Bytes;
import org.gmp4j.classfile.Constants;

/**
 * Writes the method that links the points of a class that was woven before the program ran. It is a method of the class itself, so any
 * class loader finds it. In Java it would be
 *
 * <pre>
 * private static Object gmp4j$link(Lookup l, String name, Object t, String method, int depth) {
 *     try {
 *         Class.forName("org.gmp4j.agent.Woven", true, l.lookupClass().getClassLoader());
 *     } catch (Exception | LinkageError e) {
 *         // This loader does not see the runtime, or Java is too old for it. Another class may have found a runtime.
 *     }
 *     try {
 *         return GmpPoint.site(l, name, t, method, depth); // as the agent's points do
 *     } catch (LinkageError e) { // There is no runtime: the point does nothing.
 *         return t instanceof MethodType m ? new ConstantCallSite(MethodHandles.empty(m)) : null;
 *     }
 * }
 * </pre>
 *
 * <p>The initialiser of {@link Woven} makes {@code GmpPoint}. If the class can see a runtime, its first point finds that runtime. A point
 * that finds no runtime when it is linked has no effect from then on.
 *
 * <p>Rejected: a class of gmp4j in the woven jar. A copy of it in each package would be among the classes that frameworks list. In a
 * package of its own it would not work in two woven modules, because two modules must not have the same package. Rejected: a direct call of
 * a class of the runtime. A program that does not see the runtime would end with a LinkageError at its first loop.
 *
 * <p>Jars that were woven by an older gmp4j use the names {@code gmp4j$link} and {@code org.gmp4j.agent.Woven}, and the names and types of
 * the public methods of {@code GmpPoint}. So these must not change.
 */
final class LinkMethod {
    static final String NAME = "gmp4j$link";

    private static final int PRIVATE_STATIC_SYNTHETIC = 0x100A;
    private static final int MAX_STACK = 5;
    private static final int MAX_LOCALS = 5;
    private static final int CODE_LENGTH = 50;
    /**
     * Offsets at which the code continues: FOUND after forName, whose result or exception is on the stack; LINK_FAILED after a
     * LinkageError of GmpPoint.site; then CONSTANT if the point is a dynamic constant.
     */
    private static final int FOUND = 14;
    private static final int LINK_FAILED = 25;
    private static final int CONSTANT = 48;
    private static final int EXCEPTIONS = 3 * 8;
    private static final int FRAMES = 2 + 2 * 4 + 1;
    private static final int SAME_LOCALS = 0;
    private static final int SAME_LOCALS_ONE_ON_STACK = 64;
    private static final int OBJECT_TYPE = 7;

    private LinkMethod() {
    }

    /** Returns the constant of the method, in the class that was scanned. */
    static int of(PointScan scan, Constants c) {
        return scan.isInterface() ? c.interfaceMethod(scan.thisClass(), NAME, JdkPoint.SITE_TYPE)
                : c.method(scan.thisClass(), NAME, JdkPoint.SITE_TYPE);
    }

    /** Writes the method as {@code method_info}, and its constants to {@code c}. */
    static void write(Constants c, Bytes out) {
        int lookup = c.type("java/lang/invoke/MethodHandles$Lookup");
        int type = c.type("java/lang/Class");
        int methodType = c.type("java/lang/invoke/MethodType");
        int constantSite = c.type("java/lang/invoke/ConstantCallSite");
        int object = c.type("java/lang/Object");
        int linkageError = c.type("java/lang/LinkageError");

        out.u2(PRIVATE_STATIC_SYNTHETIC);
        out.u2(c.utf8(NAME));
        out.u2(c.utf8(JdkPoint.SITE_TYPE));
        out.u2(1);
        out.u2(c.utf8("Code"));
        out.i4(8 + CODE_LENGTH + 2 + EXCEPTIONS + 2 + 6 + FRAMES);
        out.u2(MAX_STACK);
        out.u2(MAX_LOCALS);
        out.i4(CODE_LENGTH);
        op(out, 0x13, c.string(c.utf8(Woven.NAME))); // ldc_w
        out.u2(0x042A); // iconst_1, aload_0
        op(out, 0xB6, c.method(lookup, "lookupClass", "()Ljava/lang/Class;")); // invokevirtual
        op(out, 0xB6, c.method(type, "getClassLoader", "()Ljava/lang/ClassLoader;"));
        op(out, 0xB8, c.method(type, "forName", "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;")); // invokestatic
        out.u1(0x57); // FOUND: pop
        out.i4(0x2A2B2C2D); // aload_0 to aload_3
        out.u2(0x1504); // iload 4
        op(out, 0xB8, c.method(c.type(JdkPoint.CLASS), JdkPoint.SITE, JdkPoint.SITE_TYPE));
        out.u1(0xB0); // areturn
        out.u1(0x57); // LINK_FAILED: pop
        out.u1(0x2C); // aload_2
        op(out, 0xC1, methodType); // instanceof
        op(out, 0x99, CONSTANT - 30); // ifeq
        op(out, 0xBB, constantSite); // new
        out.u2(0x592C); // dup, aload_2
        op(out, 0xC0, methodType); // checkcast
        op(out, 0xB8, c.method(c.type("java/lang/invoke/MethodHandles"), "empty",
                "(Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/MethodHandle;"));
        op(out, 0xB7, c.method(constantSite, "<init>", "(Ljava/lang/invoke/MethodHandle;)V")); // invokespecial
        out.u1(0xB0); // areturn
        out.u2(0x01B0); // CONSTANT: aconst_null, areturn

        out.u2(3);
        handler(out, 0, FOUND, FOUND, c.type("java/lang/Exception"));
        handler(out, 0, FOUND, FOUND, linkageError);
        handler(out, FOUND, LINK_FAILED, LINK_FAILED, linkageError);

        out.u2(1);
        out.u2(c.utf8("StackMapTable"));
        out.i4(FRAMES);
        out.u2(3);
        frame(out, FOUND, object);
        frame(out, LINK_FAILED - FOUND - 1, linkageError);
        out.u1(SAME_LOCALS + CONSTANT - LINK_FAILED - 1);
    }

    private static void op(Bytes out, int opcode, int constant) {
        out.u1(opcode);
        out.u2(constant);
    }

    private static void handler(Bytes out, int start, int end, int handler, int type) {
        out.u2(start);
        out.u2(end);
        out.u2(handler);
        out.u2(type);
    }

    private static void frame(Bytes out, int delta, int type) {
        out.u1(SAME_LOCALS_ONE_ON_STACK + delta);
        out.u1(OBJECT_TYPE);
        out.u2(type);
    }
}
