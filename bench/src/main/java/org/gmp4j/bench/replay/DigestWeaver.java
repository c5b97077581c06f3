// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.ArrayLoadInstruction;
import java.lang.classfile.instruction.ArrayStoreInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.NewMultiArrayInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.NewPrimitiveArrayInstruction;
import java.lang.classfile.instruction.NewReferenceArrayInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Rewrites one class after {@link Weaver}: the reads and writes of the heap by which {@link Digest} knows a state. */
final class DigestWeaver implements ClassTransform {
    private static final ClassDesc DIGEST = ClassDesc.of(Digest.class.getName());
    private static final MethodTypeDesc OBJECT = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_Object);
    private static final MethodTypeDesc TWO_OBJECTS = OBJECT.insertParameterTypes(0, ConstantDescs.CD_Object);
    private static final String HELPER = "digest$";
    private static final String ATOMIC = "java/util/concurrent/atomic/";
    /** Types of the JDK whose objects hide their content: a call of such an object counts as a write to it. */
    private static final List<String> OPAQUE = List.of("java/util/", "java/lang/ref/", "java/lang/ThreadLocal", "java/lang/StringBu", "[");
    /** Types under them whose objects never change, or note their changes themselves. */
    private static final List<String> FIXED = List.of("java/util/function/", "java/util/Objects", "java/util/concurrent/TimeUnit",
            "java/util/concurrent/Semaphore", "java/util/concurrent/locks/");

    private final String type;
    private final ClassDesc self;
    private final boolean isInterface;
    private final Names names;
    private final Volatiles others;
    private final Set<String> finals = new HashSet<>();
    private final List<Helper> helpers = new ArrayList<>();

    private record Helper(String name, MethodTypeDesc type, Consumer<CodeBuilder> body) {
    }

    DigestWeaver(ClassModel model, Names names, Volatiles others) {
        this.names = names;
        this.others = others;
        type = model.thisClass().asInternalName();
        self = model.thisClass().asSymbol();
        isInterface = model.flags().has(AccessFlag.INTERFACE);
        model.fields().stream().filter(f -> f.flags().has(AccessFlag.FINAL)).forEach(f -> finals.add(f.fieldName().stringValue()));
    }

    @Override
    public void accept(ClassBuilder out, ClassElement e) {
        if (e instanceof MethodModel m && m.code().isPresent()) {
            out.transformMethod(m, MethodTransform.transformingCode(code(m.methodName().stringValue())));
        } else {
            out.with(e);
        }
    }

    @Override
    public void atEnd(ClassBuilder out) {
        for (Helper h : helpers) {
            out.withMethodBody(h.name, h.type, ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC | ClassFile.ACC_SYNTHETIC, h.body::accept);
        }
    }

    private CodeTransform code(String method) {
        boolean framed = !method.equals("<clinit>") && !method.startsWith(HELPER) && !method.startsWith(Weaver.HELPER);
        int[] saved = new int[1];
        Deque<String> begun = new ArrayDeque<>();
        boolean[] isThis = {false}; // Whether the constructor of the superclass has been called.
        return new CodeTransform() {
            @Override
            public void atStart(CodeBuilder b) {
                if (framed) {
                    saved[0] = b.allocateLocal(TypeKind.LONG);
                    b.loadConstant((type + method).hashCode()).invokestatic(DIGEST, "enter", MethodTypeDesc.of(ConstantDescs.CD_long,
                            ConstantDescs.CD_int)).lstore(saved[0]);
                }
            }

            @Override
            public void accept(CodeBuilder b, CodeElement e) {
                if (e instanceof ReturnInstruction && method.equals("<init>")) {
                    b.aload(0).invokestatic(DIGEST, "made", OBJECT);
                }
                if (framed && e instanceof ReturnInstruction r) {
                    leave(b, r.typeKind(), saved[0]);
                    b.with(r);
                } else if (isThis[0] && e instanceof FieldInstruction f && f.opcode() == Opcode.PUTFIELD && isFinal(f)) {
                    putFinal(b, f);
                } else {
                    isThis[0] |= method.equals("<init>") && e instanceof InvokeInstruction i && i.name().equalsString("<init>")
                            && !i.owner().asInternalName().equals(begun.peek());
                    instruction(b, e, method, begun);
                }
            }
        };
    }

    private static void leave(CodeBuilder b, TypeKind kind, int saved) {
        ClassDesc of = kind == TypeKind.VOID ? null : seen(kind.upperBound());
        MethodTypeDesc t = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_long);
        if (of != null) {
            t = t.insertParameterTypes(0, of);
            copy(b, kind);
        }
        b.lload(saved).invokestatic(DIGEST, "leave", t);
    }

    /** @param begun the classes of the objects that are allocated, and whose constructors are not called yet */
    private void instruction(CodeBuilder b, CodeElement e, String method, Deque<String> begun) {
        switch (e) {
            case FieldInstruction f when isFinal(f) -> b.with(f);
            case FieldInstruction f when f.opcode() == Opcode.GETFIELD || f.opcode() == Opcode.GETSTATIC -> {
                b.with(f);
                got(b, f.typeSymbol());
            }
            case FieldInstruction f -> put(b, f);
            case ArrayLoadInstruction a -> {
                b.with(a);
                got(b, a.typeKind().upperBound());
            }
            case ArrayStoreInstruction a -> store(b, a);
            case NewReferenceArrayInstruction n -> made(b.with(n));
            case NewPrimitiveArrayInstruction n -> made(b.with(n));
            case NewMultiArrayInstruction n -> made(b.with(n));
            case NewObjectInstruction n -> {
                begun.push(n.className().asInternalName());
                b.with(n);
            }
            case InvokeInstruction i when i.name().equalsString("<init>") -> {
                constructor(b, i);
                if (i.owner().asInternalName().equals(begun.peek())) { // Else it is the constructor of the superclass.
                    String made = begun.pop();
                    if (!Rewriter.isRewritten(made.replace('/', '.'))) {
                        made(b);
                    }
                }
            }
            case InvokeInstruction i -> invoke(b, i, method);
            case InvokeDynamicInstruction i when i.bootstrapMethod().owner().descriptorString().equals(References.METAFACTORY) ->
                b.with(i).dup().invokestatic(DIGEST, i.typeSymbol().parameterCount() == 0 ? "constant" : "made", OBJECT);
            default -> b.with(e);
        }
    }

    private static void made(CodeBuilder b) {
        b.dup().invokestatic(DIGEST, "made", OBJECT);
    }

    private void got(CodeBuilder b, ClassDesc of) {
        if (names.isAccessor(of.descriptorString()) || Names.isHandleType(of.descriptorString())) {
            return;
        }
        copy(b, TypeKind.from(of));
        b.invokestatic(DIGEST, "got", MethodTypeDesc.of(ConstantDescs.CD_void, seen(of)));
    }

    private static void copy(CodeBuilder b, TypeKind kind) {
        if (kind.slotSize() == 2) {
            b.dup2();
        } else {
            b.dup();
        }
    }

    /** The type by which the digest takes a value. */
    private static ClassDesc seen(ClassDesc of) {
        TypeKind kind = TypeKind.from(of).asLoadable();
        return kind == TypeKind.REFERENCE ? ConstantDescs.CD_Object : kind.upperBound();
    }

    private static MethodTypeDesc put(ClassDesc of) {
        return MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_Object, ConstantDescs.CD_int, seen(of));
    }

    private void put(CodeBuilder b, FieldInstruction f) {
        ClassDesc of = f.typeSymbol();
        String name = f.name().stringValue();
        ClassDesc declares = others.declares(f.owner().asSymbol(), name);
        boolean isStatic = f.opcode() == Opcode.PUTSTATIC;
        MethodTypeDesc t = isStatic ? MethodTypeDesc.of(ConstantDescs.CD_void, of)
                : MethodTypeDesc.of(ConstantDescs.CD_void, f.owner().asSymbol(), of);
        int value = isStatic ? 0 : 1;
        helper(b, t, h -> {
            if (isStatic) {
                h.loadConstant(declares);
            } else {
                h.aload(0);
            }
            h.loadConstant(Values.number(declares.descriptorString(), name)).loadLocal(TypeKind.from(of), value)
                    .invokestatic(DIGEST, "put", put(of));
            if (!isStatic) {
                h.aload(0);
            }
            h.loadLocal(TypeKind.from(of), value).with(f).return_();
        });
    }

    private boolean isFinal(FieldInstruction f) {
        return f.owner().asInternalName().equals(type) && finals.contains(f.name().stringValue());
    }

    /** The final fields of an object follow from its number, unless a constructor writes them when the object has one. */
    private void putFinal(CodeBuilder b, FieldInstruction f) {
        TypeKind kind = TypeKind.from(f.typeSymbol()).asLoadable();
        int value = b.allocateLocal(kind);
        int object = b.allocateLocal(TypeKind.REFERENCE);
        b.storeLocal(kind, value).astore(object);
        b.aload(object).invokestatic(DIGEST, "isKnown", MethodTypeDesc.of(ConstantDescs.CD_boolean, ConstantDescs.CD_Object));
        int number = Values.number(self.descriptorString(), f.name().stringValue());
        b.ifThen(t -> t.aload(object).loadConstant(number).loadLocal(kind, value)
                .invokestatic(DIGEST, "put", put(f.typeSymbol())));
        b.aload(object).loadLocal(kind, value).with(f);
    }

    private static void store(CodeBuilder b, ArrayStoreInstruction a) {
        TypeKind kind = a.typeKind().asLoadable();
        int value = b.allocateLocal(kind);
        int index = b.allocateLocal(TypeKind.INT);
        int array = b.allocateLocal(TypeKind.REFERENCE);
        b.storeLocal(kind, value).istore(index).astore(array);
        b.aload(array).iload(index).loadLocal(kind, value).invokestatic(DIGEST, "put", put(kind.upperBound()));
        b.aload(array).iload(index).loadLocal(kind, value).with(a);
    }

    private void invoke(CodeBuilder b, InvokeInstruction i, String method) {
        String owner = i.owner().asInternalName();
        String name = i.name().stringValue();
        if (names.forgets(type, method, owner, name)) {
            b.invokestatic(DIGEST, "forget", MethodTypeDesc.of(ConstantDescs.CD_void));
        }
        boolean isStatic = i.opcode() == Opcode.INVOKESTATIC;
        boolean handle = Weaver.isOfHandle(i);
        boolean atomic = handle || owner.startsWith(ATOMIC) && i.opcode() == Opcode.INVOKEVIRTUAL;
        if (atomic) {
            atomic(b, i, handle);
        } else if (i.opcode() != Opcode.INVOKESPECIAL && isOpaque(owner, name)) {
            opaque(b, i, isStatic);
        } else {
            b.with(i);
        }
    }

    private static boolean isOpaque(String owner, String name) {
        return OPAQUE.stream().anyMatch(owner::startsWith) && FIXED.stream().noneMatch(owner::startsWith) && !owner.startsWith(ATOMIC)
                || owner.equals("java/lang/System") && name.equals("arraycopy");
    }

    private void atomic(CodeBuilder b, InvokeInstruction i, boolean handle) {
        String name = i.name().stringValue();
        boolean reads = name.startsWith("get") && !name.startsWith("getAnd");
        MethodTypeDesc t = i.typeSymbol().insertParameterTypes(0, i.owner().asSymbol());
        helper(b, t, h -> {
            load(h, t);
            h.with(i);
            if (!t.returnType().equals(ConstantDescs.CD_void)) {
                got(h, t.returnType());
            }
            if (!reads) {
                h.aload(0);
                if (handle && Weaver.isOfStatic(i)) {
                    h.loadConstant(self);
                } else {
                    h.aload(handle ? 1 : 0);
                }
                h.invokestatic(DIGEST, "changed", TWO_OBJECTS);
            }
            h.return_(TypeKind.from(t.returnType()));
        });
    }

    private void opaque(CodeBuilder b, InvokeInstruction i, boolean isStatic) {
        MethodTypeDesc t = isStatic ? i.typeSymbol() : i.typeSymbol().insertParameterTypes(0, i.owner().asSymbol());
        ClassDesc result = t.returnType();
        helper(b, t, h -> {
            objects(h, t, "before");
            h.trying(in -> {
                load(in, t);
                in.with(i);
                objects(in, t, "after");
                if (!result.equals(ConstantDescs.CD_void)) {
                    got(in, result);
                }
                if (!result.isPrimitive()) {
                    in.dup().invokestatic(DIGEST, "returned", OBJECT);
                }
                in.return_(TypeKind.from(result));
            }, c -> c.catchingAll(thrown -> {
                objects(thrown, t, "after");
                thrown.athrow();
            }));
        });
    }

    /** The constructor of a class of the JDK may read the objects that it gets: their content is that of the new object. */
    private void constructor(CodeBuilder b, InvokeInstruction i) {
        MethodTypeDesc t = i.typeSymbol();
        if (!isOpaque(i.owner().asInternalName(), "<init>") || t.parameterList().stream().allMatch(ClassDesc::isPrimitive)) {
            b.with(i);
            return;
        }
        int[] at = new int[t.parameterCount()];
        for (int p = at.length - 1; p >= 0; p--) {
            TypeKind kind = TypeKind.from(t.parameterType(p)).asLoadable();
            at[p] = b.allocateLocal(kind);
            b.storeLocal(kind, at[p]);
        }
        for (int p = 0; p < at.length; p++) {
            if (!t.parameterType(p).isPrimitive()) {
                b.aload(at[p]).invokestatic(DIGEST, "before", OBJECT);
            }
        }
        for (int p = 0; p < at.length; p++) {
            b.loadLocal(TypeKind.from(t.parameterType(p)).asLoadable(), at[p]);
        }
        b.with(i);
    }

    /** Passes each object that a call gets to a method of the digest. */
    private static void objects(CodeBuilder b, MethodTypeDesc t, String to) {
        int at = 0;
        for (ClassDesc p : t.parameterArray()) {
            if (!p.isPrimitive()) {
                b.aload(at).invokestatic(DIGEST, to, OBJECT);
            }
            at += TypeKind.from(p).slotSize();
        }
    }

    private static void load(CodeBuilder b, MethodTypeDesc t) {
        int at = 0;
        for (ClassDesc p : t.parameterArray()) {
            b.loadLocal(TypeKind.from(p), at);
            at += TypeKind.from(p).slotSize();
        }
    }

    private void helper(CodeBuilder b, MethodTypeDesc t, Consumer<CodeBuilder> body) {
        Helper h = new Helper(HELPER + helpers.size(), t, body);
        helpers.add(h);
        b.invokestatic(self, h.name, t, isInterface);
    }
}
