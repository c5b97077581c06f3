// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.constant.ClassDesc;
import java.lang.reflect.AccessFlag;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** The fields of rewritten classes, which a class may access that is not their own: which are volatile, and what class declares them. */
final class Volatiles {
    private final Function<String, byte[]> read;
    private final Map<String, ClassModel> known = new HashMap<>();

    /** @param read returns the bytes of a class by its name */
    Volatiles(Function<String, byte[]> read) {
        this.read = read;
    }

    boolean isVolatile(String owner, String field) {
        FieldModel f = field(owner, field);
        return f != null && f.flags().has(AccessFlag.VOLATILE);
    }

    /** Returns the class that declares a field which an instruction names by a class that may inherit it. */
    ClassDesc declares(ClassDesc owner, String field) {
        String name = owner.descriptorString();
        FieldModel f = field(name.substring(1, name.length() - 1), field);
        return f == null ? owner : f.parent().orElseThrow().thisClass().asSymbol();
    }

    /** Returns a field of a class or of a superclass; null if no rewritten class declares it. */
    private FieldModel field(String owner, String field) {
        for (String type = owner; Rewriter.isRewritten(type.replace('/', '.'));) {
            ClassModel c = known.computeIfAbsent(type, t -> ClassFile.of().parse(read.apply(t.replace('/', '.'))));
            for (FieldModel f : c.fields()) {
                if (f.fieldName().equalsString(field)) {
                    return f;
                }
            }
            type = c.superclass().orElseThrow().asInternalName();
        }
        return null;
    }
}
