// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.reflect.Constructor;

/**
 * Holds an object so that the collector clears weak references to all objects that are reachable only through this holder, and yet keeps
 * these objects. It uses a {@code java.lang.ref.FinalReference}, the class with which the JDK finalizes objects. Collectors clear weak
 * references first. Then they process final references, and keep all objects that are reachable from them. This does not depend on
 * finalization, which may be off. Thread-safe.
 */
public final class FinalReferenceHolder {
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

    /** Holds {@code o}. The caller must keep no other reference to it. */
    public FinalReferenceHolder(Object o) {
        try {
            reference = MAKE.newInstance(o, null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the object. Must not be called during the collection for which this holder was made. */
    public Object get() {
        return JdkThreads.get(reference, REFERENT); // FinalReference.get throws.
    }
}
