// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.classfile;

/**
 * Writes the few small classes that the runtime defines inside the JDK's packages, byte by byte: the JDK's class-file
 * library would take a tenth of a second of every start.
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

    /** A public final class without constructor; {@code name} with slashes. */
    public ClassFileWriter(String name) {
        this(name, "java/lang/Object");
    }

    /** The same with another superclass than Object. */
    public ClassFileWriter(String name, String superclass) {
        this(name, superclass, CLASS_FLAGS);
    }

    private ClassFileWriter(String name, String superclass, int flags) {
        this.flags = flags;
        this.name = name;
        self = constants.type(name);
        parent = constants.type(superclass);
    }

    /** A public abstract class without constructor. */
    public static ClassFileWriter ofAbstract(String name) {
        return new ClassFileWriter(name, "java/lang/Object", ABSTRACT_FLAGS);
    }

    /** Adds a {@code public static final} field; returns its constant. */
    public int addConstant(String name, String type) {
        return addField(CONSTANT_FLAGS, name, type);
    }

    /** Adds a {@code public static volatile} field; returns its constant. */
    public int addField(String name, String type) {
        return addField(FIELD_FLAGS, name, type);
    }

    /** Adds a {@code private final} field of an instance; returns its constant. */
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

    /** The constant of a field of another class. */
    public int field(String owner, String name, String type) {
        return constants.field(type(owner), name, type);
    }

    /** The constant of a method of this class. */
    public int ownMethod(String name, String type) {
        return constants.method(self, name, type);
    }

    /** The constant of a method of another class. */
    public int method(String owner, String name, String type) {
        return constants.method(type(owner), name, type);
    }

    /** The constant of an interface's method. */
    public int interfaceMethod(String owner, String name, String type) {
        return constants.interfaceMethod(type(owner), name, type);
    }

    /** The constant of a text. */
    public int string(String ascii) {
        return constants.string(constants.utf8(ascii));
    }

    /** The constant of a class: for this class the one that the JVM knows when the class is hidden. */
    public int type(String type) {
        return type.equals(name) ? self : constants.type(type);
    }

    /** Adds a method; {@code jump} is where the one jump of its code goes, -1 for none. */
    public void addMethod(int flags, String name, String type, int stack, int locals, int jump, int[] code,
            String... annotations) {
        addMethod(flags, name, type, stack, locals, jump < 0 ? NO_JUMPS : new int[] {jump}, code, annotations);
    }

    /**
     * Adds a method.
     *
     * @param jumps where the jumps of the code go, in ascending order, with locals as at the start and nothing on the stack
     * @param code instructions and operands, a byte each
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
                methods.u1(jump - last - 1); // the frame is as at the start
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

    /** The class file. */
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
