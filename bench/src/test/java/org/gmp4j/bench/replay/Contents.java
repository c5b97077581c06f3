// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What a run's memory and objects contain, read from themselves: a walk over all fields from the program's case, the lanes, and what class
 * initialisers have made. An object is known by when the walk comes to it. {@link Digest} follows accesses instead.
 */
final class Contents {
    private static final ClassValue<Field[]> FIELDS = new ClassValue<>() {
        @Override
        protected Field[] computeValue(Class<?> type) {
            List<Field> all = new ArrayList<>();
            for (Class<?> c = type; c != null && c.getClassLoader() instanceof Rewriter; c = c.getSuperclass()) {
                for (Field f : c.getDeclaredFields()) {
                    if (!Modifier.isStatic(f.getModifiers())) {
                        all.add(f); // With what a lambda has captured.
                    }
                }
            }
            Field[] fields = all.toArray(Field[]::new);
            AccessibleObject.setAccessible(fields, true);
            return fields;
        }
    };

    private final Map<Object, Integer> seen = new IdentityHashMap<>();
    private final List<Object> left = new ArrayList<>();
    private long sum = 1;

    private Contents() {
    }

    /** Returns the number of the contents. */
    static long of(Run run) {
        Contents c = new Contents();
        c.add(Memory.content());
        c.value(run.its);
        for (int i = 0; i < run.count; i++) {
            Lane l = run.lanes[i];
            c.add(l.name.hashCode());
            c.add(l.state.ordinal() + (l.interrupted ? 4 : 0));
            c.value(l.thread);
            c.value(l.mounted);
            c.value(l.told);
        }
        Statics.values().forEach(c::value);
        for (int i = 0; i < c.left.size(); i++) {
            c.walk(c.left.get(i));
        }
        return c.sum;
    }

    private void add(long v) {
        sum = sum * 31 + v;
        sum ^= sum >>> 29;
    }

    private void value(Object o) {
        switch (o) {
            case null -> add(0);
            case String s -> add(s.hashCode());
            case Number n when o.getClass().getPackageName().equals("java.lang") -> add(n.hashCode());
            case Boolean b -> add(b ? 1 : 2);
            case Character c -> add(c);
            case Class<?> c -> add(c.getName().hashCode());
            case Enum<?> e -> add(e.ordinal() + 3);
            default -> {
                Integer known = seen.putIfAbsent(o, seen.size());
                add(known == null ? -1 : known);
                if (known == null) {
                    left.add(o);
                }
            }
        }
    }

    private void walk(Object o) {
        add(o.getClass().getName().hashCode());
        switch (o) {
            case AtomicInteger a -> add(a.get());
            case AtomicLong a -> add(a.get());
            case AtomicBoolean a -> add(a.get() ? 1 : 2);
            case AtomicReference<?> a -> value(a.get());
            case StringBuilder s -> add(s.toString().hashCode());
            case Case c -> {
                value(c.done);
                fields(c);
            }
            case StackThread t -> add(t.words() * 2 + (t.isDone() ? 1 : 0));
            case Set<?> s -> add(s.size());
            case Map<?, ?> m -> add(m.size());
            case Collection<?> c -> c.forEach(this::value);
            default -> fields(o);
        }
    }

    private void fields(Object o) {
        for (int i = 0; o.getClass().isArray() && i < Array.getLength(o); i++) {
            value(Array.get(o, i));
        }
        for (Field f : FIELDS.get(o.getClass())) {
            try {
                value(f.get(o));
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
