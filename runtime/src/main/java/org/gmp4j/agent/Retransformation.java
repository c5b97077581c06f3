// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the JVM transform loaded classes again, as many as possible in one pause. If the JVM cannot transform one of them, it changes none;
 * then each half is tried separately.
 */
final class Retransformation {
    private Retransformation() {
    }

    /** Transforms the classes again. Returns the classes that fail, normally none; {@link LeftAlone#FAILED} counts them. */
    static List<Class<?>> of(Instrumentation instrumentation, List<Class<?>> classes) {
        if (classes.isEmpty() || transformed(instrumentation, classes)) {
            return List.of();
        }
        if (classes.size() == 1) {
            LeftAlone.FAILED.count();
            return classes;
        }
        int half = classes.size() / 2;
        List<Class<?>> failed = new ArrayList<>(of(instrumentation, classes.subList(0, half)));
        failed.addAll(of(instrumentation, classes.subList(half, classes.size())));
        return failed;
    }

    private static boolean transformed(Instrumentation instrumentation, List<Class<?>> classes) {
        try {
            instrumentation.retransformClasses(classes.toArray(new Class<?>[0]));
            return true;
        } catch (UnmodifiableClassException | LinkageError | InternalError e) {
            return false; // The result of another transformer is no valid class, or the JVM does not allow the change.
        }
    }
}
