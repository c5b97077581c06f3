// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;

/**
 * The floor of every switch of goroutines: two bare continuations of the JDK run in turns, freeze and thaw and nothing else,
 * no thread, no status, no queue. Of one thread at a time.
 */
final class BareSwitch {
    private static final ContinuationScope SCOPE = new ContinuationScope("BareSwitch");

    private final Continuation[] both = {new Continuation(SCOPE, BareSwitch::yieldAlways),
        new Continuation(SCOPE, BareSwitch::yieldAlways)};

    private static void yieldAlways() {
        boolean on = true;
        while (on) {
            on = Continuation.yield(SCOPE);
        }
    }

    /** So many switches. */
    void run(int switches) {
        for (int i = 0; i < switches; i++) {
            both[i & 1].run();
        }
    }
}
