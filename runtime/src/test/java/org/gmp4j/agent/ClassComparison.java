// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.CodeAttribute;
import java.lang.classfile.attribute.StackMapFrameInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.ObjectVerificationTypeInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.UninitializedVerificationTypeInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.VerificationTypeInfo;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LineNumber;
import java.lang.classfile.instruction.LocalVariable;
import java.lang.classfile.instruction.LocalVariableType;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
            List<String> x = lines(as.get(i));
            List<String> y = lines(bs.get(i));
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

    private static boolean isPoint(CodeElement e) {
        return e instanceof InvokeDynamicInstruction i && i.name().equalsString(JdkPoint.POINT);
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

    private static List<String> lines(MethodModel method) {
        List<String> lines = new ArrayList<>();
        lines.add(method.methodName().stringValue() + method.methodType().stringValue() + method.flags().flagsMask());
        method.attributes().forEach(a -> lines.add(a.attributeName().stringValue()));
        if (!(method.code().orElse(null) instanceof CodeAttribute code)) {
            return lines;
        }
        Map<Label, Integer> places = new HashMap<>();
        int n = 0;
        for (CodeElement e : code) {
            if (e instanceof LabelTarget t) {
                places.put(t.label(), n);
            } else if (e instanceof Instruction && !isPoint(e)) {
                n++;
            }
        }
        lines.add("stack " + code.maxStack() + " locals " + code.maxLocals());
        n = 0;
        for (CodeElement e : code) {
            if (!isPoint(e)) {
                String line = line(e, places);
                if (line != null) {
                    lines.add(n + " " + line);
                }
                n += e instanceof Instruction ? 1 : 0;
            }
        }
        code.findAttribute(Attributes.stackMapTable()).ifPresent(t -> {
            for (StackMapFrameInfo f : t.entries()) {
                lines.add("frame " + places.get(f.target()) + types(f.locals(), places) + types(f.stack(), places));
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
