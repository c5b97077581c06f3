// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
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

/** The static fields of rewritten classes: each run begins with what the class initialisers left in them. */
public final class Statics {
    private static final List<Kept> FIELDS = new ArrayList<>();
    private static final List<Runnable> OBJECTS = new ArrayList<>();
    /** The objects whose fields are kept. */
    private static final Set<Object> SEEN = Collections.newSetFromMap(new IdentityHashMap<>());
    private static int depth;

    /** A static field that is not final. */
    private static final class Kept {
        final VarHandle field;
        Object value;
        /** The value at the beginning of the initialiser that runs. */
        Object before;

        Kept(VarHandle field) {
            this.field = field;
            value = field.get();
            before = value;
        }
    }

    private Statics() {
    }

    static boolean initialising() {
        return depth > 0;
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
                    k.value = now;
                }
            }
            Memory.keep();
        }
    }

    /** Keeps the fields of an object that a static field leads to, such as a lock: a run may end while it is held. */
    private static void keepFields(Object o) throws IllegalAccessException {
        if (o == null || !(o.getClass().getClassLoader() instanceof Rewriter) || !SEEN.add(o)) {
            return;
        }
        Digest.outlasts(o);
        for (Class<?> c = o.getClass(); c.getClassLoader() instanceof Rewriter; c = c.getSuperclass()) {
            for (Field f : c.getDeclaredFields()) {
                if (!Modifier.isStatic(f.getModifiers()) && !f.isSynthetic()) {
                    VarHandle field = MethodHandles.privateLookupIn(c, MethodHandles.lookup()).unreflectVarHandle(f);
                    Object v = field.get(o);
                    if (!Modifier.isFinal(f.getModifiers())) {
                        OBJECTS.add(() -> field.set(o, v));
                    }
                    keepFields(v);
                }
            }
        }
    }

    private static void keep(Class<?> c, Field f) {
        try {
            VarHandle field = MethodHandles.privateLookupIn(c, MethodHandles.lookup()).unreflectVarHandle(f);
            if (!Modifier.isFinal(f.getModifiers())) {
                FIELDS.add(new Kept(field));
                return;
            }
            Object value = field.get();
            Digest.outlasts(value);
            if (value instanceof AtomicInteger a) {
                int v = a.get();
                OBJECTS.add(() -> a.set(v));
            } else if (value instanceof AtomicLong a) {
                long v = a.get();
                OBJECTS.add(() -> a.set(v));
            } else if (value instanceof AtomicBoolean a) {
                boolean v = a.get();
                OBJECTS.add(() -> a.set(v));
            } else if (value instanceof Permits p) {
                OBJECTS.add(p::reset);
            } else {
                keepFields(value);
            }
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
