// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** A call that blocks its thread in the kernel. */
@SuppressWarnings("restricted")
public final class Native {
    private static final MethodHandle USLEEP = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().find("usleep").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    private Native() {
    }

    /** Goes on where a signal interrupted it, as a careful caller does. */
    public static void usleep(int micros) {
        long end = System.nanoTime() + micros * 1000L;
        try {
            for (long left = micros; left > 0; left = (end - System.nanoTime()) / 1000) {
                int _ = (int) USLEEP.invokeExact((int) left);
            }
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }
}
