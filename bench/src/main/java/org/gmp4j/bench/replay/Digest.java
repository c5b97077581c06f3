// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.struct.HeapInt;
import org.gmp4j.struct.HeapLong;
import org.gmp4j.struct.HeapRef;

/**
 * The state of a run as a number, by which an exhaustive search knows a state again: what follows from it has been run.
 *
 * <p>The state is the content of all words and fields that were written, and the frames of all lanes and stacks. Frames cannot be read, but
 * what they hold follows from what their code has read, so a lane and a stack have a number of all values that they have read in turn
 * ({@link Lane#history}). An object is known by what its creator had read before. The content of arrays and atomics is read again after a
 * call of the JDK that gets them. Other objects of the JDK, such as lists, hide their content: they count as read and written at each call,
 * and the more of them two lanes share, the fewer states are known again. What class initialisers have left is where each run begins.
 *
 * <p>Two states with the same 64 bits are taken for one. The chance that two different ones of ten million states share a number is one
 * in 400,000.
 */
public final class Digest {
    /** That of the run under way; null if states are not compared. */
    static Digest now;

    private static final long SETUP = 0x5EED;
    private static final int NEW = 0x2E3;
    private static final int RETURNED = 0x2E7;
    private static final int TYPE = 0x2E9;
    /** The fields that stand for the content of an object of the JDK, and for the number of an object in the run. */
    private static final long CONTENT = 1L << 40;
    private static final long NUMBER = 2L << 40;
    private static final Map<Object, Integer> LASTING = new IdentityHashMap<>();
    /** What class initialisers have left in the fields of lasting objects and of classes, by the fields' numbers. */
    private static final Map<Object, Map<Long, Object>> FIRST = new IdentityHashMap<>();

    /** An object that rewritten code has used. */
    private static final class Known {
        final long id;
        /** For each field, by a number of its name, what it adds to {@link #heap}. */
        final Map<Long, Long> fields = new HashMap<>();

        Known(long id) {
            this.id = id;
        }
    }

    private final Run run;
    private final Map<Object, Known> objects = new IdentityHashMap<>();
    private final Set<Long> ids = new HashSet<>();
    private final List<StackThread> stacks = new ArrayList<>();
    /** The sum of the contents of all off-heap words. A word that is 0 adds nothing. */
    private long memory;
    /** The sum of the contents of all fields. */
    private long heap;
    /** The history of the code that sets up and checks. */
    private long setup = SETUP;

    Digest(Run run) {
        this.run = run;
    }

    /** Returns whether what the caller does is noted. A class initialiser runs once for all runs, so it belongs to none. */
    private static boolean isOn() {
        return now != null && !Statics.initialising();
    }

    static long mix(long a, long b) {
        long z = (a ^ Long.rotateLeft(b * 0x9E3779B97F4A7C15L, 31)) * 0xBF58476D1CE4E5B9L; // SplitMix64.
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    // Histories

    private void absorb(long v) {
        history(mix(history(), v));
    }

    private void history(long h) {
        Lane l = run.lane;
        if (l == null) {
            setup = h;
        } else if (l.mounted != null) {
            l.mounted.history = h;
        } else {
            l.history = h;
        }
    }

    private long history() {
        Lane l = run.lane;
        return l == null ? setup : l.mounted != null ? l.mounted.history : l.history;
    }

    /** Notes a value that the lane's code has got. */
    static void reads(long v) {
        if (isOn()) {
            now.absorb(v);
        }
    }

    /** Notes an object that the lane's code has got. */
    static void reads(Object o) {
        if (isOn()) {
            now.absorb(now.valueOf(o));
        }
    }

    /** Called as a method begins. Returns what it has to pass to {@link #leave}. */
    public static long enter(int method) {
        if (!isOn()) {
            return 0;
        }
        long before = now.history();
        now.absorb(method);
        return before;
    }

    /** Called as a method ends: of what it has read, its result is left. */
    public static void leave(long before) {
        leave(RETURNED, before);
    }

    /** Called as a method ends. */
    public static void leave(int result, long before) {
        leave((long) result, before);
    }

    /** Called as a method ends. */
    public static void leave(float result, long before) {
        leave(Float.floatToRawIntBits(result), before);
    }

    /** Called as a method ends. */
    public static void leave(double result, long before) {
        leave(Double.doubleToRawLongBits(result), before);
    }

    /** Called as a method ends. */
    public static void leave(Object result, long before) {
        if (isOn()) {
            leave(now.valueOf(result), before);
        }
    }

    /** Called as a method ends. */
    public static void leave(long result, long before) {
        if (isOn()) {
            now.history(mix(before + RETURNED, result));
        }
    }

    /** Notes that the frames of the lane hold nothing but what it began with, and what memory says of it. */
    public static void forget() {
        if (isOn() && now.run.lane != null && now.run.lane.mounted == null) {
            now.run.lane.history = now.run.lane.first;
        }
    }

    // Objects

    private Known known(Object o) {
        Known k = objects.get(o);
        if (k == null) {
            Integer lasting = LASTING.get(o);
            long id = lasting != null ? mix(NEW, lasting) : o instanceof Class<?> c ? mix(TYPE, c.getName().hashCode())
                    : mix(history(), o.getClass().getName().hashCode());
            while (!ids.add(id)) {
                id++;
            }
            k = new Known(id);
            objects.put(o, k);
            for (Map.Entry<Long, Object> f : FIRST.getOrDefault(o, Map.of()).entrySet()) {
                k.fields.put(f.getKey(), adds(k, f.getKey(), valueOf(f.getValue()))); // Each run begins with it: it is no part of heap.
            }
        }
        return k;
    }

    /** Notes what a lane begins with. */
    void begins(Lane l, Runnable body) {
        l.first = mix(id(l.thread), id(body));
        l.history = l.first;
    }

    /** Returns the number of an object that the lane that runs uses. */
    long id(Object o) {
        return known(o).id;
    }

    private long valueOf(Object o) {
        return switch (o) {
            case null -> 0;
            case String s -> mix(mix(1, s.length()), s.hashCode());
            case Long l -> mix(2, l);
            case Integer i -> mix(3, i);
            case Boolean b -> mix(4, b ? 1 : 0);
            case Class<?> c -> c.getName().hashCode();
            case Enum<?> e -> mix(e.ordinal(), e.getDeclaringClass().getName().hashCode());
            case Values.Raw r -> r.bits();
            default -> known(o).id;
        };
    }

    private void set(Object o, long field, long value) {
        Known k = known(o);
        long adds = adds(k, field, value);
        Long before = adds == 0 ? k.fields.remove(field) : k.fields.put(field, adds);
        heap += adds - (before == null ? 0 : before);
    }

    private static long adds(Known k, long field, long value) {
        return value == 0 ? 0 : mix(mix(k.id, field), value);
    }

    /** Has an object of the JDK that hides its content follow from what the caller has read, and the caller's frames from it. */
    private void use(Object o) {
        Long content = known(o).fields.get(CONTENT);
        absorb(content == null ? 0 : content);
        set(o, CONTENT, history());
    }

    /** Notes the content of an atomic or of an array as it is. Returns false if the object is neither. */
    private boolean see(Object o) {
        switch (o) {
            case AtomicInteger a -> set(a, 0, a.get());
            case AtomicLong a -> set(a, 0, a.get());
            case AtomicBoolean a -> set(a, 0, a.get() ? 1 : 0);
            case AtomicReference<?> a -> set(a, 0, valueOf(a.get()));
            default -> {
                Class<?> element = o.getClass().getComponentType();
                for (int i = 0; element != null && i < Array.getLength(o); i++) {
                    set(o, i, valueOf(Values.raw(element, Array.get(o, i))));
                }
                return element != null;
            }
        }
        return true;
    }

    // What rewritten code calls

    /** An object of a class initialiser, which runs share: it is known by its number among them. */
    static void outlasts(Object o) {
        if (o != null) {
            LASTING.putIfAbsent(o, LASTING.size());
        }
    }

    /** Notes what a class initialiser has left in a field of a lasting object, or in a static field of a class. */
    static void begins(Object o, long field, Object value) {
        Object _ = FIRST.computeIfAbsent(o, _ -> new HashMap<>()).put(field, value);
    }

    /** A new object: it is known by what its maker has read, not by what the first of its users has. */
    public static void made(Object o) {
        if (isOn()) {
            Known _ = now.known(o);
            if (o instanceof Object[] parts && o.getClass().getComponentType().isArray()) {
                for (Object part : parts) {
                    if (part != null) {
                        made(part);
                    }
                }
                boolean _ = now.see(o);
            } else if (!o.getClass().isArray()) {
                boolean _ = now.see(o); // An atomic may begin with another value than 0.
            }
        }
    }

    /** Returns whether an object has a number. */
    public static boolean isKnown(Object o) {
        return isOn() && now.objects.containsKey(o);
    }

    /** A lambda that captures nothing: one object for all runs. */
    public static void constant(Object o) {
        outlasts(o);
    }

    /** The value of a field or an element. */
    public static void got(int v) {
        reads(v);
    }

    /** The value of a field or an element. */
    public static void got(long v) {
        reads(v);
    }

    /** The value of a field or an element. */
    public static void got(float v) {
        reads(Float.floatToRawIntBits(v));
    }

    /** The value of a field or an element. */
    public static void got(double v) {
        reads(Double.doubleToRawLongBits(v));
    }

    /** The value of a field or an element. */
    public static void got(Object v) {
        reads(v);
    }

    /** A write of a field, or of an element. */
    public static void put(Object o, int field, int v) {
        if (isOn()) {
            now.set(o, field, v);
        }
    }

    /** A write of a field, or of an element. */
    public static void put(Object o, int field, long v) {
        if (isOn()) {
            now.set(o, field, v);
        }
    }

    /** A write of a field, or of an element. */
    public static void put(Object o, int field, float v) {
        put(o, field, Float.floatToRawIntBits(v));
    }

    /** A write of a field, or of an element. */
    public static void put(Object o, int field, double v) {
        put(o, field, Double.doubleToRawLongBits(v));
    }

    /** A write of a field, or of an element. */
    public static void put(Object o, int field, Object v) {
        if (isOn()) {
            now.set(o, field, now.valueOf(v));
        }
    }

    /** Called before a call of the JDK, with each object that it gets: it may read it, and change it. */
    public static void before(Object o) {
        if (!isOn() || o == null) {
            return;
        }
        Class<?> element = o.getClass().getComponentType();
        for (int i = 0; element != null && i < Array.getLength(o); i++) {
            now.absorb(now.valueOf(Values.raw(element, Array.get(o, i))));
        }
        if (element == null && !now.see(o) && Values.hides(o)) {
            now.use(o);
        }
    }

    /** Called after a call of the JDK, with each object that it got: what it called may have read more. */
    public static void after(Object o) {
        if (isOn() && o != null && !now.see(o) && Values.hides(o)) {
            now.set(o, CONTENT, now.history());
        }
    }

    /** Called with what a call of the JDK has returned: an array may be new, and filled. */
    public static void returned(Object o) {
        if (isOn() && o != null) {
            boolean _ = now.see(o);
        }
    }

    /** Makes an accessor, whose field is noted. */
    public static <T> HeapInt<T> heapInt(MethodHandles.Lookup owner, Class<T> type, String field) {
        HeapInt<T> made = HeapInt.of(owner, type, field);
        Values.note(made, owner, type, field, int.class);
        return made;
    }

    /** Makes an accessor, whose field is noted. */
    public static <T> HeapLong<T> heapLong(MethodHandles.Lookup owner, Class<T> type, String field) {
        HeapLong<T> made = HeapLong.of(owner, type, field);
        Values.note(made, owner, type, field, long.class);
        return made;
    }

    /** Makes an accessor, whose field is noted. */
    public static <T, V> HeapRef<T, V> heapRef(MethodHandles.Lookup owner, Class<T> type, String field, Class<V> of) {
        HeapRef<T, V> made = HeapRef.of(owner, type, field, of);
        Values.note(made, owner, type, field, of);
        return made;
    }

    /** An access that may have written an atomic's value, or a field or an element of {@code o}, by a handle or by itself. */
    public static void changed(Object by, Object o) {
        if (!isOn()) {
            return;
        }
        VarHandle h = Values.handle(by);
        if (h != null && h.coordinateTypes().size() <= 1) {
            now.set(o, Values.number(h, o), now.valueOf(Values.get(h, o)));
        } else if (!now.see(o)) {
            now.use(o);
        }
    }

    // Off-heap words

    /** Fails the run, as it uses what the number of its state does not contain. */
    static void unseen(String what) {
        if (isOn()) {
            throw new IllegalStateException("an exhaustive search does not see the state of " + what);
        }
    }

    /** Notes that a word changes. */
    static void word(long address, long before, long after) {
        if (isOn()) {
            now.memory += content(address, after) - content(address, before);
        }
    }

    private static long content(long address, long v) {
        return v == 0 ? 0 : mix(address, v);
    }

    // The JDK's threads

    /** Notes a new stack. */
    static void add(StackThread t) {
        if (isOn()) {
            t.id = now.id(t);
            t.history = t.id; // Two stacks with one body are not one.
            now.stacks.add(t);
        }
    }

    /** Notes that the lane's code reads the state of a stack. */
    static void reads(StackThread t) {
        if (isOn()) {
            now.absorb(t.words());
        }
    }

    /** Notes that the lane's code reads the number that an object has in the run. */
    static void numbered(Object o, int n) {
        if (isOn()) {
            now.set(o, NUMBER, n);
            now.absorb(n);
        }
    }

    /** Returns the number of the state. */
    long state() {
        long sum = memory + mix(heap, Memory.used()) + mix(World.numbers(), run.waits());
        for (int i = 0; i < run.count; i++) {
            sum += mix(i, run.lanes[i].state(run));
        }
        for (int i = 0; i < stacks.size(); i++) {
            sum += stacks.get(i).digest(this);
        }
        return mix(mix(sum, run.now), mix(run.early, mix(run.spurious + ((long) run.failedStarts << 32), run.count)));
    }
}
