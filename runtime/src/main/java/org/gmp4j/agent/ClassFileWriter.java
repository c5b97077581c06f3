package org.gmp4j.agent;

/**
 * Writes the few small classes that the runtime defines inside the JDK's packages, byte by byte: the JDK's class-file
 * library would take a tenth of a second of every start.
 */
public final class ClassFileWriter {
    private static final int VERSION = 69; // Java 25
    private static final int CLASS_FLAGS = 0x1031; // public final super synthetic
    private static final int FIELD_FLAGS = 0x0049; // public static volatile
    private static final int FINAL_FLAGS = 0x0012; // private final

    private final Constants constants = new Constants(1);
    private final Bytes fields = new Bytes(64);
    private final Bytes methods = new Bytes(1024);
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
        self = constants.type(name);
        parent = constants.type(superclass);
    }

    /** Adds a {@code public static volatile} field; returns its constant. */
    int addField(String name, String type) {
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
        return constants.field(constants.type(owner), name, type);
    }

    /** The constant of a method of this class. */
    public int ownMethod(String name, String type) {
        return constants.method(self, name, type);
    }

    /** The constant of a method of another class. */
    public int method(String owner, String name, String type) {
        return constants.method(constants.type(owner), name, type);
    }

    /** The constant of an interface's method. */
    public int interfaceMethod(String owner, String name, String type) {
        return constants.interfaceMethod(constants.type(owner), name, type);
    }

    /** The constant of a class. */
    public int type(String name) {
        return constants.type(name);
    }

    /**
     * Adds a method.
     *
     * @param jump where the one jump of the code goes, with locals as at the start and nothing on the stack; -1 for none
     * @param code instructions and operands, a byte each
     * @param annotations descriptors of annotation classes
     */
    public void addMethod(int flags, String name, String type, int stack, int locals, int jump, int[] code,
            String... annotations) {
        methods.u2(flags);
        methods.u2(constants.utf8(name));
        methods.u2(constants.utf8(type));
        methods.u2(2);
        methods.u2(constants.utf8("Code"));
        methods.i4(12 + code.length + (jump < 0 ? 0 : 9));
        methods.u2(stack);
        methods.u2(locals);
        methods.i4(code.length);
        for (int b : code) {
            methods.u1(b);
        }
        methods.u2(0); // exceptions
        methods.u2(jump < 0 ? 0 : 1);
        if (jump >= 0) {
            methods.u2(constants.utf8("StackMapTable"));
            methods.i4(3);
            methods.u2(1);
            methods.u1(jump); // the frame is as at the start
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

    /** The class file. */
    public byte[] toBytes() {
        Bytes out = new Bytes(2048);
        out.i4(0xCAFEBABE);
        out.i4(VERSION);
        out.u2(constants.count());
        constants.writeTo(out);
        out.u2(CLASS_FLAGS);
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
