// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.reflect.Field;
import java.util.concurrent.ForkJoinPool;

import jdk.internal.misc.Unsafe;

/**
 * Replaces the JDK's default scheduler of virtual threads, {@code VirtualThread.DEFAULT_SCHEDULER}. The field's type is
 * {@link ForkJoinPool}, so the new scheduler is a subclass of that.
 *
 * <p>The field is final, and the JIT compilers treat it as a constant. Code that was compiled before the change still gives threads to the
 * JDK's scheduler. So the agent makes the change before the program's first class is loaded. Rejected: to redefine the class, so that
 * HotSpot compiles this code again. The redefinition would affect frames of the class that continuations have on the heap.
 */
public final class JdkScheduler {
    private JdkScheduler() {
    }

    /**
     * Makes {@code ours} the scheduler of virtual threads that are made from now on. A thread that is made with a scheduler, or by a
     * virtual thread of another scheduler, is not affected.
     *
     * @throws IllegalStateException with one sentence, when another library, or another copy of gmp4j, has replaced the scheduler already,
     *     or the field is unknown
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
        Unsafe u = Unsafe.getUnsafe();
        u.putReferenceVolatile(u.staticFieldBase(field), u.staticFieldOffset(field), ours);
    }
}
