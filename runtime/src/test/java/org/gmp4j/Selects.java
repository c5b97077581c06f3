// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import org.gmp4j.chan.Hchan;
import org.gmp4j.chan.Waiters;
import org.gmp4j.testing.TestGmp;

/** What the tests of {@link Select} share: actions for cases. */
final class Selects {
    static final Runnable NOTHING = () -> { };

    private Selects() {
    }

    static void go(int procs, Runnable body) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.run(body);
        }
    }

    static void ignore(Object unused) {
    }

    static void fail(Object unused) {
        throw new AssertionError("this case cannot go on");
    }

    static void fail() {
        fail(null);
    }

    static void awaitWaiter(Hchan c) {
        while (Waiters.none(c)) {
            Go.gosched();
        }
    }
}
