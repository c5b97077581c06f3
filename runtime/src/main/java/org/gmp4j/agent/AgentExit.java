// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandle;

/** Ends a JVM whose agent cannot start. {@link Agent} calls this class by name, because an older Java cannot load it. */
final class AgentExit {
    private AgentExit() {
    }

    /**
     * Ends the process by libc's {@code _exit}. From JDK 26 on {@code System.exit} and {@code Runtime.halt} wait up to a minute for the
     * calls that the JVM has made to agents, and {@code premain} is such a call. No shutdown hook has to run, because the program has not
     * begun.
     *
     * @throws Throwable if the function cannot be called; the caller then uses {@code System.exit}
     */
    @SuppressWarnings("restricted")
    static void now(int status, Instrumentation instrumentation) throws Throwable {
        AgentStart.open(instrumentation);
        Linker linker = Linker.nativeLinker();
        MethodHandle exit = linker.downcallHandle(linker.defaultLookup().findOrThrow("_exit"),
                FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT));
        exit.invokeExact(status);
    }
}
