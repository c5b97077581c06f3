package org.gmp4j.agent;

/**
 * The class file of {@code java.lang.invoke.GmpPoint}, which {@link JdkPoint} shows in Java. It is put together by hand:
 * the JDK's class-file library would take a tenth of a second of every start.
 */
final class PointClass {
    private static final int VERSION = 69; // Java 25
    private static final int PUBLIC_STATIC = 0x0009;
    private static final int STATIC = 0x0008;
    private static final int FIELD_FLAGS = 0x0049; // public static volatile
    private static final int CLASS_FLAGS = 0x1031; // public final super synthetic

    private static final int ALOAD_0 = 42;
    private static final int ILOAD = 21;
    private static final int IFEQ = 153;
    private static final int IFNE = 154;
    private static final int ARETURN = 176;
    private static final int RETURN = 177;
    private static final int GETSTATIC = 178;
    private static final int INVOKEVIRTUAL = 182;
    private static final int INVOKESTATIC = 184;
    private static final int INVOKEINTERFACE = 185;

    private static final String HANDLE = "java/lang/invoke/MethodHandle";
    private static final String SITE = "(Ljava/lang/Runnable;)V";
    private static final String FORCE_INLINE = "Ljdk/internal/vm/annotation/ForceInline;";
    private static final String DONT_INLINE = "Ljdk/internal/vm/annotation/DontInline;";
    private static final String HIDDEN = "Ljdk/internal/vm/annotation/Hidden;";
    private static final String SCOPED = "Ljdk/internal/misc/ScopedMemoryAccess$Scoped;";

    private final Constants constants = new Constants(1);
    private final Bytes body = new Bytes(1024);

    private PointClass() {
    }

    static byte[] bytes() {
        return new PointClass().write();
    }

    private byte[] write() {
        int self = constants.type(JdkPoint.CLASS);
        body.u2(CLASS_FLAGS);
        body.u2(self);
        body.u2(constants.type("java/lang/Object"));
        body.u2(0); // interfaces
        body.u2(2);
        field("wanted", "I");
        field("linker", "L" + HANDLE + ";");
        body.u2(4);
        methods(self);
        body.u2(0); // attributes

        Bytes out = new Bytes(2048);
        out.i4(0xCAFEBABE);
        out.i4(VERSION);
        out.u2(constants.count());
        constants.writeTo(out);
        out.append(body);
        return out.toArray();
    }

    private void methods(int self) {
        int linker = constants.field(self, "linker", "L" + HANDLE + ";");
        int invoke = constants.method(constants.type(HANDLE), "invokeExact", JdkPoint.LINK_TYPE);
        method(PUBLIC_STATIC, JdkPoint.LINK, JdkPoint.LINK_TYPE, 6, 5, -1,
                new int[] {GETSTATIC, linker >> 8, linker, ALOAD_0, ALOAD_0 + 1, ALOAD_0 + 2, ALOAD_0 + 3, ILOAD, 4,
                        INVOKEVIRTUAL, invoke >> 8, invoke, ARETURN});

        int constant = constants.method(constants.type("java/lang/invoke/MethodHandleImpl"), "isCompileConstant",
                "(Ljava/lang/Object;)Z");
        int check = constants.method(self, "check", SITE);
        method(PUBLIC_STATIC, "point", SITE, 1, 1, 11,
                new int[] {ALOAD_0, INVOKESTATIC, constant >> 8, constant, IFNE, 0, 7, ALOAD_0, INVOKESTATIC, check >> 8, check,
                        RETURN},
                FORCE_INLINE, HIDDEN, SCOPED);

        int wanted = constants.field(self, "wanted", "I");
        int slow = constants.method(self, "slow", SITE);
        method(PUBLIC_STATIC, "check", SITE, 1, 1, 10,
                new int[] {GETSTATIC, wanted >> 8, wanted, IFEQ, 0, 7, ALOAD_0, INVOKESTATIC, slow >> 8, slow, RETURN},
                FORCE_INLINE, HIDDEN);

        int run = constants.interfaceMethod(constants.type("java/lang/Runnable"), "run", "()V");
        method(STATIC, "slow", SITE, 1, 1, -1, new int[] {ALOAD_0, INVOKEINTERFACE, run >> 8, run, 1, 0, RETURN}, DONT_INLINE,
                HIDDEN);
    }

    private void field(String name, String type) {
        body.u2(FIELD_FLAGS);
        body.u2(constants.utf8(name));
        body.u2(constants.utf8(type));
        body.u2(0);
    }

    /** {@code frame}: where the one jump of the code goes, or -1. */
    private void method(int flags, String name, String type, int stack, int locals, int frame, int[] code,
            String... annotations) {
        body.u2(flags);
        body.u2(constants.utf8(name));
        body.u2(constants.utf8(type));
        body.u2(2);
        body.u2(constants.utf8("Code"));
        body.i4(12 + code.length + (frame < 0 ? 0 : 9));
        body.u2(stack);
        body.u2(locals);
        body.i4(code.length);
        for (int b : code) {
            body.u1(b);
        }
        body.u2(0); // exceptions
        body.u2(frame < 0 ? 0 : 1);
        if (frame >= 0) {
            body.u2(constants.utf8("StackMapTable"));
            body.i4(3);
            body.u2(1);
            body.u1(frame); // the frame is as at the start
        }
        body.u2(constants.utf8("RuntimeVisibleAnnotations"));
        body.i4(2 + 4 * annotations.length);
        body.u2(annotations.length);
        for (String a : annotations) {
            body.u2(constants.utf8(a));
            body.u2(0);
        }
    }
}
