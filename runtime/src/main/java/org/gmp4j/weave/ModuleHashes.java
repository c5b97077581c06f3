// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.weave;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.attribute.ModuleHashesAttribute;

import org.jspecify.annotations.Nullable;

/** Removes from a module's descriptor the hashes of other modules, which {@code jar --hash-modules} and {@code jmod} put there. */
final class ModuleHashes {
    private ModuleHashes() {
    }

    /** Returns the descriptor without the hashes, or null if it has no hashes or its format is not known. */
    static byte @Nullable [] drop(byte[] moduleInfo) {
        ClassFile files = ClassFile.of();
        ClassModel module;
        try {
            module = files.parse(moduleInfo);
            if (module.elementStream().noneMatch(ModuleHashesAttribute.class::isInstance)) {
                return null;
            }
        } catch (IllegalArgumentException e) {
            return null; // This is not a class file of a known format.
        }
        return files.transformClass(module, (b, e) -> {
            if (!(e instanceof ModuleHashesAttribute)) {
                b.with(e);
            }
        });
    }
}
