// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.time.Duration;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;

import org.gmp4j.report.Traceback;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;

/**
 * Records the goroutines that exist when the check is made. Later a test can ask the check for newer goroutines that have not ended. Such a
 * goroutine counts as left even if another goroutine could still wake it. ({@code Gmp.leaks()} returns only goroutines that no live object
 * can wake.) Immutable.
 *
 * {@snippet :
 * LeakCheck before = gmp.leakCheck();
 * gmp.run(() -> client.fetch());
 * before.assertNoLeaks(Duration.ofSeconds(5));
 * }
 *
 * <p>Source: the idea of {@code go.uber.org/goleak}.
 */
public final class LeakCheck {
    private static final long LONGEST_NAP_MILLIS = 20;

    private final Scheduler s;
    private final Set<Long> before = new HashSet<>();

    /** Records the goroutines of a scheduler. Users call {@code Gmp.leakCheck()}. */
    @SuppressWarnings("exports")
    public LeakCheck(Scheduler s) {
        this.s = s;
        Traceback.numbers(s, before::add);
    }

    /** Returns the goroutines that were started after this check was made and have not ended, except the caller. */
    public GoroutineProfile left() {
        long self = self();
        return GoroutineProfile.of(s, goid -> isLeft(goid, self));
    }

    private boolean isLeft(long goid, long self) {
        return goid != self && !before.contains(goid);
    }

    private static long self() {
        GStack st = GStack.current();
        return st == null ? 0 : G.GOID.get(st.gp());
    }

    /**
     * Waits until all goroutines that were started after this check was made have ended, except the caller.
     *
     * <p>Any thread may wait. An interrupt ends the wait. The machine's clock measures the wait, also in a bubble.
     *
     * @param grace the longest wait; zero or less to check once
     * @throws AssertionError when some are left after the wait; the message has their states and stacks
     * @throws InterruptedException when the caller is interrupted
     */
    public void assertNoLeaks(Duration grace) throws InterruptedException {
        Objects.requireNonNull(grace, "grace");
        long began = System.nanoTime();
        for (long nap = 1; anyLeft(); nap = Math.min(2 * nap, LONGEST_NAP_MILLIS)) {
            if (Duration.ofNanos(System.nanoTime() - began).compareTo(grace) >= 0) {
                GoroutineProfile left = left();
                if (left.total() == 0) {
                    return; // The last goroutine has just ended.
                }
                throw new AssertionError("goroutines are left\n" + left);
            }
            Thread.sleep(nap);
        }
    }

    private boolean anyLeft() {
        long self = self();
        boolean[] any = new boolean[1];
        Traceback.numbers(s, goid -> any[0] |= isLeft(goid, self));
        return any[0];
    }
}
