// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Method;

import org.gmp4j.classfile.ClassFileWriter;
import org.gmp4j.ffi.Leaf;

/**
 * Writes the implementation of {@link ForeignCalls}, with the entry point and the call in it that the JDK's linker makes of
 * a function of that type, and the same compiled code. In Java it would be
 *
 * <pre>
 * final class GmpAbi { // in the nest of CallArranger
 *     static { GmpCalls.abi = CallArranger.CSysV; }
 * }
 *
 * final class GmpEntry { // in the nest of NativeEntryPoint
 *     static {
 *         MethodType type = MethodType.methodType(long.class, long.class);
 *         long stub = NativeEntryPoint.makeDowncallStub(type, (ABIDescriptor) GmpCalls.abi,
 *                 new VMStorage[] {StubLocations.TARGET_ADDRESS.storage(StorageType.PLACEHOLDER)}, // The function's address.
 *                 new VMStorage[] {X86_64Architecture.Regs.rax}, false, 0, false);
 *         Objects.checkIndex(0L, stub); // Where there was no room for it, it is 0.
 *         GmpCalls.entry = new NativeEntryPoint(type, stub);
 *     }
 * }
 *
 * final class GmpForeign extends GmpCalls { // in the nest of MethodHandle
 *     static final NativeEntryPoint ENTRY = (NativeEntryPoint) GmpCalls.entry;
 *     static { GmpCalls.foreign = new GmpForeign(); }
 *
 *     &#64;ForceInline
 *     public long leaf(long function) { return MethodHandle.linkToNative(function, ENTRY); }
 *
 *     public VarHandle handle(Class<?> carrier, ValueLayout layout, long mask, ByteOrder order) {
 *         return SharedSecrets.getJavaLangInvokeAccess().memorySegmentViewHandle(carrier, layout, mask, order, true, 0);
 *     }
 * }
 * </pre>
 *
 * <p>On x86-64 alone. Elsewhere, and in a build of the JDK that has other members, all is done by the JDK's public API.
 */
final class JdkForeign {
    /** Fields of the named class that are used while this is made. */
    static final String ABI = "abi";
    static final String ENTRY = "entry";
    static final String OBJECT = "Ljava/lang/Object;";

    static final String NAME = "java/lang/invoke/GmpForeign";
    private static final String PACKAGE = "jdk/internal/foreign/abi/";
    private static final String ABI_CLASS = PACKAGE + "x64/sysv/GmpAbi";
    private static final String ENTRY_CLASS = PACKAGE + "GmpEntry";
    private static final String X64 = PACKAGE + "x64/X86_64Architecture";
    private static final String ARRANGER = PACKAGE + "x64/sysv/CallArranger";
    private static final String DESCRIPTOR = PACKAGE + "ABIDescriptor";
    private static final String POINT = PACKAGE + "NativeEntryPoint";
    private static final String STORAGE = PACKAGE + "VMStorage";
    private static final String A_STORAGE = "L" + STORAGE + ";";
    private static final String TYPE = "Ljava/lang/invoke/MethodType;";
    private static final String ACCESS = "jdk/internal/access/JavaLangInvokeAccess";
    /** {@code X86_64Architecture.StorageType.PLACEHOLDER}, a constant. */
    private static final int PLACEHOLDER = 4;
    private static final int STACK = 14;
    private static final int STATIC = 0x0008;

    private final JdkMembers members;
    private final String calls;

    JdkForeign(JdkMembers members, String calls) {
        this.members = members;
        this.calls = calls;
    }

    /** Leaves the implementation in the named class, if there can be one. */
    void make(Method[] methods) {
        if (!"amd64".equals(System.getProperty("os.arch"))) {
            return;
        }
        try {
            Class<?> point = Class.forName(POINT.replace('/', '.'));
            Class<?> _ = members.define(Class.forName(ARRANGER.replace('/', '.')), ABI_CLASS, abi());
            var _ = members.define(point, ENTRY_CLASS, entry());
            var _ = members.define(MethodHandle.class, NAME, members.foreign(methods, point));
        } catch (ReflectiveOperationException | LinkageError e) {
            return; // Another build of the JDK.
        }
    }

    private byte[] abi() {
        ClassFileWriter c = new ClassFileWriter(ABI_CLASS, "java/lang/Object");
        Code init = new Code(c).getStatic(ARRANGER, "CSysV", "L" + DESCRIPTOR + ";").putStatic(calls, ABI, OBJECT);
        return initialised(c, init);
    }

    private byte[] entry() throws ReflectiveOperationException {
        ClassFileWriter c = new ClassFileWriter(ENTRY_CLASS, "java/lang/Object");
        Code init = type(new Code(c).make(POINT));
        init = type(init).getStatic(calls, ABI, OBJECT).cast(Class.forName(DESCRIPTOR.replace('/', '.')));
        array(init, c);
        init.getStatic(PACKAGE + "StubLocations", "TARGET_ADDRESS", "L" + PACKAGE + "StubLocations;").op(Code.BIPUSH).op(PLACEHOLDER)
                .call(PACKAGE + "StubLocations", "storage", "(B)" + A_STORAGE).op(Code.AASTORE);
        array(init, c);
        init.getStatic(X64 + "$Regs", "rax", A_STORAGE).op(Code.AASTORE);
        init.op(Code.ICONST_0).op(Code.ICONST_0).op(Code.ICONST_0)
                .callStatic(POINT, "makeDowncallStub", "(" + TYPE + "L" + DESCRIPTOR + ";[" + A_STORAGE + "[" + A_STORAGE + "ZIZ)J")
                .op(Code.DUP2).op(Code.LSTORE_0).op(Code.LCONST_0).big(0)
                .callStatic("java/util/Objects", "checkIndex", "(JJ)J").op(Code.POP2)
                .construct(POINT, "(" + TYPE + "J)V").putStatic(calls, ENTRY, OBJECT);
        return initialised(c, init);
    }

    private static Code type(Code c) {
        return c.getStatic("java/lang/Long", "TYPE", "Ljava/lang/Class;").op(Code.DUP)
                .callStatic("java/lang/invoke/MethodType", "methodType", "(Ljava/lang/Class;Ljava/lang/Class;)" + TYPE);
    }

    /** An array of one, and where its element goes. */
    private static void array(Code to, ClassFileWriter c) {
        Code _ = to.op(Code.ICONST_1).op(Code.ANEWARRAY, c.type(STORAGE)).op(Code.DUP).op(Code.ICONST_0);
    }

    private static byte[] initialised(ClassFileWriter c, Code init) {
        c.addMethod(STATIC, "<clinit>", "()V", STACK, 2, -1, init.op(Code.RETURN).bytes());
        return c.toBytes();
    }

    /** Writes the bodies of its methods. */
    static Code leaf(Code c) {
        return c.big(1).getStatic(NAME, "ENTRY", "L" + POINT + ";")
                .callStatic("java/lang/invoke/MethodHandle", "linkToNative", "(JLjava/lang/Object;)J");
    }

    static Code handle(Code c) {
        return c.callStatic("jdk/internal/access/SharedSecrets", "getJavaLangInvokeAccess", "()L" + ACCESS + ";")
                .object(1).object(2).big(3).object(5).op(Code.ICONST_1).op(Code.LCONST_0)
                .callInterface(ACCESS, "memorySegmentViewHandle", "(Ljava/lang/Class;Ljava/lang/foreign/MemoryLayout;J"
                        + "Ljava/nio/ByteOrder;ZJ)Ljava/lang/invoke/VarHandle;", 9);
    }

    /** The handle of an int or a long. */
    static VarHandle handle(ValueLayout layout) {
        ForeignCalls c = ForeignCalls.made;
        return c == null ? layout.varHandle() : c.handle(layout.carrier(), layout, layout.byteAlignment() - 1, layout.order());
    }

    /** Calls by our own code. Apart from what is needed before it is known whether the native bindings are there. */
    static final class JdkLeaf extends Leaf {
        private static final ForeignCalls CALLS = ForeignCalls.made;

        /** Has calls of {@link Leaf} go this way, where there is one. */
        static void use() {
            if (CALLS != null) {
                Leaf.use(new JdkLeaf());
            }
        }

        @Override
        protected long leaf(long function) {
            return CALLS.leaf(function);
        }
    }
}
