// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.attribute.CodeAttribute;
import java.lang.classfile.attribute.StackMapFrameInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.ObjectVerificationTypeInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.UninitializedVerificationTypeInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.VerificationTypeInfo;
import java.lang.classfile.constantpool.ConstantDynamicEntry;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LineNumber;
import java.lang.classfile.instruction.LocalVariable;
import java.lang.classfile.instruction.LocalVariableType;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.NopInstruction;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * What the JDK's class-file library says of a class with points: but for them, it is the class without. Every place in the
 * code is named by the number of the instruction behind it, points not counted.
 */
final class ClassComparison {
    private static final ClassFile FILES = ClassFile.of();

    private ClassComparison() {
    }

    /** The first difference, or null. */
    static String difference(byte[] plain, byte[] points) {
        ClassModel a = FILES.parse(plain);
        ClassModel b = FILES.parse(points);
        List<MethodModel> as = a.methods();
        List<MethodModel> bs = b.methods();
        if (as.size() != bs.size() || a.fields().size() != b.fields().size()
                || a.flags().flagsMask() != b.flags().flagsMask() || a.majorVersion() != b.majorVersion()) {
            return "another class";
        }
        for (int i = 0; i < as.size(); i++) {
            List<String> x = lines(as.get(i), as.get(i));
            List<String> y = lines(bs.get(i), as.get(i));
            for (int j = 0; j < Math.max(x.size(), y.size()); j++) {
                String p = j < x.size() ? x.get(j) : "nothing";
                String q = j < y.size() ? y.get(j) : "nothing";
                if (!p.equals(q)) {
                    return as.get(i).methodName() + as.get(i).methodType().stringValue() + ": " + p + " became " + q;
                }
            }
        }
        return null;
    }

    /** Returns whether a point begins with this element. */
    private static boolean isPoint(CodeElement e) {
        return e instanceof InvokeDynamicInstruction i && i.name().equalsString(JdkPoint.POINT)
                || e instanceof ConstantInstruction.LoadConstantInstruction c && c.constantEntry() instanceof ConstantDynamicEntry d
                        && d.name().equalsString(JdkPoint.POINT);
    }

    /** Returns the index of the instruction that calls the point which begins at {@code i}. */
    private static int call(List<CodeElement> all, int i) {
        if (all.get(i) instanceof InvokeDynamicInstruction) {
            return i;
        }
        if (all.get(i + 1) instanceof InvokeInstruction c && c.owner().asInternalName().equals(JdkPoint.CLASS)) {
            return i + 1;
        }
        throw new AssertionError("a constant with " + all.get(i + 1));
    }

    private static boolean isOnTheWayBack(CodeElement call) {
        return call instanceof InvokeDynamicInstruction d ? d.type().equalsString("()Z")
                : ((InvokeInstruction) call).name().equalsString(JdkPoint.BACK);
    }

    /** The offsets of a method's points, in order. */
    static List<Integer> points(byte[] classFile, String method) {
        List<Integer> points = new ArrayList<>();
        for (MethodModel m : FILES.parse(classFile).methods()) {
            if (m.methodName().equalsString(method) && m.code().isPresent()) {
                int at = 0;
                for (CodeElement e : m.code().get()) {
                    if (isPoint(e)) {
                        points.add(at);
                    }
                    at += e instanceof Instruction i ? i.sizeInBytes() : 0;
                }
            }
        }
        return points;
    }

    /**
     * The elements of a method without its points, and with them what belongs to those on the way back: a goto over the point, and
     * behind it an ifeq, a nop and the place that both lead to.
     */
    private static List<CodeElement> withoutPoints(CodeAttribute code, CodeAttribute plain) {
        List<CodeElement> all = code.elementList();
        List<Instruction> old = plain.elementStream().<Instruction>mapMulti((e, to) -> {
            if (e instanceof Instruction i) {
                to.accept(i);
            }
        }).toList();
        BitSet points = new BitSet(); // A nop is one object, wherever it stands.
        for (int i = 0; i < all.size(); i++) {
            if (!isPoint(all.get(i))) {
                continue;
            }
            int call = call(all, i);
            points.set(i, call + 1);
            if (isOnTheWayBack(all.get(call))) {
                BranchInstruction over = (BranchInstruction) all.get(call + 1);
                if (over.opcode() != Opcode.IFEQ || !(all.get(call + 2) instanceof NopInstruction)
                        || !labels(all, call + 3).contains(over.target())) {
                    throw new AssertionError("a point on the way back with " + all.subList(i, call + 4));
                }
                points.set(call + 1, call + 3);
                int before = i - 1;
                while (before >= 0 && !(all.get(before) instanceof Instruction)) {
                    before--;
                }
                if (before >= 0 && all.get(before) instanceof BranchInstruction skip && skip.opcode() == Opcode.GOTO
                        && labels(all, call + 3).contains(skip.target())
                        && !(old.get(instructions(all, points, before)) instanceof BranchInstruction b && b.opcode() == Opcode.GOTO)) {
                    points.set(before);
                }
            }
        }
        return IntStream.range(0, all.size()).filter(i -> !points.get(i)).<CodeElement>mapToObj(all::get).toList();
    }

    /** How many instructions that are of no point stand before an element. */
    private static int instructions(List<CodeElement> all, BitSet points, int before) {
        return (int) IntStream.range(0, before).filter(i -> !points.get(i) && all.get(i) instanceof Instruction).count();
    }

    /** The labels at and behind an element, up to the next instruction. */
    private static List<Label> labels(List<CodeElement> all, int at) {
        List<Label> labels = new ArrayList<>();
        for (; at < all.size() && !(all.get(at) instanceof Instruction); at++) {
            if (all.get(at) instanceof LabelTarget t) {
                labels.add(t.label());
            }
        }
        return labels;
    }

    /** The jumps of methods with points that go back, or nowhere, and not to a point. */
    static List<String> passedBy(byte[] classFile) {
        List<String> wrong = new ArrayList<>();
        for (MethodModel m : FILES.parse(classFile).methods()) {
            List<CodeElement> all = m.code().map(code -> ((CodeAttribute) code).elementList()).orElse(List.of());
            if (all.stream().noneMatch(ClassComparison::isPoint)) {
                continue;
            }
            Map<Label, Boolean> behind = new HashMap<>(); // whether there is a point
            for (int i = 0; i < all.size(); i++) {
                CodeElement e = all.get(i);
                if (e instanceof LabelTarget t) {
                    int next = i;
                    while (next < all.size() && !(all.get(next) instanceof Instruction)) {
                        next++;
                    }
                    behind.put(t.label(), next < all.size() && isPoint(all.get(next)));
                }
                for (Label to : targets(e)) {
                    if (Boolean.FALSE.equals(behind.get(to))) {
                        wrong.add(m.methodName() + " " + e);
                    }
                }
            }
        }
        return wrong;
    }

    private static List<Label> targets(CodeElement e) {
        List<Label> targets = new ArrayList<>();
        switch (e) {
            case BranchInstruction b -> targets.add(b.target());
            case TableSwitchInstruction s -> {
                targets.add(s.defaultTarget());
                s.cases().forEach(c -> targets.add(c.target()));
            }
            case LookupSwitchInstruction s -> {
                targets.add(s.defaultTarget());
                s.cases().forEach(c -> targets.add(c.target()));
            }
            default -> {
            }
        }
        return targets;
    }

    private static List<String> lines(MethodModel method, MethodModel plain) {
        List<String> lines = new ArrayList<>();
        lines.add(method.methodName().stringValue() + method.methodType().stringValue() + method.flags().flagsMask());
        method.attributes().forEach(a -> lines.add(a.attributeName().stringValue()));
        if (!(method.code().orElse(null) instanceof CodeAttribute code)) {
            return lines;
        }
        List<CodeElement> elements = withoutPoints(code, (CodeAttribute) plain.code().get());
        Map<Label, Integer> places = new HashMap<>();
        int n = 0;
        for (CodeElement e : elements) {
            if (e instanceof LabelTarget t) {
                places.put(t.label(), n);
            } else if (e instanceof Instruction) {
                n++;
            }
        }
        int stack = ((CodeAttribute) plain.code().get()).maxStack(); // A point needs one slot more than the place where it is.
        int added = code.maxStack() - stack;
        lines.add("stack " + (added == 0 || added == 1 ? stack : code.maxStack()) + " locals " + code.maxLocals());
        n = 0;
        for (CodeElement e : elements) {
            String line = line(e, places);
            if (line != null && !(e instanceof LineNumber && lines.getLast().equals(n + " " + line))) { // the first may come twice
                lines.add(n + " " + line);
            }
            n += e instanceof Instruction ? 1 : 0;
        }
        code.findAttribute(Attributes.stackMapTable()).ifPresent(t -> {
            for (StackMapFrameInfo f : t.entries()) {
                String line = "frame " + places.get(f.target()) + types(f.locals(), places) + types(f.stack(), places);
                if (!line.equals(lines.getLast())) { // a point on the way back and its header have the same
                    lines.add(line);
                }
            }
        });
        return lines;
    }

    private static String types(List<VerificationTypeInfo> types, Map<Label, Integer> places) {
        return types.stream().map(t -> switch (t) {
            case ObjectVerificationTypeInfo o -> o.className().asInternalName();
            case UninitializedVerificationTypeInfo u -> "new " + places.get(u.newTarget());
            default -> String.valueOf(t.tag());
        }).toList().toString();
    }

    private static String line(CodeElement e, Map<Label, Integer> places) {
        return switch (e) {
            case BranchInstruction b -> b.opcode() + " " + places.get(b.target());
            case TableSwitchInstruction s -> "table " + s.lowValue() + " " + s.highValue() + " " + places.get(s.defaultTarget())
                    + s.cases().stream().map(c -> c.caseValue() + ":" + places.get(c.target())).toList();
            case LookupSwitchInstruction s -> "lookup " + places.get(s.defaultTarget())
                    + s.cases().stream().map(c -> c.caseValue() + ":" + places.get(c.target())).toList();
            case Instruction i -> i.toString();
            case ExceptionCatch c -> "catch " + places.get(c.tryStart()) + " " + places.get(c.tryEnd()) + " "
                    + places.get(c.handler()) + " " + c.catchType().map(t -> t.asInternalName());
            case LineNumber l -> "line " + l.line();
            case LocalVariable v -> "variable " + v.name() + " " + v.slot() + " " + places.get(v.startScope()) + " "
                    + places.get(v.endScope());
            case LocalVariableType v -> "generic " + v.name() + " " + v.signature() + " " + places.get(v.startScope()) + " "
                    + places.get(v.endScope());
            default -> null;
        };
    }
}
