// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import jdk.internal.vm.Continuation;
import org.jspecify.annotations.Nullable;

/** What {@link JdkThreads} does with a {@code Continuation} in another way than that itself; implemented by {@link JdkMembers}. */
abstract class SwitchCalls {
    /** The implementation's one object, which its initialiser puts here. */
    @SuppressWarnings("NullAway.Init")
    static SwitchCalls made;

    /** Runs one that never ran until it yields or ends. */
    abstract void start(Continuation c);

    /** The same of one that has yielded. */
    abstract void resume(Continuation c);

    /** The one that the calling code is in, or null. */
    abstract @Nullable Continuation innermost();

    /** Leaves it. 0 when it was resumed; else it could not leave. */
    abstract int yield();
}
