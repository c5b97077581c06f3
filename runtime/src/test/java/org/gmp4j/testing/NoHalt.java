// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.lang.reflect.Method;

import org.gmp4j.struct.Throw;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** For tests that provoke a throw on their own thread: it is an ordinary error there, and does not halt the JVM. */
public final class NoHalt implements BeforeEachCallback, AfterEachCallback {
    @Override
    public void beforeEach(ExtensionContext context) {
        Throw.setHook(t -> { });
    }

    /** As {@code Fatal.install} has it: a corrupt scheduler in any other test ends the run. */
    @Override
    public void afterEach(ExtensionContext context) throws ReflectiveOperationException {
        Method thrown = Class.forName("org.gmp4j.report.Fatal").getDeclaredMethod("thrown", Throw.class);
        thrown.setAccessible(true);
        Throw.setHook(t -> {
            try {
                thrown.invoke(null, t);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        });
    }
}
