// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.util.concurrent.atomic.LongAdder;

/**
 * The reasons why a class or a method got no preemption points. A goroutine that runs it is preempted at its next call of the runtime, or
 * loses its P.
 */
public enum LeftAlone {
    /** A class of the JDK, another agent, gmp4j or a library that keeps state in the native thread, or one that a pattern excludes. */
    EXCLUDED,
    /** A class whose loader hides the classes through which a point is linked. */
    UNSEEN,
    /** A class without loops and without methods that call themselves. */
    NO_LOOPS,
    /** A class that has points already, because it was woven before the program ran, or by another agent of gmp4j. */
    HAS_POINTS,
    /** A class file older than Java 7's, which cannot have an {@code invokedynamic}. */
    OLD_CLASS_FILE,
    /** A class file of an unknown version or form. */
    UNKNOWN_FORMAT,
    /** A class whose constant pool has no room for the constants of points. */
    CONSTANT_POOL_FULL,
    /** A class that could not be rewritten, because its file is broken or because of a bug of gmp4j. */
    FAILED,
    /** The class initialiser, in which a goroutine cannot leave its thread. */
    CLASS_INITIALIZER,
    /** A method that would become longer than 32 KB, the reach of a jump. */
    METHOD_TOO_LONG,
    /** A method that the points would make too long for the JIT. */
    JIT_LIMIT;

    private final LongAdder count = new LongAdder();

    void count() {
        count.increment();
    }

    /** Returns the number of classes or methods without points for this reason so far. */
    public long counted() {
        return count.sum();
    }
}
