// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.reflect.AccessFlag;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** The volatile fields of rewritten classes, which a class may access that is not their own. */
final class Volatiles {
    private final Function<String, byte[]> read;
    private final Map<String, ClassModel> known = new HashMap<>();

    /** @param read returns the bytes of a class by its name */
    Volatiles(Function<String, byte[]> read) {
        this.read = read;
    }

    boolean isVolatile(String owner, String field) {
        for (String type = owner; Rewriter.isRewritten(type.replace('/', '.'));) {
            ClassModel c = known.computeIfAbsent(type, t -> ClassFile.of().parse(read.apply(t.replace('/', '.'))));
            for (FieldModel f : c.fields()) {
                if (f.fieldName().equalsString(field)) {
                    return f.flags().has(AccessFlag.VOLATILE);
                }
            }
            type = c.superclass().orElseThrow().asInternalName();
        }
        return false;
    }
}
