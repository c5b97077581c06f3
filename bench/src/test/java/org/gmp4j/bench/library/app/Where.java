// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library.app;

/** Looks at the thread that it is called on. */
final class Where {
    private Where() {
    }

    /** Whether the thread is virtual, and a goroutine, where there are any: the services are not linked against gmp4j. */
    static String am() {
        boolean goroutine;
        try {
            goroutine = (boolean) Class.forName("org.gmp4j.Go").getMethod("inGoroutine").invoke(null);
        } catch (ClassNotFoundException e) {
            goroutine = false;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        return "virtual " + Thread.currentThread().isVirtual() + ", goroutine " + goroutine;
    }
}
