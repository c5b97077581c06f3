// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import jdk.internal.vm.Continuation;
import org.jspecify.annotations.Nullable;

/**
 * Operations on a {@code Continuation} for {@link JdkThreads}, which replace the methods of {@code Continuation}. {@link JdkMembers} writes
 * the implementation.
 */
abstract class SwitchCalls {
    /** The only object of the implementation, whose initialiser stores it here. */
    @SuppressWarnings("NullAway.Init")
    static SwitchCalls made;

    /** Runs a continuation that has never run, until it yields or ends. */
    abstract void start(Continuation c);

    /** Runs a continuation that has yielded, until it yields again or ends. */
    abstract void resume(Continuation c);

    /** Returns the innermost continuation in which the caller runs, or null for none. */
    abstract @Nullable Continuation innermost();

    /** Yields from the innermost continuation. Returns 0 after it was resumed, and another value when it could not yield. */
    abstract int yield();
}
