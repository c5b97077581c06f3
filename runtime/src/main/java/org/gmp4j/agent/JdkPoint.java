// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.security.ProtectionDomain;

import org.jspecify.annotations.Nullable;

/**
 * Makes and defines the class that every point links to, {@code java.lang.invoke.GmpPoint}. It is in the one package that every class of
 * every class loader, OSGi bundle and module sees. In Java it would be
 *
 * <pre>
 * public final class GmpPoint {
 *     public static volatile int wanted;          // 1 while some goroutine is to be preempted
 *     public static volatile MethodHandle linker; // Points.link
 *     public static final MethodHandle UNARMED = MethodHandles.constant(Object.class, null);
 *
 *     // The bootstrap method. t is a class for a dynamic constant, and a method type for a call site.
 *     public static Object site(Lookup l, String name, Object t, String method, int depth) {
 *         return (Object) linker.invokeExact(l, name, t, method, depth);
 *     }
 *     // The bootstrap method of classes that were woven by an older gmp4j.
 *     public static CallSite link(Lookup l, String name, MethodType t, String method, int depth) {
 *         return (CallSite) site(l, name, t, method, depth);
 *     }
 *     &#64;ForceInline &#64;Hidden
 *     public static void point(Object site) {
 *         if (MethodHandleImpl.isCompileConstant(site) &amp;&amp; ((CallSite) site).target == UNARMED) { mark(); return; }
 *         if (wanted != 0) slow(site);
 *     }
 *     // For a point on the way back ({@link CodeWriter}). Returns whether slow was called.
 *     &#64;ForceInline &#64;Hidden
 *     public static boolean back(Object site) {
 *         if (MethodHandleImpl.isCompileConstant(site) &amp;&amp; ((CallSite) site).target == UNARMED) { mark(); return false; }
 *         if (wanted == 0) return false;
 *         slow(site);
 *         return true;
 *     }
 *     &#64;ForceInline &#64;Hidden &#64;Scoped
 *     static void mark() { }
 *     &#64;DontInline &#64;Hidden
 *     static void slow(Object site) { ((Runnable) site).run(); }
 * }
 * </pre>
 *
 * <p>The target of the site determines whether the point is armed. The interpreter and C1's code read {@code wanted} instead of the target.
 * In C2's code the site and its target are constants, and HotSpot discards the code when the target changes. So an unarmed point leaves no
 * code there, neither a load nor a branch, and the loop vectorises. Because of the annotation {@code Scoped} of {@code mark}, a thread in
 * compiled code with an unarmed point continues in the interpreter when a shared {@link java.lang.foreign.Arena} closes. {@link
 * Points#nudge} closes such an arena. The compiled code stays valid, so the loop soon returns to it without a new compilation.
 *
 * <p>An armed point is compiled to a load and a branch. Once the branch has been taken, C2 compiles the call behind it, on the loop's only
 * way back. Then C2 loads 64-bit constants anew in each round, or keeps the loop's variables on the stack, which slows short loops down. So
 * most points are on a way back of their own ({@link CodeWriter}). Rejected: a hint for C2 that the branch is rare ({@code
 * MethodHandleImpl.profileBoolean}), which has no effect. Rejected: nudges without arming, because on one CPU short requests then wait
 * longer behind long ones. Rejected: points that call the target of a mutable call site, because the interpreter then executes several more
 * methods in each round.
 *
 * <p>Rejected places for the class: a jar on the boot class path (OSGi and other filtering class loaders do not delegate its package), and
 * the application class loader. Rejected too: a public bootstrap method of the JDK, because none returns a mutable call site.
 */
final class JdkPoint {
    static final String CLASS = "java/lang/invoke/GmpPoint";
    /** The bootstrap method of classes that were woven by an older gmp4j. */
    static final String LINK = "link";
    static final String LINK_TYPE = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;"
            + "Ljava/lang/invoke/MethodType;Ljava/lang/String;I)Ljava/lang/invoke/CallSite;";
    /** The bootstrap method of every other class. */
    static final String SITE = "site";
    static final String SITE_TYPE = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;"
            + "Ljava/lang/Object;Ljava/lang/String;I)Ljava/lang/Object;";
    /** The method that a point on the way back to a header calls. Other points call {@link #PLAIN}. */
    static final String BACK = "back";
    static final String BACK_TYPE = "(Ljava/lang/Object;)Z";
    static final String PLAIN = "point";
    static final String PLAIN_TYPE = "(Ljava/lang/Object;)V";
    /** The name of every point in class files. */
    static final String POINT = "preemptionPoint";

    /** The handle of {@link #BACK}, whose argument is the site. */
    private static final MethodHandle ON_THE_WAY_BACK;
    /** The handle of {@link #PLAIN}, whose argument is the site. */
    private static final MethodHandle ANYWHERE;
    /** The target of unarmed sites. */
    static final MethodHandle UNARMED;
    /** The target of armed sites. */
    static final MethodHandle ARMED;
    private static final @Nullable VarHandle WANTED;
    /** A {@link #PROBLEM}: another class loader's copy of gmp4j was first, and the linked points belong to that copy. */
    static final String ANOTHERS = "gmp4j: the preemption points of this JVM belong to another copy of gmp4j; goroutines of "
            + "this copy are preempted only by having their P taken: load gmp4j once, in a class loader that all share";
    /** The reason why this copy of gmp4j has no points in this JVM; null when it has points. */
    static final @Nullable String PROBLEM;

    static {
        MethodHandle back = null;
        MethodHandle plain = null;
        MethodHandle unarmed = null;
        VarHandle wanted = null;
        String problem = null;
        try {
            byte[] classFile = PointClass.bytes(); // Made without the lock, because it loads classes of this copy.
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodHandle ours = lookup.findStatic(Points.class, LINK, type(SITE_TYPE));
            MethodHandle _ = ours.asType(ours.type().generic()); // The first point makes such a conversion, maybe on a nearly full stack.
            Class<?> point;
            boolean first;
            synchronized (ClassLoader.class) { // All copies of gmp4j share this lock: the copy that defines the class has the points.
                point = define(classFile);
                first = lookup.findStaticVarHandle(point, "linker", MethodHandle.class).compareAndSet((MethodHandle) null, ours);
            }
            if (first) {
                back = lookup.findStatic(point, BACK, type(BACK_TYPE));
                plain = lookup.findStatic(point, PLAIN, type(PLAIN_TYPE));
                unarmed = (MethodHandle) lookup.findStaticVarHandle(point, "UNARMED", MethodHandle.class).get();
                wanted = lookup.findStaticVarHandle(point, "wanted", int.class);
            } else {
                problem = ANOTHERS;
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            problem = "gmp4j cannot add preemption points in this JVM (%s): start java with -javaagent:gmp4j-runtime.jar"
                    .formatted(e);
        }
        ON_THE_WAY_BACK = unused(back);
        ANYWHERE = unused(plain);
        UNARMED = unused(unarmed);
        ARMED = MethodHandles.constant(Object.class, POINT);
        WANTED = wanted;
        PROBLEM = problem;
    }

    private JdkPoint() {
    }

    private static MethodType type(String descriptor) {
        return MethodType.fromMethodDescriptorString(descriptor, null);
    }

    /** Returns a call site for a point. Its type is {@code ()Z} for a point on the way back, else {@code ()V}. */
    static CallSite callSite(Site site, MethodType type) {
        MethodHandle method = type.returnType() == boolean.class ? ON_THE_WAY_BACK : ANYWHERE;
        return new ConstantCallSite(method.bindTo(site));
    }

    /** Returns the handle. It is null only if there is a {@link #PROBLEM}, and then it is not used. */
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

    private static Class<?> define(byte[] b) throws ReflectiveOperationException {
        String name = CLASS.replace('/', '.');
        try {
            return Class.forName(name, true, null); // Another copy of gmp4j has defined it.
        } catch (ClassNotFoundException e) {
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
