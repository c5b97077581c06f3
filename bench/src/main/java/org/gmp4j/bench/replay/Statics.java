// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The static fields of rewritten classes: each run begins with what the class initialisers left in them. */
public final class Statics {
    private static final List<Runnable> RESTORE = new ArrayList<>();
    private static int depth;

    private Statics() {
    }

    static boolean initialising() {
        return depth > 0;
    }

    static void restore() {
        for (Runnable r : RESTORE) {
            r.run();
        }
    }

    /** Called at the beginning of a class initialiser. */
    public static void begin() {
        World.enter();
        depth++;
    }

    /** Called at the end of a class initialiser. */
    public static void end(Class<?> c) {
        depth--;
        World.exit();
        if (depth == 0) {
            Memory.keep();
        }
        for (Field f : c.getDeclaredFields()) {
            if (Modifier.isStatic(f.getModifiers()) && !f.isSynthetic()) {
                keep(c, f);
            }
        }
    }

    private static void keep(Class<?> c, Field f) {
        try {
            VarHandle field = MethodHandles.privateLookupIn(c, MethodHandles.lookup()).unreflectVarHandle(f);
            Object value = field.get();
            if (!Modifier.isFinal(f.getModifiers())) {
                RESTORE.add(() -> field.set(value));
            } else if (value instanceof AtomicInteger a) {
                int v = a.get();
                RESTORE.add(() -> a.set(v));
            } else if (value instanceof AtomicLong a) {
                long v = a.get();
                RESTORE.add(() -> a.set(v));
            } else if (value instanceof AtomicBoolean a) {
                boolean v = a.get();
                RESTORE.add(() -> a.set(v));
            } else if (value instanceof Permits p) {
                RESTORE.add(p::reset);
            }
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
