// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicCallSiteDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.util.ArrayList;
import java.util.List;

/**
 * Rewrites one class before {@link Weaver}: a method reference becomes a lambda, whose body is a method of the class with the call as an
 * instruction, which the weavers see. References to methods of rewritten classes stay, unless another method is called in their place.
 */
final class References implements ClassTransform {
    static final String METAFACTORY = "Ljava/lang/invoke/LambdaMetafactory;";
    private static final String LAMBDA = "reference$";

    private final Names names;
    private final ClassDesc self;
    private final boolean isInterface;
    private final List<Lambda> lambdas = new ArrayList<>();

    private record Lambda(String name, MethodTypeDesc type, DirectMethodHandleDesc called) {
    }

    References(ClassModel model, Names names) {
        this.names = names;
        self = model.thisClass().asSymbol();
        isInterface = model.flags().has(AccessFlag.INTERFACE);
    }

    @Override
    public void accept(ClassBuilder out, ClassElement e) {
        if (e instanceof MethodModel m && m.code().isPresent()) {
            out.transformMethod(m, MethodTransform.transformingCode(this::instruction));
        } else {
            out.with(e);
        }
    }

    @Override
    public void atEnd(ClassBuilder out) {
        for (Lambda l : lambdas) {
            out.withMethodBody(l.name, l.type, ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC | ClassFile.ACC_SYNTHETIC, b -> body(b, l));
        }
    }

    private void instruction(CodeBuilder b, CodeElement e) {
        if (!(e instanceof InvokeDynamicInstruction i) || !i.bootstrapMethod().owner().descriptorString().equals(METAFACTORY)) {
            b.with(e);
            return;
        }
        ConstantDesc[] args = i.bootstrapArgs().toArray(ConstantDesc[]::new);
        for (int n = 0; n < args.length; n++) {
            if (args[n] instanceof DirectMethodHandleDesc called && isSeen(called)) {
                args[n] = lambda(called, i.typeSymbol());
            }
        }
        b.invokedynamic(DynamicCallSiteDesc.of(i.bootstrapMethod(), i.name().stringValue(), i.typeSymbol(), args));
    }

    private boolean isSeen(DirectMethodHandleDesc called) {
        String owner = called.owner().descriptorString();
        String type = owner.startsWith("L") ? owner.substring(1, owner.length() - 1) : owner;
        return !Rewriter.isRewritten(type.replace('/', '.')) || names.call(type, called.methodName(), called.lookupDescriptor()) != null;
    }

    private DirectMethodHandleDesc lambda(DirectMethodHandleDesc called, MethodTypeDesc captures) {
        MethodTypeDesc t = called.invocationType();
        boolean bound = called.kind() == DirectMethodHandleDesc.Kind.VIRTUAL
                || called.kind() == DirectMethodHandleDesc.Kind.INTERFACE_VIRTUAL;
        if (bound && captures.parameterCount() > 0) {
            t = t.changeParameterType(0, captures.parameterType(0)); // What is captured has to be of just that type.
        }
        Lambda l = new Lambda(LAMBDA + lambdas.size(), t, called);
        lambdas.add(l);
        return MethodHandleDesc.ofMethod(isInterface ? DirectMethodHandleDesc.Kind.INTERFACE_STATIC : DirectMethodHandleDesc.Kind.STATIC,
                self, l.name, t);
    }

    private static void body(CodeBuilder b, Lambda l) {
        DirectMethodHandleDesc called = l.called;
        MethodTypeDesc t = MethodTypeDesc.ofDescriptor(called.lookupDescriptor());
        boolean makes = called.kind() == DirectMethodHandleDesc.Kind.CONSTRUCTOR;
        if (makes) {
            b.new_(called.owner()).dup();
        }
        Weaver.load(b, l.type, 0);
        switch (called.kind()) {
            case STATIC, INTERFACE_STATIC -> b.invokestatic(called.owner(), called.methodName(), t, called.isOwnerInterface());
            case VIRTUAL -> b.invokevirtual(called.owner(), called.methodName(), t);
            case INTERFACE_VIRTUAL -> b.invokeinterface(called.owner(), called.methodName(), t);
            case CONSTRUCTOR -> b.invokespecial(called.owner(), "<init>", t);
            default -> throw new IllegalStateException("a reference to " + called + ": use a lambda");
        }
        b.return_(TypeKind.from(l.type.returnType()));
    }
}
