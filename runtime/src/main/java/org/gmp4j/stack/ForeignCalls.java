// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * What the JDK's foreign memory and its linker come to in the end, for what starting needs of them; implemented by {@link
 * JdkForeign} where it can be. On their own way there they have the JVM generate some thirty classes.
 */
abstract class ForeignCalls {
    /** The implementation's one object, which its initialiser puts here. */
    @SuppressWarnings("NullAway.Init")
    static ForeignCalls made;

    /** Calls a C function without arguments that returns at once, without a transition of the thread's state. */
    abstract long leaf(long function);

    /** The handle of a layout, as {@link ValueLayout#varHandle} has it. */
    abstract VarHandle handle(Class<?> carrier, ValueLayout layout, long mask, ByteOrder order);
}
