// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.lang.constant.ClassDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.util.IdentityHashMap;
import java.util.Map;

/** How {@link Digest} takes values: what a primitive is as a number, what a VarHandle reaches, and which objects hide their content. */
final class Values {
    private static final Map<VarHandle, Integer> NUMBERS = new IdentityHashMap<>();
    private static final Map<VarHandle, MethodHandle> GETTERS = new IdentityHashMap<>();
    /** The handles on the fields of the accessors that the programs' classes have made. */
    private static final Map<Object, VarHandle> HANDLES = new IdentityHashMap<>();
    private static final ClassValue<Boolean> HIDING = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> c) {
            String name = c.getName();
            return c.getClassLoader() == null && !c.isArray() && !c.isEnum() && !Thread.class.isAssignableFrom(c)
                    && (!name.startsWith("java.lang.") || name.startsWith("java.lang.ref.") || name.startsWith("java.lang.ThreadLocal")
                    || name.startsWith("java.lang.StringBu"))
                    && !name.startsWith("java.util.ImmutableCollections") && !name.startsWith("java.time.");
        }
    };

    /**
     * A value of a primitive type.
     *
     * @param bits the value, as writes of fields pass it
     */
    record Raw(long bits) {
    }

    private Values() {
    }

    /** Returns a boxed value of a primitive type as a {@link Raw}, and an object as it is. */
    static Object raw(Class<?> type, Object v) {
        if (!type.isPrimitive()) {
            return v;
        }
        return new Raw(switch (v) {
            case Boolean b -> b ? 1 : 0;
            case Character c -> c;
            case Float f -> Float.floatToRawIntBits(f);
            case Double d -> Double.doubleToRawLongBits(d);
            default -> ((Number) v).longValue();
        });
    }

    /** Returns whether an object's class is the JDK's, and its objects may change by calls that are not seen. */
    static boolean hides(Object o) {
        return HIDING.get(o.getClass());
    }

    /** Returns the number of a field. A class may have two fields of one name, as it hides one that it inherits. */
    static int number(String declaringType, String field) {
        return declaringType.hashCode() * 31 + field.hashCode();
    }

    /** Notes which field an accessor of fields of Java objects reaches. */
    static void note(Object accessor, MethodHandles.Lookup owner, Class<?> type, String field, Class<?> of) {
        try {
            HANDLES.put(accessor, owner.findVarHandle(type, field, of));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a VarHandle, or the handle on an accessor's field; null if {@code by} is neither. */
    static VarHandle handle(Object by) {
        return by instanceof VarHandle h ? h : HANDLES.get(by);
    }

    /** Returns the number of the handle's field, which is that of a write without the handle too. {@code o} has the field. */
    static int number(VarHandle h, Object o) {
        return NUMBERS.computeIfAbsent(h, v -> {
            VarHandle.VarHandleDesc field = v.describeConstable().orElseThrow();
            if (o instanceof Class<?> c && h.coordinateTypes().isEmpty()
                    && !c.describeConstable().orElseThrow().equals(field.bootstrapArgsList().getFirst())) {
                throw new IllegalStateException(c + " uses the handle of a static field of another class: " + field.constantName());
            }
            return number(((ClassDesc) field.bootstrapArgsList().getFirst()).descriptorString(), field.constantName());
        });
    }

    /** Returns the value of the handle's field. {@code o} is ignored if the field is static. */
    static Object get(VarHandle h, Object o) {
        boolean isStatic = h.coordinateTypes().isEmpty();
        MethodHandle getter = GETTERS.computeIfAbsent(h, v -> v.toMethodHandle(VarHandle.AccessMode.GET)
                .asType(isStatic ? MethodType.methodType(Object.class) : MethodType.methodType(Object.class, Object.class)));
        try {
            return raw(h.varType(), isStatic ? getter.invokeExact() : getter.invokeExact(o));
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }
}
