package org.gmp4j.stack;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Member;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.StackChunk;

import org.gmp4j.agent.ClassFileWriter;

/**
 * Hidden classes of ours inside the JDK. Three, in the nests of {@code VirtualThread}, {@code Continuation} and
 * {@code StackChunk}, are the parts of a switch that {@link JdkThreads} does in another way than they do, and questions. In Java
 * they would read
 *
 * <pre>
 * &#64;ChangesCurrentThread &#64;ReservedStackAccess
 * public static void unmount(Thread vt, Thread carrier) {
 *     carrier.setCurrentThread(carrier);
 *     U.putReferenceRelease(vt, CARRIER_THREAD, null);
 *     ((VirtualThread) vt).notifyJvmtiUnmount(false);
 * }
 *
 * public static boolean shouldBeInitialized(Class c) { return U.shouldBeInitialized(c); }
 *
 * &#64;ForceInline
 * public static void start(Continuation c) { // and resume, with true
 *     JLA.setScopedValueCache(c.scopedValueCache);
 *     JLA.setContinuation(JLA.currentCarrierThread(), c);
 *     Continuation.enterSpecial(c, false, true);
 *     JLA.setContinuation(JLA.currentCarrierThread(), null);
 *     c.scopedValueCache = JLA.scopedValueCache();
 *     JLA.setScopedValueCache(null);
 * }
 *
 * &#64;ForceInline
 * public static Continuation innermost() { return JLA.getContinuation(JLA.currentCarrierThread()); }
 *
 * &#64;Hidden &#64;JvmtiHideEvents &#64;DontInline
 * public static int yield() { return Continuation.doYield(); }
 *
 * public static StackChunk tail(Continuation c) { return c.tail; } // Where its frames are, newest first.
 *
 * public static int used(StackChunk c) { return c.size - c.sp; } // In words.
 * </pre>
 *
 * <p>{@code unmount} is not a method handle on the parts because only code that the compiler knows to change the current
 * thread may do so: in a caller without that mark it could read {@code Thread.currentThread()} once and use it on both
 * sides.
 *
 * <p>{@code start} and {@code resume} leave out what {@code Continuation.run} does for continuations that are nested in
 * others or that anybody may run: ours are outermost and run by the M that made them RUNNING. They are inlined in the M's
 * loop, and that matters most: a yield leaves without returning from its callers, so the processor predicts wrongly each
 * return of the M from a frame above its loop.
 *
 * <p>{@code yield} must be one frame of its own. A goroutine that began before its first frames were compiled has interpreted
 * ones at the bottom for as long as it lives, and a switch that moves one of those takes twice as long. HotSpot then moves
 * two frames at a time; a loop whose every call was inlined is one frame, this is the other.
 *
 * <p>A third, {@link #target}, reads a field and is always there.
 */
final class SwitchClasses {
    private static final String VIRTUAL_THREAD = "java/lang/VirtualThread";
    private static final String CONTINUATION = "jdk/internal/vm/Continuation";
    private static final String STACK_CHUNK = "jdk/internal/vm/StackChunk";
    private static final String ACCESS = "jdk/internal/access/JavaLangAccess";
    private static final String UNSAFE = "jdk/internal/misc/Unsafe";
    private static final String ANNOTATION = "Ljdk/internal/vm/annotation/";

    private static final int PUBLIC_STATIC = 0x0009;
    private static final int NESTMATE_HIDDEN_STRONG = 7;

    private static final int ACONST_NULL = 1;
    private static final int ICONST_0 = 3;
    private static final int ICONST_1 = 4;
    private static final int ALOAD_0 = 42;
    private static final int ALOAD_1 = 43;
    private static final int ISUB = 100;
    private static final int IRETURN = 172;
    private static final int ARETURN = 176;
    private static final int RETURN = 177;
    private static final int GETSTATIC = 178;
    private static final int GETFIELD = 180;
    private static final int PUTFIELD = 181;
    private static final int INVOKEVIRTUAL = 182;
    private static final int INVOKESTATIC = 184;
    private static final int INVOKEINTERFACE = 185;
    private static final int CHECKCAST = 192;

    final MethodHandle unmount;
    final MethodHandle shouldBeInitialized;
    final MethodHandle start;
    final MethodHandle resume;
    final MethodHandle innermost;
    final MethodHandle yield;
    final MethodHandle tail;
    final MethodHandle used;

    SwitchClasses(Class<?> virtualThread) throws ReflectiveOperationException {
        require(virtualThread);
        Class<?> threads = define(virtualThread, "java/lang/GmpUnmount");
        Class<?> continuations = define(Continuation.class, "jdk/internal/vm/GmpSwitch");
        Class<?> chunks = define(StackChunk.class, "jdk/internal/vm/GmpChunk");
        MethodHandles.Lookup l = MethodHandles.lookup();
        MethodType enter = MethodType.methodType(void.class, Continuation.class);
        unmount = l.findStatic(threads, "unmount", MethodType.methodType(void.class, Thread.class, Thread.class));
        shouldBeInitialized = l.findStatic(threads, "shouldBeInitialized",
                MethodType.methodType(boolean.class, Class.class));
        start = l.findStatic(continuations, "start", enter);
        resume = l.findStatic(continuations, "resume", enter);
        innermost = l.findStatic(continuations, "innermost", MethodType.methodType(Continuation.class));
        yield = l.findStatic(continuations, "yield", MethodType.methodType(int.class));
        tail = l.findStatic(continuations, "tail", MethodType.methodType(StackChunk.class, Continuation.class));
        used = l.findStatic(chunks, "used", MethodType.methodType(int.class, StackChunk.class));
    }

    /** Looks for what the code below names, which would else be missed at the first switch. */
    private static void require(Class<?> virtualThread) throws ReflectiveOperationException {
        List<Member> unused = List.of(virtualThread.getDeclaredField("U"), virtualThread.getDeclaredField("CARRIER_THREAD"),
                virtualThread.getDeclaredMethod("notifyJvmtiUnmount", boolean.class),
                Thread.class.getDeclaredMethod("setCurrentThread", Thread.class),
                Continuation.class.getDeclaredField("tail"), StackChunk.class.getDeclaredField("size"),
                StackChunk.class.getDeclaredField("sp"),
                Continuation.class.getDeclaredField("JLA"), Continuation.class.getDeclaredField("scopedValueCache"),
                Continuation.class.getDeclaredMethod("doYield"),
                Continuation.class.getDeclaredMethod("enterSpecial", Continuation.class, boolean.class, boolean.class));
    }

    private static Class<?> define(Class<?> nest, String name) throws ReflectiveOperationException {
        ClassFileWriter c = new ClassFileWriter(name);
        if (nest == Continuation.class) {
            writeSwitch(c);
        } else if (nest == StackChunk.class) {
            Code used = new Code();
            used.op(ALOAD_0).op(GETFIELD, c.field(STACK_CHUNK, "size", "I"));
            used.op(ALOAD_0).op(GETFIELD, c.field(STACK_CHUNK, "sp", "I")).op(ISUB).op(IRETURN);
            c.addMethod(PUBLIC_STATIC, "used", "(L" + STACK_CHUNK + ";)I", 2, 1, -1, used.bytes());
        } else {
            writeUnmount(c);
        }
        return define(nest, name, c.toBytes());
    }

    /** Defines a hidden class in the nest of one of the JDK's. */
    static Class<?> define(Class<?> nest, String name, byte[] b) throws ReflectiveOperationException {
        MethodHandle define = MethodHandles.privateLookupIn(ClassLoader.class, MethodHandles.lookup()).findStatic(
                ClassLoader.class, "defineClass0", MethodType.methodType(Class.class, ClassLoader.class, Class.class,
                        String.class, byte[].class, int.class, int.class, ProtectionDomain.class, boolean.class, int.class,
                        Object.class));
        try {
            return (Class<?>) define.invokeExact((ClassLoader) null, (Class<?>) nest, name, b, 0, b.length,
                    (ProtectionDomain) null, true, NESTMATE_HIDDEN_STRONG, (Object) null);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new ReflectiveOperationException(e);
        }
    }

    /** What a continuation runs: {@code public static Runnable target(Continuation c) { return c.target; }}. */
    static MethodHandle target() throws ReflectiveOperationException {
        List<Member> unused = List.of(Continuation.class.getDeclaredField("target"));
        ClassFileWriter c = new ClassFileWriter("jdk/internal/vm/GmpTarget");
        Code code = new Code();
        code.op(ALOAD_0).op(GETFIELD, c.field(CONTINUATION, "target", "Ljava/lang/Runnable;")).op(ARETURN);
        c.addMethod(PUBLIC_STATIC, "target", "(L" + CONTINUATION + ";)Ljava/lang/Runnable;", 1, 1, -1, code.bytes());
        return MethodHandles.lookup().findStatic(define(Continuation.class, "jdk/internal/vm/GmpTarget", c.toBytes()), "target",
                MethodType.methodType(Runnable.class, Continuation.class));
    }

    private static void writeUnmount(ClassFileWriter c) {
        Code code = new Code();
        int setCurrent = c.method("java/lang/Thread", "setCurrentThread", "(Ljava/lang/Thread;)V");
        code.op(ALOAD_1).op(ALOAD_1).op(INVOKEVIRTUAL, setCurrent);
        code.op(GETSTATIC, c.field(VIRTUAL_THREAD, "U", "L" + UNSAFE + ";")).op(ALOAD_0)
                .op(GETSTATIC, c.field(VIRTUAL_THREAD, "CARRIER_THREAD", "J")).op(ACONST_NULL)
                .op(INVOKEVIRTUAL, c.method(UNSAFE, "putReferenceRelease", "(Ljava/lang/Object;JLjava/lang/Object;)V"));
        code.op(ALOAD_0).op(CHECKCAST, c.type(VIRTUAL_THREAD)).op(ICONST_0)
                .op(INVOKEVIRTUAL, c.method(VIRTUAL_THREAD, "notifyJvmtiUnmount", "(Z)V"));
        code.op(RETURN);
        c.addMethod(PUBLIC_STATIC, "unmount", "(Ljava/lang/Thread;Ljava/lang/Thread;)V", 5, 2, -1, code.bytes(),
                ANNOTATION + "ChangesCurrentThread;", ANNOTATION + "ReservedStackAccess;");
        Code initialized = new Code();
        initialized.op(GETSTATIC, c.field(VIRTUAL_THREAD, "U", "L" + UNSAFE + ";")).op(ALOAD_0)
                .op(INVOKEVIRTUAL, c.method(UNSAFE, "shouldBeInitialized", "(Ljava/lang/Class;)Z")).op(IRETURN);
        c.addMethod(PUBLIC_STATIC, "shouldBeInitialized", "(Ljava/lang/Class;)Z", 2, 1, -1, initialized.bytes());
    }

    private static void writeSwitch(ClassFileWriter c) {
        int access = c.field(CONTINUATION, "JLA", "L" + ACCESS + ";");
        int carrier = c.interfaceMethod(ACCESS, "currentCarrierThread", "()Ljava/lang/Thread;");
        int setContinuation = c.interfaceMethod(ACCESS, "setContinuation", "(Ljava/lang/Thread;L" + CONTINUATION + ";)V");
        int cache = c.field(CONTINUATION, "scopedValueCache", "[Ljava/lang/Object;");
        int setCache = c.interfaceMethod(ACCESS, "setScopedValueCache", "([Ljava/lang/Object;)V");
        int getCache = c.interfaceMethod(ACCESS, "scopedValueCache", "()[Ljava/lang/Object;");
        int enter = c.method(CONTINUATION, "enterSpecial", "(L" + CONTINUATION + ";ZZ)V");
        for (boolean again : new boolean[] {false, true}) {
            Code code = new Code();
            code.op(GETSTATIC, access).op(ALOAD_0).op(GETFIELD, cache).call(setCache, 2);
            code.op(GETSTATIC, access).op(GETSTATIC, access).call(carrier, 1).op(ALOAD_0).call(setContinuation, 3);
            code.op(ALOAD_0).op(again ? ICONST_1 : ICONST_0).op(ICONST_1).op(INVOKESTATIC, enter);
            code.op(GETSTATIC, access).op(GETSTATIC, access).call(carrier, 1).op(ACONST_NULL).call(setContinuation, 3);
            code.op(ALOAD_0).op(GETSTATIC, access).call(getCache, 1).op(PUTFIELD, cache);
            code.op(GETSTATIC, access).op(ACONST_NULL).call(setCache, 2);
            code.op(RETURN);
            c.addMethod(PUBLIC_STATIC, again ? "resume" : "start", "(L" + CONTINUATION + ";)V", 3, 1, -1, code.bytes(),
                    ANNOTATION + "ForceInline;");
        }
        Code innermost = new Code();
        innermost.op(GETSTATIC, access).op(GETSTATIC, access).call(carrier, 1)
                .call(c.interfaceMethod(ACCESS, "getContinuation", "(Ljava/lang/Thread;)L" + CONTINUATION + ";"), 2)
                .op(ARETURN);
        c.addMethod(PUBLIC_STATIC, "innermost", "()L" + CONTINUATION + ";", 2, 0, -1, innermost.bytes(),
                ANNOTATION + "ForceInline;");
        Code yield = new Code();
        yield.op(INVOKESTATIC, c.method(CONTINUATION, "doYield", "()I")).op(IRETURN);
        c.addMethod(PUBLIC_STATIC, "yield", "()I", 1, 0, -1, yield.bytes(), ANNOTATION + "Hidden;",
                ANNOTATION + "JvmtiHideEvents;", ANNOTATION + "DontInline;");
        Code tail = new Code();
        tail.op(ALOAD_0).op(GETFIELD, c.field(CONTINUATION, "tail", "L" + STACK_CHUNK + ";")).op(ARETURN);
        c.addMethod(PUBLIC_STATIC, "tail", "(L" + CONTINUATION + ";)L" + STACK_CHUNK + ";", 1, 1, -1, tail.bytes());
    }

    /** Instructions, a byte each. */
    private static final class Code {
        private final List<Integer> bytes = new ArrayList<>();

        Code op(int opcode) {
            bytes.add(opcode);
            return this;
        }

        Code op(int opcode, int constant) {
            bytes.add(opcode);
            bytes.add(constant >> 8);
            bytes.add(constant & 0xFF);
            return this;
        }

        /** A call of an interface's method; {@code words} is how much it takes off the stack. */
        Code call(int constant, int words) {
            return op(INVOKEINTERFACE, constant).op(words).op(0);
        }

        int[] bytes() {
            return bytes.stream().mapToInt(Integer::intValue).toArray();
        }
    }
}
