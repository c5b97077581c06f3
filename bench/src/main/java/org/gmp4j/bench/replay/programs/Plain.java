// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

import org.gmp4j.bench.replay.Case;
import org.gmp4j.context.Context;
import org.gmp4j.context.ContextException;

/** A case of lanes without a scheduler, as one function that adds the lanes and says what must hold at the end. */
final class Plain extends Case {
    private final Consumer<Plain> body;
    private Runnable atEnd = () -> { };
    private List<String> resting = List.of();
    private final AtomicInteger cancelled = new AtomicInteger();

    Plain(Consumer<Plain> body) {
        this.body = body;
    }

    @Override
    protected void begin() {
        body.accept(this);
    }

    @Override
    protected boolean mayRest(String lane) {
        return lane.equals("timers") || resting.contains(lane);
    }

    @Override
    protected void end() {
        atEnd.run();
    }

    /** Adds {@code n} lanes, which know their numbers from 0 on. */
    void lanes(int n, String name, IntConsumer each) {
        for (int i = 0; i < n; i++) {
            int k = i;
            lane(name + k, () -> each.accept(k));
        }
    }

    /** Adds a check of the end. */
    void end(Runnable check) {
        atEnd = check;
    }

    /** Allows lanes to be asleep for ever at the end. */
    void rests(String... lanes) {
        resting = List.of(lanes);
    }

    /** Adds a lane that cancels a context, which this returns. */
    Context cancelled() {
        Context ctx = Context.background().withCancel();
        lane("cancels", ctx::cancel);
        return ctx;
    }

    /** Runs a wait that a context may end, and counts it then. Returns whether it did not. */
    boolean unlessCancelled(Runnable wait) {
        try {
            wait.run();
            return true;
        } catch (ContextException e) {
            cancelled.incrementAndGet();
            return false;
        }
    }

    /** Returns how many waits a context has ended. */
    int cancelledCount() {
        return cancelled.get();
    }

    /** Returns whether a call is refused as misuse. */
    static boolean isRefused(Runnable misuse) {
        try {
            misuse.run();
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }
}
