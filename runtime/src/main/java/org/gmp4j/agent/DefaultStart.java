// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import org.jspecify.annotations.Nullable;

/** Makes all virtual threads goroutines if a property or a variable asks for that, for programs that make no {@code Gmp} themselves. */
public final class DefaultStart {
    /** The class that sets {@link #runtime} when it is initialised. It is named here, because this package must not depend on it. */
    private static final String RUNTIME = "org.gmp4j.AgentRuntime";

    private static @Nullable Runtime runtime;

    private DefaultStart() {
    }

    /** The part of the runtime that the agent starts. This package may be loaded without it. */
    public interface Runtime {
        /** Returns in one sentence why the scheduler cannot run in this JVM; null when it can. */
        @Nullable String unsupported();

        /**
         * Makes the default scheduler, if a setting asks for it and it does not exist.
         *
         * @throws IllegalArgumentException with one sentence about a bad setting
         * @throws IllegalStateException with one sentence, when the scheduler cannot run in this JVM
         */
        void makeDefault();
    }

    /** Sets the runtime. Its initialiser calls this. */
    public static void use(Runtime r) {
        runtime = r;
    }

    /** Calls {@link Runtime#makeDefault} if the property or the variable is set. Throws its exceptions. */
    static void ifAsked() {
        if (isAsked()) {
            try {
                runtime().makeDefault();
            } catch (OutOfMemoryError e) {
                throw noMemory(e);
            }
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
        String problem;
        try {
            problem = runtime().unsupported();
        } catch (OutOfMemoryError e) {
            throw noMemory(e);
        }
        if (problem != null) {
            throw new IllegalStateException(problem);
        }
    }

    private static IllegalStateException noMemory(OutOfMemoryError e) {
        return new IllegalStateException("gmp4j cannot start its scheduler: " + e.getMessage(), e);
    }

    private static Runtime runtime() {
        try {
            Class<?> _ = Class.forName(RUNTIME); // Its initialiser calls use.
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("gmp4j finds no runtime beside its agent: " + e.getMessage(), e);
        }
        Runtime given = runtime;
        if (given == null) {
            throw new IllegalStateException("gmp4j's runtime is not of the version of its agent: use both from one gmp4j");
        }
        return given;
    }
}
