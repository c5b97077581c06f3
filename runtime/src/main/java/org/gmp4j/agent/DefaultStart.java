// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.reflect.InvocationTargetException;

import org.jspecify.annotations.Nullable;

/** Makes all virtual threads goroutines if a property or a variable asks for that, for programs that make no {@code Gmp} themselves. */
final class DefaultStart {
    private DefaultStart() {
    }

    /**
     * Makes the default scheduler, if a setting asks for it and it does not exist.
     *
     * @throws IllegalArgumentException with one sentence about a bad setting
     * @throws IllegalStateException with one sentence, when the scheduler cannot run in this JVM
     */
    static void ifAsked() {
        if (isAsked()) {
            Object _ = call("builder"); // It makes the default scheduler if the setting is on.
        }
    }

    /** Returns whether the property or the variable is set. */
    static boolean isAsked() {
        return isSet(System.getProperty("gmp.default")) || isSet(System.getenv("GMP_DEFAULT"));
    }

    private static boolean isSet(String value) {
        return value != null && !value.isBlank();
    }

    /**
     * Checks that the scheduler can run here. Called before points are added and properties are set.
     *
     * @throws IllegalStateException with one sentence, when the scheduler cannot run here
     */
    static void check() {
        if (call("unsupported") instanceof String problem) {
            throw new IllegalStateException(problem);
        }
    }

    /**
     * Calls a method of the runtime by name, because this package must not depend on the runtime's packages, and may be loaded without the
     * runtime.
     */
    private static @Nullable Object call(String method) {
        try {
            return Class.forName("org.gmp4j.Gmp").getMethod(method).invoke(null);
        } catch (InvocationTargetException e) {
            switch (e.getCause()) {
                case RuntimeException r -> throw r;
                case OutOfMemoryError none ->
                        throw new IllegalStateException("gmp4j cannot start its scheduler: " + none.getMessage(), none);
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(e.getCause());
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("gmp4j finds no runtime beside its agent: " + e.getMessage(), e);
        }
    }
}
