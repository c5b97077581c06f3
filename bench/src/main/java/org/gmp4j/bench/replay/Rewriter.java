// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Loads the production classes a second time, rewritten ({@link Weaver}), and the programs that use them. The classes that the JVM has
 * loaded already stay as they are.
 */
final class Rewriter extends ClassLoader {
    private static final String CATALOG = Names.PROGRAMS + "Catalog";
    /** The field with the thread of a stack, by the class of the stack: each loader has its own. */
    private static final ClassValue<VarHandle> THREAD = new ClassValue<>() {
        @Override
        protected VarHandle computeValue(Class<?> type) {
            Class<?> c = type;
            while (!c.getName().equals(Names.STACK_CLASS)) {
                c = c.getSuperclass();
            }
            try {
                return MethodHandles.lookup().findVarHandle(c, "thread", Thread.class);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    };

    private final Names names = new Names();
    private final Path mutants;
    private final Map<String, String> handles = new HashMap<>();
    private final Volatiles volatiles = new Volatiles(name -> {
        try {
            return read(name);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    });
    private final ClassFile files = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(
            ClassHierarchyResolver.ofResourceParsing(Rewriter.class.getClassLoader())
                    .orElse(ClassHierarchyResolver.ofClassLoading(Rewriter.class.getClassLoader()))));

    /** Makes the loader. {@code mutants} is a directory of classes that come before all others; null for none. */
    private Rewriter(Path mutants) {
        super(Rewriter.class.getClassLoader());
        this.mutants = mutants;
    }

    /**
     * Loads the programs.
     *
     * @param mutants a directory of classes that come before all others; null for none
     * @throws IllegalStateException with one sentence if the rewriter knows a name that does not exist
     */
    static List<Program> load(Path mutants) {
        return load(mutants, CATALOG);
    }

    /** Loads the programs that a class of their package lists. */
    static List<Program> load(Path mutants, String catalog) {
        Rewriter loader = new Rewriter(mutants);
        loader.names.check(loader.getParent());
        try {
            return programs(loader.loadClass(catalog).getConstructor().newInstance());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static List<Program> programs(Object catalog) {
        return ((Supplier<List<Program>>) catalog).get();
    }

    /** Returns the thread of a stack. */
    static Thread threadOf(Object stack) {
        return (Thread) THREAD.get(stack.getClass()).get(stack);
    }

    static boolean isRewritten(String name) {
        return name.startsWith(Names.PROGRAMS)
                || name.startsWith(Names.REWRITTEN) && Names.AS_THEY_ARE.stream().noneMatch(name::startsWith);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> c = findLoadedClass(name);
            if (c == null) {
                c = isRewritten(name) ? define(name) : getParent().loadClass(name);
            }
            if (resolve) {
                resolveClass(c);
            }
            return c;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        byte[] b = rewritten(read(name));
        return defineClass(name, b, 0, b.length);
    }

    private byte[] read(String name) throws ClassNotFoundException {
        String file = name.replace('.', '/') + ".class";
        try {
            if (mutants != null && Files.exists(mutants.resolve(file))) {
                return Files.readAllBytes(mutants.resolve(file));
            }
            try (InputStream in = getParent().getResourceAsStream(file)) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                return in.readAllBytes();
            }
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private byte[] rewritten(byte[] original) {
        ClassModel read = files.parse(original);
        ClassModel c = files.parse(files.transformClass(read, new References(read, names)));
        c.methods().stream().filter(m -> m.methodName().equalsString("<clinit>")).forEach(m -> handles(c, m));
        ClassModel woven = files.parse(files.transformClass(c, new Weaver(c, names, handles, volatiles)));
        return files.transformClass(woven, new DigestWeaver(woven, names, volatiles));
    }

    /** Notes which fields the handles reach that an initialiser makes: the last text before the handle is stored. */
    private void handles(ClassModel c, MethodModel initialiser) {
        String type = c.thisClass().asInternalName();
        String text = "";
        for (CodeElement e : initialiser.code().orElseThrow()) {
            if (e instanceof ConstantInstruction k && k.constantValue() instanceof String s) {
                text = s;
            } else if (e instanceof FieldInstruction f && f.opcode() == Opcode.PUTSTATIC
                    && Names.isHandleType(f.typeSymbol().descriptorString())) {
                handles.put(type.substring(type.lastIndexOf('/') + 1) + "." + f.name().stringValue(), text);
            }
        }
    }
}
