package org.gmp4j.stack;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.security.ProtectionDomain;

import jdk.internal.vm.Continuation;

import org.gmp4j.agent.ClassFileWriter;

/**
 * A hidden class of ours in the nest of {@code java.lang.VirtualThread}: what the JDK's {@code mount}, run and {@code
 * unmount} do, without the lock of the last and with one call instead of three. In Java it would read
 *
 * <pre>
 * &#64;ChangesCurrentThread &#64;ReservedStackAccess
 * public static void run(Thread vt, Continuation c, Thread carrier) {
 *     ((VirtualThread) vt).mount();
 *     try { c.run(); } finally { unmount(vt, carrier); }
 * }
 * &#64;ChangesCurrentThread &#64;ReservedStackAccess &#64;ForceInline
 * static void unmount(Thread vt, Thread carrier) {
 *     carrier.setCurrentThread(carrier);
 *     U.putReferenceRelease(vt, CARRIER_THREAD, null);
 *     ((VirtualThread) vt).notifyJvmtiUnmount(false);
 * }
 * </pre>
 *
 * <p>{@link JdkThreads} says why no lock is needed. Why a class and not method handles: only code that the compiler knows to change the current thread may do so.
 * In a caller without that mark it could read {@code Thread.currentThread()} once and use it on both sides of the change.
 *
 * <p>And a second one in the nest of {@code jdk.internal.vm.Continuation}, with which a yield leaves two frames less on
 * each parked stack than {@code Continuation.yield}:
 *
 * <pre>
 * &#64;Hidden &#64;JvmtiHideEvents &#64;DontInline
 * public static int yield() { return Continuation.doYield(); }
 * </pre>
 *
 * <p>One frame of its own it must have. A goroutine that began before its first frames were compiled has interpreted ones
 * at the bottom for as long as it lives, and a switch that moves one of those takes twice as long. HotSpot then moves two
 * frames at a time; a loop whose every call was inlined is one frame, this is the other.
 */
final class MountClass {
    private static final String SELF = "java/lang/GmpMount";
    private static final String VIRTUAL_THREAD = "java/lang/VirtualThread";
    private static final String UNSAFE = "jdk/internal/misc/Unsafe";
    private static final String CHANGES_CURRENT_THREAD = "Ljdk/internal/vm/annotation/ChangesCurrentThread;";
    private static final String RESERVED_STACK_ACCESS = "Ljdk/internal/vm/annotation/ReservedStackAccess;";
    private static final String FORCE_INLINE = "Ljdk/internal/vm/annotation/ForceInline;";
    private static final MethodType RUN = MethodType.methodType(void.class, Thread.class, Continuation.class, Thread.class);
    private static final String UNMOUNT = "(Ljava/lang/Thread;Ljava/lang/Thread;)V";
    private static final String YIELD_SELF = "jdk/internal/vm/GmpYield";
    private static final String CONTINUATION = "jdk/internal/vm/Continuation";
    private static final String DONT_INLINE = "Ljdk/internal/vm/annotation/DontInline;";
    private static final String HIDDEN = "Ljdk/internal/vm/annotation/Hidden;";
    private static final String HIDE_EVENTS = "Ljdk/internal/vm/annotation/JvmtiHideEvents;";

    private static final int PUBLIC_STATIC = 0x0009;
    private static final int NESTMATE_HIDDEN_STRONG = 7;

    private static final int ACONST_NULL = 1;
    private static final int ICONST_0 = 3;
    private static final int ALOAD_0 = 42;
    private static final int ALOAD_1 = 43;
    private static final int ALOAD_2 = 44;
    private static final int IRETURN = 172;
    private static final int RETURN = 177;
    private static final int GETSTATIC = 178;
    private static final int INVOKEVIRTUAL = 182;
    private static final int INVOKESTATIC = 184;
    private static final int ATHROW = 191;
    private static final int CHECKCAST = 192;

    private MountClass() {
    }

    /** The handle of {@code run}. */
    static MethodHandle run(Class<?> virtualThread) throws ReflectiveOperationException {
        return MethodHandles.lookup().findStatic(define(virtualThread, SELF, mountBytes()), "run", RUN);
    }

    /** The handle of {@code yield}: 0 when the stack was off the thread and is back, else why it could not leave. */
    static MethodHandle yield() throws ReflectiveOperationException {
        return MethodHandles.lookup().findStatic(define(Continuation.class, YIELD_SELF, yieldBytes()), "yield",
                MethodType.methodType(int.class));
    }

    private static Class<?> define(Class<?> nest, String name, byte[] b) throws ReflectiveOperationException {
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

    private static byte[] yieldBytes() {
        ClassFileWriter c = new ClassFileWriter(YIELD_SELF);
        int doYield = c.method(CONTINUATION, "doYield", "()I");
        c.addMethod(PUBLIC_STATIC, "yield", "()I", 1, 0, -1, new int[] {INVOKESTATIC, doYield >> 8, doYield, IRETURN}, HIDDEN,
                HIDE_EVENTS, DONT_INLINE);
        return c.toBytes();
    }

    private static byte[] mountBytes() {
        ClassFileWriter c = new ClassFileWriter(SELF);
        int vt = c.type(VIRTUAL_THREAD);
        int mount = c.method(VIRTUAL_THREAD, "mount", "()V");
        int notifyUnmount = c.method(VIRTUAL_THREAD, "notifyJvmtiUnmount", "(Z)V");
        int setCurrent = c.method("java/lang/Thread", "setCurrentThread", "(Ljava/lang/Thread;)V");
        int run = c.method(CONTINUATION, "run", "()V");
        int unmount = c.ownMethod("unmount", UNMOUNT);
        c.addGuarded(PUBLIC_STATIC, "run", RUN.descriptorString(), 3, 3, new int[] {7, 11, 17}, new int[] {
            ALOAD_0, CHECKCAST, vt >> 8, vt, INVOKEVIRTUAL, mount >> 8, mount,
            ALOAD_1, INVOKEVIRTUAL, run >> 8, run,
            ALOAD_0, ALOAD_2, INVOKESTATIC, unmount >> 8, unmount, RETURN,
            ALOAD_0, ALOAD_2, INVOKESTATIC, unmount >> 8, unmount, ATHROW
        }, CHANGES_CURRENT_THREAD, RESERVED_STACK_ACCESS);

        int unsafe = c.field(VIRTUAL_THREAD, "U", "L" + UNSAFE + ";");
        int offset = c.field(VIRTUAL_THREAD, "CARRIER_THREAD", "J");
        int put = c.method(UNSAFE, "putReferenceRelease", "(Ljava/lang/Object;JLjava/lang/Object;)V");
        c.addMethod(PUBLIC_STATIC, "unmount", UNMOUNT, 5, 2, -1, new int[] {
            ALOAD_1, ALOAD_1, INVOKEVIRTUAL, setCurrent >> 8, setCurrent,
            GETSTATIC, unsafe >> 8, unsafe, ALOAD_0, GETSTATIC, offset >> 8, offset, ACONST_NULL,
            INVOKEVIRTUAL, put >> 8, put,
            ALOAD_0, CHECKCAST, vt >> 8, vt, ICONST_0, INVOKEVIRTUAL, notifyUnmount >> 8, notifyUnmount, RETURN
        }, CHANGES_CURRENT_THREAD, RESERVED_STACK_ACCESS, FORCE_INLINE);
        return c.toBytes();
    }
}
