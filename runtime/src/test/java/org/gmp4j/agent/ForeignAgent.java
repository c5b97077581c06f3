// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.MethodModel;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * An agent beside ours that does what the widespread ones do: it adds a member to every class of ours, as those that measure coverage;
 * puts a task of its own around what an executor is given, as those that follow requests through executors; and, when it is told to,
 * calls itself in {@code VirtualThread.mount} and {@code unmount}, as those that keep a span for each thread.
 */
public final class ForeignAgent {
    private static final ClassDesc OBJECT = ConstantDescs.CD_Object;
    private static final ClassDesc RUNNABLE = ClassDesc.of("java.lang.Runnable");

    /** How many tasks were wrapped; how often threads were mounted; how often not in turns with being unmounted. */
    static final AtomicInteger WRAPPED = new AtomicInteger();
    static final AtomicInteger MOUNTS = new AtomicInteger();
    static final AtomicInteger WRONG = new AtomicInteger();
    private static final Map<Object, Boolean> MOUNTED = new ConcurrentHashMap<>();
    static Instrumentation instrumentation;

    private ForeignAgent() {
    }

    public static void premain(String args, Instrumentation i) {
        instrumentation = i;
        i.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> loaded, ProtectionDomain domain, byte[] b) {
                return name == null || !name.startsWith("org/gmp4j/") || name.startsWith("org/gmp4j/agent/Foreign") ? null : changed(b);
            }
        });
    }

    /** What is put around the task of every {@code execute}. */
    public static Runnable wrap(Runnable task) {
        WRAPPED.incrementAndGet();
        return new Wrapper("context", task);
    }

    record Wrapper(String context, Runnable task) implements Runnable {
        @Override
        public void run() {
            task.run();
        }
    }

    private static byte[] changed(byte[] b) {
        ClassTransform wraps = (c, e) -> {
            if (e instanceof MethodModel m && m.methodName().equalsString("execute") && m.code().isPresent()
                    && m.methodType().equalsString("(Ljava/lang/Runnable;)V")) {
                atStart(c, m, code -> code.aload(1).invokestatic(ClassDesc.of(ForeignAgent.class.getName()), "wrap",
                        MethodTypeDesc.of(RUNNABLE, RUNNABLE)).astore(1));
            } else {
                ClassBuilder _ = c.with(e);
            }
        };
        ClassTransform adds = ClassTransform.endHandler(c -> c.withMethodBody("$foreign", ConstantDescs.MTD_void,
                ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC | ClassFile.ACC_SYNTHETIC, CodeBuilder::return_));
        return ClassFile.of().transformClass(ClassFile.of().parse(b), wraps.andThen(adds));
    }

    private static void atStart(ClassBuilder c, MethodModel m, Consumer<CodeBuilder> what) {
        ClassBuilder _ = c.transformMethod(m, (method, e) -> {
            if (e instanceof CodeModel body) {
                method.withCode(code -> {
                    what.accept(code);
                    for (CodeElement x : body) {
                        CodeBuilder _ = code.with(x);
                    }
                });
            } else {
                method.with(e);
            }
        });
    }

    /** From here on it hears of each mount and unmount. */
    static void hookMounts() throws UnmodifiableClassException, ClassNotFoundException {
        System.getProperties().put("mount", (Consumer<Object>) vt -> {
            MOUNTS.incrementAndGet();
            if (MOUNTED.put(vt, true) != null) {
                WRONG.incrementAndGet();
            }
        });
        System.getProperties().put("unmount", (Consumer<Object>) MOUNTED::remove);
        ClassFileTransformer t = new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> loaded, ProtectionDomain domain, byte[] b) {
                return "java/lang/VirtualThread".equals(name) ? hooked(b) : null;
            }
        };
        instrumentation.addTransformer(t, true);
        instrumentation.retransformClasses(Class.forName("java.lang.VirtualThread"));
    }

    private static byte[] hooked(byte[] b) {
        return ClassFile.of().transformClass(ClassFile.of().parse(b), (ClassBuilder c, ClassElement e) -> {
            if (e instanceof MethodModel m && (m.methodName().equalsString("mount") || m.methodName().equalsString("unmount"))) {
                atStart(c, m, code -> code
                        .invokestatic(ClassDesc.of("java.lang.System"), "getProperties",
                                MethodTypeDesc.of(ClassDesc.of("java.util.Properties")))
                        .ldc(m.methodName().stringValue())
                        .invokevirtual(ClassDesc.of("java.util.Properties"), "get", MethodTypeDesc.of(OBJECT, OBJECT))
                        .checkcast(ClassDesc.of(Consumer.class.getName())).aload(0)
                        .invokeinterface(ClassDesc.of(Consumer.class.getName()), "accept",
                                MethodTypeDesc.of(ConstantDescs.CD_void, OBJECT)));
            } else {
                ClassBuilder _ = c.with(e);
            }
        });
    }
}
