// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.util.ArrayList;
import java.util.List;

/**
 * Has the JVM transform loaded classes again, all in one pause. If a class among them cannot be, the JVM changes none; then they are
 * transformed one by one.
 */
final class Retransformation {
    private Retransformation() {
    }

    /** Returns the classes that could not be transformed, which {@link LeftAlone#FAILED} counts; none as a rule. */
    static List<Class<?>> of(Instrumentation instrumentation, List<Class<?>> classes) {
        List<Class<?>> failed = new ArrayList<>();
        if (!transformed(instrumentation, classes)) {
            for (Class<?> c : classes) {
                if (classes.size() == 1 || !transformed(instrumentation, List.of(c))) {
                    LeftAlone.FAILED.count();
                    failed.add(c);
                }
            }
        }
        return failed;
    }

    private static boolean transformed(Instrumentation instrumentation, List<Class<?>> classes) {
        try {
            instrumentation.retransformClasses(classes.toArray(new Class<?>[0]));
            return true;
        } catch (UnmodifiableClassException | LinkageError | InternalError e) {
            return false; // What another transformer makes of it is no class, or the JVM does not allow the change.
        }
    }
}
