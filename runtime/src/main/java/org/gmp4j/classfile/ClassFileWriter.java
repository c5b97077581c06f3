// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.classfile;

/**
 * Writes the few small classes that the runtime defines inside the JDK's packages, byte by byte. Loading the JDK's class-file library
 * would add too much to the time of every start.
 */
public final class ClassFileWriter {
    private static final int VERSION = 69; // Java 25
    private static final int CLASS_FLAGS = 0x1031; // public final super synthetic
    private static final int ABSTRACT_FLAGS = 0x1421; // public abstract super synthetic
    private static final int ABSTRACT_METHOD = 0x0401; // public abstract
    private static final int CONSTANT_FLAGS = 0x0019; // public static final
    private static final int FIELD_FLAGS = 0x0049; // public static volatile
    private static final int FINAL_FLAGS = 0x0012; // private final

    private static final int[] NO_JUMPS = {};

    private final Constants constants = new Constants(1);
    private final Bytes fields = new Bytes(64);
    private final Bytes methods = new Bytes(1024);
    private final int flags;
    private final String name;
    private final int self;
    private final int parent;
    private int fieldCount;
    private int methodCount;

    /** Begins a public final class without a constructor. {@code name} has slashes. */
    public ClassFileWriter(String name) {
        this(name, "java/lang/Object");
    }

    /** Begins a public final class without a constructor. Both names have slashes. */
    public ClassFileWriter(String name, String superclass) {
        this(name, superclass, CLASS_FLAGS);
    }

    private ClassFileWriter(String name, String superclass, int flags) {
        this.flags = flags;
        this.name = name;
        self = constants.type(name);
        parent = constants.type(superclass);
    }

    /** Begins a public abstract class without a constructor. {@code name} has slashes. */
    public static ClassFileWriter ofAbstract(String name) {
        return new ClassFileWriter(name, "java/lang/Object", ABSTRACT_FLAGS);
    }

    /** Adds a {@code public static final} field. Returns the index of its constant. */
    public int addConstant(String name, String type) {
        return addField(CONSTANT_FLAGS, name, type);
    }

    /** Adds a {@code public static volatile} field. Returns the index of its constant. */
    public int addField(String name, String type) {
        return addField(FIELD_FLAGS, name, type);
    }

    /** Adds a {@code private final} instance field. Returns the index of its constant. */
    public int addFinal(String name, String type) {
        return addField(FINAL_FLAGS, name, type);
    }

    private int addField(int flags, String name, String type) {
        fields.u2(flags);
        fields.u2(constants.utf8(name));
        fields.u2(constants.utf8(type));
        fields.u2(0);
        fieldCount++;
        return constants.field(self, name, type);
    }

    /** Returns the index of the constant of a field of another class. */
    public int field(String owner, String name, String type) {
        return constants.field(type(owner), name, type);
    }

    /** Returns the index of the constant of a method of this class. */
    public int ownMethod(String name, String type) {
        return constants.method(self, name, type);
    }

    /** Returns the index of the constant of a method of another class. */
    public int method(String owner, String name, String type) {
        return constants.method(type(owner), name, type);
    }

    /** Returns the index of the constant of an interface's method. */
    public int interfaceMethod(String owner, String name, String type) {
        return constants.interfaceMethod(type(owner), name, type);
    }

    /** Returns the index of the constant of a string. */
    public int string(String ascii) {
        return constants.string(constants.utf8(ascii));
    }

    /**
     * Returns the index of the constant of a class. For the class that is being written it is the {@code this_class} constant, which the
     * JVM resolves to the class itself even if the class is hidden.
     */
    public int type(String type) {
        return type.equals(name) ? self : constants.type(type);
    }

    /** Adds a method whose code has at most one jump. {@code jump} is the target of the jump, or -1 for none. */
    public void addMethod(int flags, String name, String type, int stack, int locals, int jump, int[] code,
            String... annotations) {
        addMethod(flags, name, type, stack, locals, jump < 0 ? NO_JUMPS : new int[] {jump}, code, annotations);
    }

    /**
     * Adds a method.
     *
     * @param jumps the targets of the jumps, in ascending order. At each target the stack is empty, and the locals have the types that they
     *     have at the start
     * @param code instructions and operands, one byte in each element
     * @param annotations descriptors of annotation classes
     */
    public void addMethod(int flags, String name, String type, int stack, int locals, int[] jumps, int[] code,
            String... annotations) {
        methods.u2(flags);
        methods.u2(constants.utf8(name));
        methods.u2(constants.utf8(type));
        methods.u2(2);
        methods.u2(constants.utf8("Code"));
        methods.i4(12 + code.length + (jumps.length == 0 ? 0 : 8 + jumps.length));
        methods.u2(stack);
        methods.u2(locals);
        methods.i4(code.length);
        for (int b : code) {
            methods.u1(b);
        }
        methods.u2(0); // exceptions
        methods.u2(jumps.length == 0 ? 0 : 1);
        if (jumps.length > 0) {
            methods.u2(constants.utf8("StackMapTable"));
            methods.i4(2 + jumps.length);
            methods.u2(jumps.length);
            int last = -1;
            for (int jump : jumps) {
                methods.u1(jump - last - 1); // a same_frame, with the locals as at the start
                last = jump;
            }
        }
        methods.u2(constants.utf8("RuntimeVisibleAnnotations"));
        methods.i4(2 + 4 * annotations.length);
        methods.u2(annotations.length);
        for (String a : annotations) {
            methods.u2(constants.utf8(a));
            methods.u2(0);
        }
        methodCount++;
    }

    /** Adds a {@code public abstract} method. */
    public void addAbstract(String name, String type) {
        methods.u2(ABSTRACT_METHOD);
        methods.u2(constants.utf8(name));
        methods.u2(constants.utf8(type));
        methods.u2(0); // attributes
        methodCount++;
    }

    /** Returns the class file. */
    public byte[] toBytes() {
        Bytes out = new Bytes(2048);
        out.i4(0xCAFEBABE);
        out.i4(VERSION);
        out.u2(constants.count());
        constants.writeTo(out);
        out.u2(flags);
        out.u2(self);
        out.u2(parent);
        out.u2(0); // interfaces
        out.u2(fieldCount);
        out.append(fields);
        out.u2(methodCount);
        out.append(methods);
        out.u2(0); // attributes
        return out.toArray();
    }
}
