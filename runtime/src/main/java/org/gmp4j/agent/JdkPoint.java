// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.security.ProtectionDomain;

import org.jspecify.annotations.Nullable;

/**
 * Makes and defines the class that every point links to, {@code java.lang.invoke.GmpPoint}. It is in the one package that every class
 * of every class loader, OSGi bundle and module sees. In Java it would read
 *
 * <pre>
 * public final class GmpPoint {
 *     public static volatile int wanted;          // 1 while some goroutine is to be preempted
 *     public static volatile MethodHandle linker; // Points.link
 *
 *     public static CallSite link(Lookup l, String name, MethodType t, String method, int depth) {
 *         return (CallSite) linker.invokeExact(l, name, t, method, depth);
 *     }
 *     &#64;ForceInline &#64;Hidden &#64;Scoped
 *     public static void point(Runnable site) { if (!MethodHandleImpl.isCompileConstant(site)) check(site); }
 *     &#64;ForceInline &#64;Hidden
 *     public static void check(Runnable site) { if (wanted != 0) slow(site); }
 *     // Where the point is on the way back ({@link CodeWriter}): whether slow was called.
 *     &#64;ForceInline &#64;Hidden &#64;Scoped
 *     public static boolean back(Runnable site) { return !MethodHandleImpl.isCompileConstant(site) &amp;&amp; checkBack(site); }
 *     &#64;ForceInline &#64;Hidden
 *     public static boolean checkBack(Runnable site) { if (wanted == 0) return false; slow(site); return true; }
 *     &#64;DontInline &#64;Hidden
 *     static void slow(Runnable site) { site.run(); }
 * }
 * </pre>
 *
 * <p>An unarmed call site calls {@code point}. In the interpreter and in C1's code that reads {@code wanted}. In C2's code its
 * argument, the call site bound to it, is a constant, and no code is left of it, neither a load nor a branch, so the loop vectorises.
 * The compiled method keeps a mark, by {@code @Scoped}: a thread that is in the method when a shared {@link java.lang.foreign.Arena}
 * closes continues in the interpreter. {@link Points#nudge} closes one. The compiled code stays valid, so the loop is soon back in it
 * without a new compilation.
 *
 * <p>An armed call site calls {@code check}, which is compiled to a load and a branch. Once the branch was taken, there is a call on
 * the loop's only way back, and C2 makes 64-bit constants anew in each round, or keeps the loop's variables on the stack, which slows
 * short loops down. So most points are on a way back of their own ({@link CodeWriter}). Rejected: to tell C2 that the branch is rare
 * ({@code MethodHandleImpl.profileBoolean}), which has no effect; to nudge only and never arm, which makes short requests wait longer
 * behind long ones on one CPU.
 *
 * <p>Rejected places for the class: a jar on the boot class path (OSGi and other filtering class loaders do not delegate its package),
 * a public bootstrap method of the JDK (none returns a mutable call site), the application class loader.
 */
final class JdkPoint {
    static final String CLASS = "java/lang/invoke/GmpPoint";
    static final String LINK = "link";
    static final String LINK_TYPE = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;"
            + "Ljava/lang/invoke/MethodType;Ljava/lang/String;I)Ljava/lang/invoke/CallSite;";
    /** The name of every point, in the class file and in nothing else. */
    static final String POINT = "preemptionPoint";

    /** The targets of an unarmed and an armed call site, which take the site. The second two are for points on the way back. */
    static final MethodHandle UNARMED;
    static final MethodHandle ARMED;
    static final MethodHandle UNARMED_BACK;
    static final MethodHandle ARMED_BACK;
    private static final @Nullable VarHandle WANTED;
    /** A {@link #PROBLEM}: another class loader's copy of gmp4j came first, and the linked points belong to that copy. */
    static final String ANOTHERS = "gmp4j: the preemption points of this JVM belong to another copy of gmp4j; goroutines of "
            + "this copy are preempted only by having their P taken: load gmp4j once, in a class loader that all share";
    /** Says why there are no points in this JVM, or none of this copy; null when there is no reason. */
    static final @Nullable String PROBLEM;

    static {
        MethodHandle unarmed = null;
        MethodHandle armed = null;
        MethodHandle unarmedBack = null;
        MethodHandle armedBack = null;
        VarHandle wanted = null;
        String problem = null;
        try {
            Class<?> point = define();
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodType site = MethodType.methodType(void.class, Runnable.class);
            MethodHandle ours = lookup.findStatic(Points.class, LINK,
                    MethodType.fromMethodDescriptorString(LINK_TYPE, null));
            if (lookup.findStaticVarHandle(point, "linker", MethodHandle.class).compareAndSet((MethodHandle) null, ours)) {
                unarmed = lookup.findStatic(point, "point", site);
                armed = lookup.findStatic(point, "check", site);
                MethodType back = site.changeReturnType(boolean.class);
                unarmedBack = lookup.findStatic(point, "back", back);
                armedBack = lookup.findStatic(point, "checkBack", back);
                wanted = lookup.findStaticVarHandle(point, "wanted", int.class);
            } else {
                problem = ANOTHERS;
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            problem = "gmp4j cannot add preemption points in this JVM (%s): start java with -javaagent:gmp4j-runtime.jar"
                    .formatted(e);
        }
        UNARMED = unused(unarmed);
        ARMED = unused(armed);
        UNARMED_BACK = unused(unarmedBack);
        ARMED_BACK = unused(armedBack);
        WANTED = wanted;
        PROBLEM = problem;
    }

    private JdkPoint() {
    }

    /** Returns the handle. It is null only with a {@link #PROBLEM}, and is not used then. */
    @SuppressWarnings("NullAway")
    private static MethodHandle unused(@Nullable MethodHandle h) {
        return h;
    }

    /** Sets whether points in the interpreter, points in C1's code and armed points call the hook. */
    static void setWanted(boolean wanted) {
        if (WANTED != null) {
            WANTED.setVolatile(wanted ? 1 : 0);
        }
    }

    private static Class<?> define() throws ReflectiveOperationException {
        String name = CLASS.replace('/', '.');
        try {
            return Class.forName(name, true, null); // Another copy of gmp4j has defined it.
        } catch (ClassNotFoundException e) {
            byte[] b = PointClass.bytes();
            MethodHandle define = MethodHandles.privateLookupIn(ClassLoader.class, MethodHandles.lookup()).findStatic(
                    ClassLoader.class, "defineClass1", MethodType.methodType(Class.class, ClassLoader.class, String.class,
                            byte[].class, int.class, int.class, ProtectionDomain.class, String.class));
            try {
                return (Class<?>) define.invokeExact((ClassLoader) null, name, b, 0, b.length, (ProtectionDomain) null,
                        (String) null);
            } catch (RuntimeException | Error thrown) {
                throw thrown;
            } catch (Throwable thrown) {
                throw new ReflectiveOperationException(thrown);
            }
        }
    }
}
