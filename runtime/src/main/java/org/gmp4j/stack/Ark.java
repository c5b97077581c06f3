// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.reflect.Constructor;

/**
 * Holds an object so that the collector clears weak references to whatever is reachable through this alone, and keeps it all the same: a
 * {@code java.lang.ref.FinalReference}, the kind by which the JDK finalizes objects. Collectors clear weak references first, then look at
 * these, and what they refer to lives on. It does not depend on finalization, which may be off. Thread-safe.
 */
public final class Ark {
    private static final Constructor<?> MAKE;
    private static final long REFERENT;

    static {
        try {
            JdkThreads.openToUs("java.lang.ref");
            Class<?> type = Class.forName("java.lang.ref.FinalReference");
            MAKE = type.getDeclaredConstructor(Object.class, ReferenceQueue.class);
            MAKE.setAccessible(true);
            REFERENT = JdkThreads.offset(Reference.class.getDeclaredField("referent"));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("gmp4j does not know this build of the JDK: " + e.getMessage() + " is missing", e);
        }
    }

    private final Object reference;

    /** Holds {@code o}; the caller forgets it. */
    public Ark(Object o) {
        try {
            reference = MAKE.newInstance(o, null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What it holds; not while a collection is under way that it was made for. */
    public Object get() {
        return JdkThreads.get(reference, REFERENT); // The class's own get refuses.
    }
}
