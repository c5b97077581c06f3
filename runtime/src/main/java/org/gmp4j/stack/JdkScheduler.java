// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.concurrent.ForkJoinPool;

/**
 * Puts a scheduler of ours in the place of the one that the JDK gives to virtual threads that name none: {@code
 * VirtualThread.DEFAULT_SCHEDULER} of JDK 25, which is a {@link ForkJoinPool} and hence must be one of ours as well.
 *
 * <p>The field is final, and compilers take it for a constant. So what they compiled before the change goes on giving threads to the
 * JDK's scheduler. The agent makes the change before the program's first class is loaded. Rejected: having HotSpot compile all of it again
 * by redefining the class, with continuations on the heap that have frames of it.
 */
public final class JdkScheduler {
    private JdkScheduler() {
    }

    /**
     * From here on virtual threads that name no scheduler, and are not started by one that has another, have {@code ours}.
     *
     * @throws IllegalStateException with one sentence, when somebody else has done so already, or the field is not what we know
     */
    public static void replace(ForkJoinPool ours) {
        JdkThreads.check();
        Object now = JdkThreads.defaultScheduler();
        if (now.getClass() != ForkJoinPool.class) {
            throw new IllegalStateException("gmp4j cannot become the scheduler of all virtual threads: another copy of it, or another "
                    + "library, has put its own in the JDK's place (" + now.getClass().getName() + ")");
        }
        try {
            set(ours);
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new IllegalStateException("gmp4j cannot become the scheduler of all virtual threads of this build of the JDK ("
                    + Runtime.version() + "): " + e.getMessage() + " is missing", e);
        }
    }

    private static void set(ForkJoinPool ours) throws ReflectiveOperationException {
        Class<?> vt = Class.forName("java.lang.VirtualThread");
        Field field = vt.getDeclaredField("DEFAULT_SCHEDULER");
        if (field.getType() != ForkJoinPool.class) {
            throw new NoSuchFieldException("VirtualThread.DEFAULT_SCHEDULER of type ForkJoinPool");
        }
        JdkThreads.openToUs("jdk.internal.misc");
        Class<?> unsafe = Class.forName("jdk.internal.misc.Unsafe");
        MethodHandles.Lookup l = MethodHandles.privateLookupIn(unsafe, MethodHandles.lookup());
        MethodHandle get = l.findStatic(unsafe, "getUnsafe", MethodType.methodType(unsafe));
        MethodHandle base = l.findVirtual(unsafe, "staticFieldBase", MethodType.methodType(Object.class, Field.class));
        MethodHandle offset = l.findVirtual(unsafe, "staticFieldOffset", MethodType.methodType(long.class, Field.class));
        MethodHandle put = l.findVirtual(unsafe, "putReferenceVolatile",
                MethodType.methodType(void.class, Object.class, long.class, Object.class));
        try {
            Object u = get.invoke();
            put.invoke(u, base.invoke(u, field), (long) offset.invoke(u, field), ours);
        } catch (Throwable e) {
            throw JdkThreads.sneaky(e);
        }
    }
}
