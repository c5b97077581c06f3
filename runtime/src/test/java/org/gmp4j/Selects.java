// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import org.gmp4j.testing.TestGmp;

/** What the tests of {@link Select} share: actions for cases, and looks into the queues of channels. */
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

    static boolean nobodyWaits(Hchan c) {
        c.lock.lock();
        boolean none = c.recvq.isEmpty() && c.sendq.isEmpty();
        c.lock.unlock();
        return none;
    }

    static void awaitWaiter(Hchan c) {
        while (nobodyWaits(c)) {
            Go.gosched();
        }
    }
}
