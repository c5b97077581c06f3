// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import org.gmp4j.Go;
import org.gmp4j.sched.base.Machine;

/**
 * {@code go f()} until f's first instruction. The parent keeps its P busy until f has run, so f must run on another P;
 * a sample in which it did not is left out.
 */
final class Wake implements Runnable {
    private long at;
    private Machine on;
    private volatile long done;

    /** Notes the time: the function that is started. */
    @Override
    public void run() {
        long now = System.nanoTime();
        at = now;
        on = Machine.current();
        done++; // One f at a time.
    }

    /** Takes samples until {@code samples} are complete. Called in a goroutine. */
    void sample(long gapNanos, Samples samples) {
        boolean more = true;
        while (more) {
            Patience.spinFor(gapNanos);
            Machine me = Machine.current();
            long next = done + 1;
            Patience patience = new Patience("f did not start on another P");
            long start = System.nanoTime();
            Go.go(this);
            while (done != next) {
                patience.spin();
            }
            more = on != me && Machine.current() == me
                    ? samples.add(at - start, at)
                    : samples.discard(at, "f ran on its parent's P");
        }
    }
}
