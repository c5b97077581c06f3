// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.weave;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.attribute.ModuleHashesAttribute;

import org.jspecify.annotations.Nullable;

/** The hashes of other modules in a module's descriptor, which {@code jar --hash-modules} and {@code jmod} put there. */
final class ModuleHashes {
    private ModuleHashes() {
    }

    /** The descriptor without them; null when it has none. */
    static byte @Nullable [] drop(byte[] moduleInfo) {
        ClassFile files = ClassFile.of();
        ClassModel module;
        try {
            module = files.parse(moduleInfo);
            if (module.elementStream().noneMatch(ModuleHashesAttribute.class::isInstance)) {
                return null;
            }
        } catch (IllegalArgumentException e) {
            return null; // No class file that we know.
        }
        return files.transformClass(module, (b, e) -> {
            if (!(e instanceof ModuleHashesAttribute)) {
                b.with(e);
            }
        });
    }
}
