// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.util.concurrent.atomic.LongAdder;

/**
 * Why a class or a method got no preemption points. A goroutine that runs it is stopped at the next runtime call or by the
 * retake of its P.
 */
public enum LeftAlone {
    /** A class of the JDK, of another agent or of gmp4j, one that keeps state in the native thread, or one that a pattern excludes. */
    EXCLUDED,
    /** A class whose loader does not let it see what a point is linked through. */
    UNSEEN,
    /** A class in which nothing loops or calls itself. */
    NO_LOOPS,
    /** A class that has points: put in before the program ran, or by another agent of ours. */
    HAS_POINTS,
    /** A class file older than Java 7's: it cannot hold an {@code invokedynamic}. */
    OLD_CLASS_FILE,
    /** A class file of a version or a shape that we do not know. */
    UNKNOWN_FORMAT,
    /** A class in whose constant pool there is no room for what the points need. */
    CONSTANT_POOL_FULL,
    /** A class that could not be rewritten: its file is broken, or this is a fault of ours. */
    FAILED,
    /** A method: the class initialiser. A goroutine inside one cannot leave its thread. */
    CLASS_INITIALIZER,
    /** A method: a jump of it would pass 32 KB. */
    METHOD_TOO_LONG,
    /** A method: it would grow past what the JIT agrees to compile. */
    JIT_LIMIT;

    private final LongAdder count = new LongAdder();

    void count() {
        count.increment();
    }

    /** How many classes or methods were left alone for this reason so far. */
    public long counted() {
        return count.sum();
    }
}
