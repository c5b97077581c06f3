// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.boot;

import org.gmp4j.ffi.Native;
import org.gmp4j.ffi.Shims;
import org.gmp4j.stack.JdkThreads;
import org.jspecify.annotations.Nullable;

/** Checks whether goroutines can run in this JVM: whether the JDK, its flags, the system and the jars are as the runtime needs them. */
public final class Support {
    private Support() {
    }

    /** Returns in one sentence why goroutines cannot run here; null when they can. */
    public static @Nullable String problem() {
        try {
            check();
            return null;
        } catch (IllegalStateException e) {
            return e.getMessage();
        } catch (RuntimeException | LinkageError e) {
            return "gmp4j cannot run in this JVM: " + e;
        }
    }

    /**
     * Checks that goroutines can run here.
     *
     * @throws IllegalStateException with one sentence, when goroutines cannot run here
     */
    public static void check() {
        JdkThreads.check();
        try {
            Native _ = Native.given();
            Shims.load();
        } catch (NoClassDefFoundError e) {
            if (String.valueOf(e.getMessage()).startsWith("Could not initialize class")) { // Its initialiser has failed.
                String why = e.getCause() == null ? "" : ": " + e.getCause();
                throw new IllegalStateException("gmp4j cannot run in this JVM: " + e + why, e);
            }
            throw new IllegalStateException("gmp4j finds no class " + String.valueOf(e.getMessage()).replace('/', '.') + ": put the jar "
                    + "gmp4j-native-bindings beside gmp4j-runtime, under the name that Maven gave it, or on the class path", e);
        }
    }
}
