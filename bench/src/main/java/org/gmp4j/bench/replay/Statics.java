// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** The static fields of rewritten classes: each run begins with what the class initialisers left in them. */
public final class Statics {
    private static final List<Kept> FIELDS = new ArrayList<>();
    private static final List<Runnable> OBJECTS = new ArrayList<>();
    /** The objects whose fields are kept, and in the order in which they came. */
    private static final Set<Object> SEEN = Collections.newSetFromMap(new IdentityHashMap<>());
    private static final List<Object> KEPT = new ArrayList<>();
    private static int depth;

    /** A static field that is not final. */
    private static final class Kept {
        final Class<?> type;
        final String name;
        final VarHandle field;
        Object value;
        /** The value at the beginning of the initialiser that runs. */
        Object before;

        Kept(Class<?> type, String name, VarHandle field) {
            this.type = type;
            this.name = name;
            this.field = field;
            begins(field.get());
            before = value;
        }

        /** Has each run begin with a value. */
        void begins(Object with) {
            value = with;
            Digest.begins(type, Values.number(type.descriptorString(), name), Values.raw(field.varType(), with));
        }
    }

    private Statics() {
    }

    static boolean initialising() {
        return depth > 0;
    }

    /** Returns the values of the static fields that are not final, and the objects whose fields are kept. */
    static List<Object> values() {
        List<Object> all = new ArrayList<>(KEPT);
        FIELDS.forEach(k -> all.add(k.field.get()));
        return all;
    }

    static void restore() {
        depth = 0; // An initialiser may have failed.
        for (Kept k : FIELDS) {
            k.field.set(k.value);
        }
        for (Runnable r : OBJECTS) {
            r.run();
        }
    }

    /** Called at the beginning of a class initialiser. */
    public static void begin() {
        World.enter();
        if (depth++ == 0) {
            for (Kept k : FIELDS) {
                k.before = k.field.get();
            }
        }
    }

    /** Called at the end of a class initialiser. */
    public static void end(Class<?> c) {
        World.exit();
        for (Field f : c.getDeclaredFields()) {
            if (Modifier.isStatic(f.getModifiers()) && !f.isSynthetic()) {
                keep(c, f);
            }
        }
        if (--depth == 0) {
            for (Kept k : FIELDS) { // An initialiser may have set a field of another class.
                Object now = k.field.get();
                if (now == null ? k.before != null : !now.equals(k.before)) {
                    k.begins(now);
                }
            }
            Memory.keep();
        }
    }

    /** Keeps what a static field leads to, such as a lock: a run may end while it is held. */
    private static void keep(Object o) throws IllegalAccessException {
        if (o == null || o instanceof Class<?>) {
            return;
        }
        Digest.outlasts(o);
        if (!SEEN.add(o)) {
            return;
        }
        KEPT.add(o);
        switch (o) {
            case AtomicInteger a -> content(a, a.get(), a::set);
            case AtomicLong a -> content(a, a.get(), a::set);
            case AtomicBoolean a -> content(a, a.get(), a::set);
            case AtomicReference<?> a -> reference(a);
            case Permits p -> OBJECTS.add(p::reset);
            case LaneLock l -> OBJECTS.add(l::reset);
            default -> {
                if (o.getClass().isArray()) {
                    elements(o);
                }
                fields(o);
            }
        }
    }

    private static <T> void content(Object atomic, T value, Consumer<T> set) {
        Digest.begins(atomic, 0, Values.raw(value instanceof Boolean ? boolean.class : long.class, value));
        OBJECTS.add(() -> set.accept(value));
    }

    private static <T> void reference(AtomicReference<T> a) throws IllegalAccessException {
        T value = a.get();
        Digest.begins(a, 0, value);
        OBJECTS.add(() -> a.set(value));
        keep(value);
    }

    private static void elements(Object array) throws IllegalAccessException {
        int n = Array.getLength(array);
        Class<?> type = array.getClass().getComponentType();
        Object values = Array.newInstance(type, n);
        System.arraycopy(array, 0, values, 0, n);
        OBJECTS.add(() -> System.arraycopy(values, 0, array, 0, n));
        for (int i = 0; i < n; i++) {
            Digest.begins(array, i, Values.raw(type, Array.get(array, i)));
            if (!type.isPrimitive()) {
                keep(Array.get(array, i));
            }
        }
    }

    private static void fields(Object o) throws IllegalAccessException {
        for (Class<?> c = o.getClass(); c.getClassLoader() instanceof Rewriter; c = c.getSuperclass()) {
            for (Field f : c.getDeclaredFields()) {
                if (!Modifier.isStatic(f.getModifiers()) && !f.isSynthetic()) {
                    VarHandle field = MethodHandles.privateLookupIn(c, MethodHandles.lookup()).unreflectVarHandle(f);
                    Object v = field.get(o);
                    if (!Modifier.isFinal(f.getModifiers())) {
                        Digest.begins(o, Values.number(c.descriptorString(), f.getName()), Values.raw(f.getType(), v));
                        OBJECTS.add(() -> field.set(o, v));
                    }
                    keep(v);
                }
            }
        }
    }

    private static void keep(Class<?> c, Field f) {
        try {
            VarHandle field = MethodHandles.privateLookupIn(c, MethodHandles.lookup()).unreflectVarHandle(f);
            if (!Modifier.isFinal(f.getModifiers())) {
                FIELDS.add(new Kept(c, f.getName(), field));
            }
            if (!f.getType().isPrimitive()) {
                keep(field.get());
            }
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
