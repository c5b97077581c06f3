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
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.IncrementInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LineNumber;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Rewrites one class: the points, and the calls of {@link World} in place of the machine's. */
final class Weaver implements ClassTransform {
    private static final ClassDesc WORLD = ClassDesc.of(World.class.getName());
    private static final ClassDesc STATICS = ClassDesc.of(Statics.class.getName());
    private static final MethodTypeDesc AT = MethodTypeDesc.ofDescriptor("(I)V");
    private static final MethodTypeDesc OBJECT_AT = MethodTypeDesc.ofDescriptor("(Ljava/lang/Object;I)V");
    private static final MethodTypeDesc NOTHING = MethodTypeDesc.ofDescriptor("()V");
    private static final MethodTypeDesc OF_CLASS = MethodTypeDesc.ofDescriptor("(Ljava/lang/Class;)V");
    private static final MethodTypeDesc MONITOR = MethodTypeDesc.ofDescriptor("(Ljava/lang/Object;)V");
    /** How the names of methods begin that are added. */
    static final String HELPER = "replay$";

    private final ClassModel model;
    private final Names names;
    private final String type;
    private final ClassDesc self;
    private final boolean isInterface;
    /** The names of the fields that static handles of any class reach. */
    private final Map<String, String> handles;
    private final Volatiles others;
    private final List<Helper> helpers = new ArrayList<>();
    private final Set<String> declared = new HashSet<>();
    private final Set<String> volatiles = new HashSet<>();
    private final Set<String> finals = new HashSet<>();

    /** A method that makes a point and then a call whose arguments are its own. */
    private record Helper(String name, MethodTypeDesc type, InvokeInstruction call, int site, boolean writes) {
    }

    Weaver(ClassModel model, Names names, Map<String, String> handles, Volatiles others) {
        this.others = others;
        this.model = model;
        this.names = names;
        this.handles = handles;
        type = model.thisClass().asInternalName();
        self = model.thisClass().asSymbol();
        isInterface = model.flags().has(AccessFlag.INTERFACE);
        model.fields().forEach(f -> {
            declared.add(f.fieldName().stringValue());
            if (f.flags().has(AccessFlag.VOLATILE)) {
                volatiles.add(f.fieldName().stringValue());
            }
            if (f.flags().has(AccessFlag.FINAL)) {
                finals.add(f.fieldName().stringValue());
            }
        });
    }

    private String simple() {
        return type.substring(type.lastIndexOf('/') + 1);
    }

    @Override
    public void accept(ClassBuilder out, ClassElement e) {
        if (e instanceof MethodModel m) {
            method(out, m);
        } else {
            out.with(e);
        }
    }

    @Override
    public void atEnd(ClassBuilder out) {
        boolean hasInitialiser = model.methods().stream().anyMatch(m -> m.methodName().equalsString("<clinit>"));
        boolean hasStatics = model.fields().stream()
                .anyMatch(f -> f.flags().has(AccessFlag.STATIC) && !f.flags().has(AccessFlag.FINAL));
        if (!hasInitialiser && hasStatics) {
            out.withMethodBody("<clinit>", NOTHING, ClassFile.ACC_STATIC,
                    b -> b.invokestatic(STATICS, "begin", NOTHING).loadConstant(self).invokestatic(STATICS, "end", OF_CLASS).return_());
        }
        for (Helper h : helpers) {
            out.withMethodBody(h.name, h.type, flags(true), b -> {
                if (isOfStatic(h.call)) {
                    b.loadConstant(self);
                } else {
                    b.aload(objectSlot(h));
                }
                b.loadConstant(h.site).invokestatic(WORLD, h.writes ? "writes" : "reads", OBJECT_AT);
                load(b, h.type, 0);
                b.invoke(h.call.opcode(), h.call.owner().asSymbol(), h.call.name().stringValue(), h.call.typeSymbol(),
                        h.call.isInterface());
                b.return_(TypeKind.from(h.type.returnType()));
            });
        }
    }

    /** The object of a handle's access is its first argument; that of an atomic is itself. */
    private static int objectSlot(Helper h) {
        return Names.isHandle(h.call.owner().asInternalName()) ? 1 : 0;
    }

    /** Returns whether a call accesses a static field by its VarHandle. The field is taken to be one of the class that makes the call. */
    static boolean isOfStatic(InvokeInstruction call) {
        String name = call.name().stringValue();
        int values = name.contains("ompareAnd") ? 2 : name.startsWith("set") || name.startsWith("getAnd") ? 1 : 0;
        return isOfHandle(call) && call.typeSymbol().parameterCount() == values;
    }

    /** Returns whether a call is an access by a VarHandle or by an accessor of fields of Java objects. */
    static boolean isOfHandle(InvokeInstruction call) {
        String name = call.name().stringValue();
        return Names.isHandle(call.owner().asInternalName()) && call.opcode() == Opcode.INVOKEVIRTUAL
                && (name.startsWith("get") || name.startsWith("set") || name.contains("ompareAnd"));
    }

    private int flags(boolean isStatic) {
        return ClassFile.ACC_PRIVATE | ClassFile.ACC_SYNTHETIC
                | (isStatic ? ClassFile.ACC_STATIC : 0);
    }

    static void load(CodeBuilder b, MethodTypeDesc type, int slot) {
        int at = slot;
        for (ClassDesc p : type.parameterArray()) {
            TypeKind kind = TypeKind.from(p);
            b.loadLocal(kind, at);
            at += kind.slotSize();
        }
    }

    private void method(ClassBuilder out, MethodModel m) {
        String name = m.methodName().stringValue();
        Names.Body body = names.body(type, name, m.methodType().stringValue());
        if (body != null && m.code().isPresent()) {
            replace(out, m, body);
            return;
        }
        if (m.flags().has(AccessFlag.SYNCHRONIZED) && m.code().isPresent()) {
            synchronizedMethod(out, m);
            return;
        }
        out.transformMethod(m, MethodTransform.transformingCode(code(m)));
    }

    /** Replaces the body by a call of a static method with the same parameters, behind the receiver. */
    private void replace(ClassBuilder out, MethodModel m, Names.Body body) {
        boolean isStatic = m.flags().has(AccessFlag.STATIC);
        MethodTypeDesc t = m.methodTypeSymbol();
        out.withMethodBody(m.methodName().stringValue(), t, m.flags().flagsMask() & ~ClassFile.ACC_SYNCHRONIZED, b -> {
            if (body.nothing()) {
                TypeKind kind = TypeKind.from(t.returnType());
                switch (kind) {
                    case VOID -> b.return_();
                    case REFERENCE -> b.aconst_null().areturn();
                    case LONG -> b.loadConstant(body.value()).lreturn();
                    default -> b.loadConstant((int) body.value()).return_(kind);
                }
                return;
            }
            MethodTypeDesc called = erased(t);
            if (!isStatic) {
                b.aload(0);
                ClassDesc receiver = ConstantDescs.CD_Object;
                if (body.field() != null) {
                    receiver = ClassDesc.ofDescriptor(body.fieldType());
                    b.getfield(self, body.field(), receiver);
                    if (body.offset()) { // The address of a field: the struct's, which is the first argument, and the offset.
                        b.lload(1).ladd();
                    }
                }
                if (!body.offset()) {
                    called = called.insertParameterTypes(0, erased(receiver));
                }
            }
            if (body.offset()) {
                loadBehindAddress(b, t);
            } else {
                load(b, t, isStatic ? 0 : 1);
            }
            b.invokestatic(ClassDesc.of(body.owner()), body.method(), called);
            if (!t.returnType().isPrimitive() && !t.returnType().equals(erased(t.returnType()))) {
                b.checkcast(t.returnType());
            }
            b.return_(TypeKind.from(t.returnType()));
        });
    }

    private static void loadBehindAddress(CodeBuilder b, MethodTypeDesc t) {
        int at = 3;
        for (int i = 1; i < t.parameterCount(); i++) {
            TypeKind kind = TypeKind.from(t.parameterType(i));
            b.loadLocal(kind, at);
            at += kind.slotSize();
        }
    }

    /** The type by which a class of ours knows an object of a rewritten class. */
    private static ClassDesc erased(ClassDesc c) {
        return c.isPrimitive() || c.descriptorString().startsWith("Ljava/") ? c : ConstantDescs.CD_Object;
    }

    private static MethodTypeDesc erased(MethodTypeDesc t) {
        MethodTypeDesc all = t.changeReturnType(erased(t.returnType()));
        for (int i = 0; i < t.parameterCount(); i++) {
            all = all.changeParameterType(i, erased(t.parameterType(i)));
        }
        return all;
    }

    /** Moves the body of a synchronized method into another, which the method calls inside the monitor. */
    private void synchronizedMethod(ClassBuilder out, MethodModel m) {
        boolean isStatic = m.flags().has(AccessFlag.STATIC);
        String inner = HELPER + m.methodName().stringValue();
        MethodTypeDesc t = m.methodTypeSymbol();
        int mask = m.flags().flagsMask() & ~ClassFile.ACC_SYNCHRONIZED;
        out.withMethod(inner, t, flags(isStatic), mb -> mb.transformCode(m.code().orElseThrow(), code(m)));
        out.withMethodBody(m.methodName().stringValue(), t, mask, b -> {
            monitor(b, isStatic, "enter");
            b.trying(in -> {
                if (!isStatic) {
                    in.aload(0);
                }
                load(in, t, isStatic ? 0 : 1);
                if (isStatic) {
                    in.invokestatic(self, inner, t, isInterface);
                } else {
                    in.invokespecial(self, inner, t, isInterface);
                }
                monitor(in, isStatic, "exit");
                in.return_(TypeKind.from(t.returnType()));
            }, c -> c.catchingAll(h -> {
                monitor(h, isStatic, "exit");
                h.athrow();
            }));
        });
    }

    private void monitor(CodeBuilder b, boolean isStatic, String what) {
        if (isStatic) {
            b.loadConstant(self);
        } else {
            b.aload(0);
        }
        b.invokestatic(WORLD, what, MONITOR);
    }

    /** Rewrites the instructions of one method. */
    private CodeTransform code(MethodModel m) {
        String name = m.methodName().stringValue();
        boolean initialiser = name.equals("<clinit>");
        boolean constructor = name.equals("<init>");
        int[] line = {0};
        Deque<String> fields = new ArrayDeque<>();
        return new CodeTransform() {
            @Override
            public void atStart(CodeBuilder b) {
                if (initialiser) {
                    b.invokestatic(STATICS, "begin", NOTHING);
                }
            }

            @Override
            public void accept(CodeBuilder b, CodeElement e) {
                switch (e) {
                    case LineNumber l -> {
                        line[0] = l.line();
                        b.with(l);
                    }
                    case MonitorInstruction i -> b.invokestatic(WORLD, i.opcode() == Opcode.MONITORENTER ? "enter" : "exit", MONITOR);
                    case FieldInstruction f -> field(b, f, name, line[0], fields, constructor || initialiser);
                    case InvokeInstruction i -> call(b, i, name, line[0], fields);
                    case ConstantInstruction c when names.constant(type, c) != null -> b.loadConstant(names.constant(type, c));
                    case IncrementInstruction i -> b.iinc(i.slot(), names.increment(type, i.constant()));
                    case NewObjectInstruction n when names.inPlaceOf(n.className().asInternalName()) != null ->
                        b.new_(names.inPlaceOf(n.className().asInternalName()));
                    case ReturnInstruction r when initialiser -> {
                        b.loadConstant(self).invokestatic(STATICS, "end", OF_CLASS);
                        b.with(r);
                    }
                    default -> b.with(e);
                }
            }
        };
    }

    private void field(CodeBuilder b, FieldInstruction f, String method, int line, Deque<String> fields, boolean first) {
        String owner = f.owner().asInternalName();
        String field = f.name().stringValue();
        String descriptor = f.type().stringValue();
        if (f.opcode() == Opcode.GETSTATIC && (names.isAccessor(descriptor) || Names.isHandleType(descriptor))) {
            fields.push(owner.substring(owner.lastIndexOf('/') + 1) + "." + field);
        }
        boolean ours = owner.equals(type) && !finals.contains(field);
        boolean ordered = ours && declared.contains(field) ? volatiles.contains(field) : others.isVolatile(owner, field);
        if (!first && (ordered || ours && names.hasSharedFields(type))) {
            boolean isWrite = f.opcode() == Opcode.PUTFIELD || f.opcode() == Opcode.PUTSTATIC;
            int site = Sites.add(simple(), method, line, field, isWrite ? "set" : "get");
            String call = (isWrite ? "writes" : "reads") + (ordered ? "" : "Plain");
            switch (f.opcode()) {
                case GETFIELD -> b.dup();
                case PUTFIELD -> {
                    if (TypeKind.from(f.typeSymbol()).slotSize() == 2) {
                        b.dup2_x1().pop2().dup_x2();
                    } else {
                        b.dup2().pop();
                    }
                }
                default -> b.loadConstant(others.declares(f.owner().asSymbol(), field));
            }
            b.loadConstant(site).invokestatic(WORLD, call, OBJECT_AT);
        }
        b.with(f);
    }

    private void call(CodeBuilder b, InvokeInstruction i, String method, int line, Deque<String> fields) {
        String owner = i.owner().asInternalName();
        String name = i.name().stringValue();
        String descriptor = i.type().stringValue();
        Names.Call replaced = names.call(owner, name, descriptor);
        if (replaced != null && i.opcode() != Opcode.INVOKESPECIAL) {
            MethodTypeDesc t = i.typeSymbol();
            if (i.opcode() != Opcode.INVOKESTATIC) {
                t = t.insertParameterTypes(0, ClassDesc.ofDescriptor(replaced.receiver()));
            }
            b.invokestatic(ClassDesc.of(replaced.owner()), replaced.method(), t);
            return;
        }
        if (name.equals("<init>") && names.inPlaceOf(owner) != null) {
            b.invokespecial(names.inPlaceOf(owner), name, i.typeSymbol());
            return;
        }
        if (names.isAccessor("L" + owner + ";")) {
            String field = fields.isEmpty() ? "" : fields.pop();
            if (!names.isWrapper(type)) {
                b.loadConstant(Sites.add(simple(), method, line, field, name)).invokestatic(WORLD, "at", AT);
            }
        } else if (isOfHandle(i)
                || owner.startsWith("java/util/concurrent/atomic/Atomic") && i.opcode() == Opcode.INVOKEVIRTUAL) {
            String field = Names.isHandle(owner) && !fields.isEmpty() ? fields.pop() : "";
            boolean reads = name.startsWith("get") && !name.startsWith("getAnd");
            int site = Sites.add(simple(), method, line, handles.getOrDefault(field, field), name);
            MethodTypeDesc t = i.typeSymbol().insertParameterTypes(0, i.owner().asSymbol());
            Helper h = new Helper(HELPER + helpers.size(), t, i, site, !reads);
            helpers.add(h);
            b.invokestatic(self, h.name, t, isInterface);
            return;
        }
        b.with(i);
    }
}
