// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.struct.GStatus;

/**
 * A send on an unbuffered channel until the receiver, which was parked in its receive on another P, has the value. The
 * sender keeps its P busy, so the receiver must run on another; a sample in which it did not is left out.
 */
final class Handoff {
    private static final Object TOKEN = new Object();

    private final Chan<Object> ch = Chan.make();
    private volatile long receiver;
    private long at;
    private Machine on;
    private volatile long received;

    /** Starts the receiver and sends until {@code samples} are complete. Called in a goroutine. */
    void sample(long gapNanos, Samples samples) {
        Go.go(this::receive);
        Patience patience = new Patience("the receiver did not start on another P");
        while (receiver == 0) {
            patience.spin();
        }
        boolean more = true;
        while (more) {
            patience = new Patience("the receiver did not park");
            while (GStatus.readgstatus(receiver) != GStatus.GWAITING) {
                patience.spin();
            }
            Patience.spinFor(gapNanos);
            Machine me = Machine.current();
            long next = received + 1;
            patience = new Patience("the receiver did not run on another P");
            long start = System.nanoTime();
            ch.send(TOKEN);
            while (received != next) {
                patience.spin();
            }
            more = on != me && Machine.current() == me
                    ? samples.add(at - start, at)
                    : samples.discard(at, "the receiver ran on the sender's P");
        }
        ch.close();
    }

    private void receive() {
        receiver = GStack.current().gp();
        while (ch.recv() != null) {
            long now = System.nanoTime();
            at = now;
            on = Machine.current();
            received++; // The only writer.
        }
    }
}
