// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.time.Duration;
import java.util.function.Consumer;

import org.gmp4j.Go;

/** A case with a real scheduler, as one function that starts goroutines and adds lanes. */
final class Loop extends OfLoop {
    private final int procs;
    private final int parts;
    private final Consumer<Loop> body;
    private Runnable atEnd = () -> { };
    private Runnable atSteps = () -> { };
    private int mostMs = Integer.MAX_VALUE;

    /** @param parts how often {@link #done} must have been called at the end */
    Loop(int procs, int parts, Consumer<Loop> body) {
        this.procs = procs;
        this.parts = parts;
        this.body = body;
    }

    @Override
    protected void begin() {
        start(procs);
        body.accept(this);
    }

    @Override
    protected void end() {
        super.end();
        check(doneCount() == parts, "of " + parts + " parts " + doneCount() + " were done");
        int ms = count("M");
        check(ms <= mostMs, ms + " Ms were made for " + procs + " Ps, though no goroutine blocks");
        atEnd.run();
    }

    @Override
    protected void watch() {
        atSteps.run();
    }

    /** Adds a check of each step, for a program that is watching. */
    void watch(Runnable check) {
        atSteps = check;
    }

    /** Adds a check of the end. */
    void end(Runnable check) {
        atEnd = check;
    }

    /**
     * Says that no goroutine blocks, no timer is set and the world is not stopped: then each M has a P or is on the idle list, and as many
     * Ms as Ps are enough.
     */
    Loop withoutBlocking() {
        mostMs = procs;
        return this;
    }

    /** Runs a call in which the goroutine has no P. */
    static void blocking(Runnable call) {
        try {
            Integer _ = Go.blocking(() -> {
                call.run();
                return 0;
            });
        } catch (Exception e) {
            failed(e);
        }
    }

    /** Sleeps, on a goroutine. */
    static void sleep(long nanos) {
        Go.sleep(Duration.ofNanos(nanos));
    }

    /**
     * Starts a goroutine and yields to it. On one P it has run until it waits, or to its end, when this returns: the caller is behind it in
     * the queue.
     */
    static void runs(Runnable fn) {
        Go.go(fn);
        Go.gosched();
    }
}
