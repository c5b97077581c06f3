// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;

import org.gmp4j.classfile.ClassFileWriter;
import org.jspecify.annotations.Nullable;

/**
 * Collects the bytecode of one method, for a class that {@link JdkMembers} or {@link HiddenExecutor} generates. An instruction may use a
 * member of another class. If the caller gives that class as a {@link Class}, the member must exist: if it is missing, a {@link
 * ReflectiveOperationException} names it. If the caller gives the class's name as a string, nothing is checked.
 */
final class Code {
    static final int ACONST_NULL = 1;
    static final int ICONST_0 = 3;
    static final int ICONST_1 = 4;
    static final int ISUB = 100;
    static final int ARRAYLENGTH = 190;
    static final int BIPUSH = 16;
    static final int ARETURN = 176;
    static final int RETURN = 177;
    private static final int LDC_W = 19;
    private static final int ILOAD = 21;
    private static final int LLOAD = 22;
    private static final int ALOAD = 25;
    private static final int DUP = 89;
    private static final int IRETURN = 172;
    private static final int LRETURN = 173;
    private static final int GETSTATIC = 178;
    private static final int PUTSTATIC = 179;
    private static final int GETFIELD = 180;
    private static final int PUTFIELD = 181;
    private static final int INVOKEVIRTUAL = 182;
    private static final int INVOKESPECIAL = 183;
    private static final int INVOKESTATIC = 184;
    private static final int INVOKEINTERFACE = 185;
    private static final int NEW = 187;
    private static final int CHECKCAST = 192;

    private final ClassFileWriter c;
    private int[] bytes = new int[64];
    private int size;

    Code(ClassFileWriter c) {
        this.c = c;
    }

    static String name(Class<?> type) {
        return type.getName().replace('.', '/');
    }

    int[] bytes() {
        return Arrays.copyOf(bytes, size);
    }

    Code op(int opcode) {
        if (size == bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * size);
        }
        bytes[size++] = opcode;
        return this;
    }

    private Code op(int opcode, int constant) {
        return op(opcode).op(constant >> 8).op(constant & 0xFF);
    }

    /** Loads a local variable that is a reference. */
    Code object(int local) {
        return op(ALOAD).op(local);
    }

    /** Loads a local variable of type int or boolean. */
    Code number(int local) {
        return op(ILOAD).op(local);
    }

    /** Loads a local variable of type long. */
    Code big(int local) {
        return op(LLOAD).op(local);
    }

    /** Returns the number of local variable slots that an instance method with this descriptor needs for {@code this} and its arguments. */
    static int locals(String descriptor) {
        return arguments(descriptor, null);
    }

    /** Loads the arguments of an instance method with this descriptor. They are the local variables from 1 on. */
    Code arguments(String descriptor) {
        int _ = arguments(descriptor, this);
        return this;
    }

    private static int arguments(String descriptor, @Nullable Code to) {
        int local = 1;
        for (int i = 1; descriptor.charAt(i) != ')'; i++) {
            char t = descriptor.charAt(i);
            if (to != null) {
                Code _ = switch (t) {
                    case 'I', 'Z' -> to.number(local);
                    case 'J' -> to.big(local);
                    default -> to.object(local);
                };
            }
            local += t == 'J' ? 2 : 1;
            while (t == '[') {
                t = descriptor.charAt(++i);
            }
            if (t == 'L') {
                i = descriptor.indexOf(';', i);
            }
        }
        return local;
    }

    /** Adds the return instruction for the result type of this descriptor. */
    Code end(String descriptor) {
        return op(switch (descriptor.charAt(descriptor.indexOf(')') + 1)) {
            case 'V' -> RETURN;
            case 'I', 'Z' -> IRETURN;
            case 'J' -> LRETURN;
            default -> ARETURN;
        });
    }

    Code cast(Class<?> type) {
        return op(CHECKCAST, c.type(name(type)));
    }

    Code type(Class<?> type) {
        return op(LDC_W, c.type(name(type)));
    }

    Code text(String ascii) {
        return op(LDC_W, c.string(ascii));
    }

    Code make(String type) {
        return op(NEW, c.type(type)).op(DUP);
    }

    Code construct(String owner) {
        return construct(owner, "()V");
    }

    Code construct(String owner, String descriptor) {
        return op(INVOKESPECIAL, c.method(owner, "<init>", descriptor));
    }

    Code construct(Class<?> owner, Class<?>... parameters) throws ReflectiveOperationException {
        Constructor<?> _ = owner.getDeclaredConstructor(parameters);
        return op(INVOKESPECIAL, c.method(name(owner), "<init>", descriptor(parameters, void.class)));
    }

    Code get(Class<?> owner, String field) throws ReflectiveOperationException {
        return op(GETFIELD, field(owner, field));
    }

    Code put(Class<?> owner, String field) throws ReflectiveOperationException {
        return op(PUTFIELD, field(owner, field));
    }

    Code getStatic(Class<?> owner, String field) throws ReflectiveOperationException {
        return op(GETSTATIC, field(owner, field));
    }

    Code getStatic(String owner, String field, String type) {
        return op(GETSTATIC, c.field(owner, field, type));
    }

    Code putStatic(String owner, String field, String type) {
        return op(PUTSTATIC, c.field(owner, field, type));
    }

    private int field(Class<?> owner, String name) throws ReflectiveOperationException {
        Field f = owner.getDeclaredField(name);
        return c.field(name(owner), name, f.getType().descriptorString());
    }

    Code call(Class<?> owner, String name, Class<?>... parameters) throws ReflectiveOperationException {
        Method m = owner.getDeclaredMethod(name, parameters);
        return op(INVOKEVIRTUAL, c.method(name(owner), name, descriptor(parameters, m.getReturnType())));
    }

    Code callStatic(Class<?> owner, String name, Class<?>... parameters) throws ReflectiveOperationException {
        Method m = owner.getDeclaredMethod(name, parameters);
        return op(INVOKESTATIC, c.method(name(owner), name, descriptor(parameters, m.getReturnType())));
    }

    Code call(String owner, String name, String descriptor) {
        return op(INVOKEVIRTUAL, c.method(owner, name, descriptor));
    }

    /** Calls a method of an interface. {@code words} is the number of stack slots of its receiver and arguments. */
    Code callInterface(String owner, String name, String descriptor, int words) {
        return op(INVOKEINTERFACE, c.interfaceMethod(owner, name, descriptor)).op(words).op(0);
    }

    static String descriptor(Class<?>[] parameters, Class<?> result) {
        StringBuilder d = new StringBuilder("(");
        for (Class<?> p : parameters) {
            d.append(p.descriptorString());
        }
        return d.append(')').append(result.descriptorString()).toString();
    }
}
