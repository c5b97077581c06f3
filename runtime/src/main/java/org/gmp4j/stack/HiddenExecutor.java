// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.invoke.MethodHandles;
import java.util.concurrent.Executor;

import org.gmp4j.classfile.ClassFileWriter;

/**
 * Writes the concrete class of an executor to which the JDK submits virtual threads. The class is hidden, so that no agent sees it. Agents
 * that follow a request through every {@link Executor} rewrite {@code execute}, so that it wraps the task in another object. But the JDK
 * identifies a virtual thread by the identity of its task. For a parent {@code P} with a method {@code submitted} the class would look like
 * this in Java:
 *
 * <pre>
 * final class PHidden extends P {
 *     static { P.made = new PHidden(); }
 *
 *     PHidden() { }
 *     public void execute(Runnable task) { submitted(task); }
 *     // For each override:
 *     public R method(A a) { return does(a); }
 *     // For each maker:
 *     PHidden(A a, B b) { super(a, b); }
 *     P maker(A a, B b) { return new PHidden(a, b); }
 * }
 * </pre>
 *
 * <p>The parent's constructors, its field {@code made} and its makers are package-private.
 */
public final class HiddenExecutor {
    private static final int PUBLIC = 0x0001;
    private static final int STATIC = 0x0008;
    private static final String TASK = "(Ljava/lang/Runnable;)V";

    private final ClassFileWriter out;
    private final String parent;
    private final String name;

    /** Begins a subclass of {@code parent}, in its package, without makers and overrides. */
    public HiddenExecutor(Class<? extends Executor> parent) {
        this.parent = Code.name(parent);
        name = this.parent + "Hidden";
        out = new ClassFileWriter(name, this.parent);
        add(0, "<init>", "()V", 1, new Code(out).object(0).construct(this.parent).op(Code.RETURN));
        add(PUBLIC, "execute", TASK, 2, new Code(out).object(0).object(1).call(this.parent, "submitted", TASK).op(Code.RETURN));
        add(STATIC, "<clinit>", "()V", 0, new Code(out).make(name).construct(name)
                .putStatic(this.parent, "made", "L" + this.parent + ";").op(Code.RETURN));
    }

    /** Adds a constructor with these parameters, and an implementation of the parent's {@code method} that calls the constructor. */
    public HiddenExecutor maker(String method, Class<?>... parameters) {
        String constructor = Code.descriptor(parameters, void.class);
        String arguments = constructor.substring(0, constructor.length() - 1);
        int locals = Code.locals(constructor);
        add(0, "<init>", constructor, locals,
                new Code(out).object(0).arguments(constructor).construct(parent, constructor).op(Code.RETURN));
        add(0, method, arguments + "L" + parent + ";", locals,
                new Code(out).make(name).arguments(constructor).construct(name, constructor).op(Code.ARETURN));
        return this;
    }

    /** Adds a public method {@code method} that calls the parent's method {@code does}, which has the same parameters and result. */
    public HiddenExecutor override(String method, String does, Class<?> result, Class<?>... parameters) {
        String d = Code.descriptor(parameters, result);
        add(PUBLIC, method, d, Code.locals(d), new Code(out).object(0).arguments(d).call(parent, does, d).end(d));
        return this;
    }

    /** Defines the class, whose initialiser stores an object in the parent's {@code made}. {@code lookup} is in the parent's package. */
    public void define(MethodHandles.Lookup lookup) {
        try {
            MethodHandles.Lookup _ = lookup.defineHiddenClass(out.toBytes(), true);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private void add(int flags, String method, String descriptor, int locals, Code code) {
        out.addMethod(flags, method, descriptor, 2 + locals, locals, -1, code.bytes());
    }
}
