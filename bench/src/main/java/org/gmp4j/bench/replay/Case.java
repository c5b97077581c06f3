// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.concurrent.atomic.AtomicInteger;

/** A program in one run. Its lanes are added in {@link #begin}, in which there are no points. */
public abstract class Case {
    /** The word, of no memory, on which lanes sleep that take no step any more. */
    static final long STAYS = Long.MIN_VALUE / 4;

    /** How many parts were done. Its accesses are points. */
    public final AtomicInteger done = new AtomicInteger();
    Run run;

    /** Makes the case of one run. */
    protected Case() {
        Digest.made(done);
    }

    /** Sets the program up and adds its lanes. */
    protected abstract void begin();

    /** Checks what must hold when no lane can go on. Throws an {@link AssertionError} with one line if it does not. */
    protected abstract void end();

    /** Checks what must hold before each step. */
    protected void watch() {
    }

    /** Returns whether a lane may be asleep for ever at the end. */
    protected boolean mayRest(String lane) {
        return false;
    }

    /** Adds a lane that is no M. */
    public final void lane(String name, Runnable body) {
        Lane _ = run.add(name, World.plainThread(run.count), body);
    }

    /** Returns how many lanes there are whose names begin so, ended ones too. */
    public final int count(String beginning) {
        World.asks();
        int n = 0;
        for (int i = 0; i < run.count; i++) {
            n += run.lanes[i].name.startsWith(beginning) ? 1 : 0;
        }
        Digest.reads(n);
        return n;
    }

    /** Returns how many lanes have not ended whose names begin so. */
    public final int living(String beginning) {
        World.asks();
        int n = 0;
        for (int i = 0; i < run.count; i++) {
            n += run.lanes[i].name.startsWith(beginning) && run.lanes[i].state != Lane.State.ENDED ? 1 : 0;
        }
        Digest.reads(n);
        return n;
    }

    /** Returns whether a lane sleeps. */
    public final boolean isAsleep(String lane) {
        World.asks();
        for (int i = 0; i < run.count; i++) {
            if (run.lanes[i].name.equals(lane)) {
                boolean asleep = run.lanes[i].state == Lane.State.ASLEEP;
                Digest.reads(asleep ? 1 : 0);
                return asleep;
            }
        }
        Digest.reads(0);
        return false;
    }

    /** Returns the simulated time. */
    public final long now() {
        Digest.reads(run.now);
        return run.now;
    }

    /** Says that a goroutine or a thread has done its part. */
    public final void done() {
        World.writes(done, Sites.PARTS);
        Digest.reads(done.incrementAndGet());
        Digest.changed(done, done);
    }

    /** Returns how often {@link #done} was called. */
    public final int doneCount() {
        World.reads(done, Sites.PARTS);
        int n = done.get();
        Digest.reads(n);
        return n;
    }

    /** Runs on, without a call of the runtime, until {@link #done} was called {@code n} times. */
    public final void until(int n) {
        while (doneCount() < n) {
            World.pause();
        }
    }

    /**
     * Does a part and runs on, without a call of the runtime, until {@code n} parts are done. So each goroutine needs a P at the same time,
     * and none may be left in a queue while a P is idle, as no M would look there later.
     */
    public final void meet(int n) {
        done();
        until(n);
    }

    /** Runs on, without a call of the runtime, for {@code n} pauses of a spin. */
    public static void spin(int n) {
        for (int i = 0; i < n; i++) {
            World.pause();
        }
    }

    /** Lets the lane that runs take no step any more. */
    public final void stay() {
        while (true) {
            int _ = run.sleep(STAYS, -1);
        }
    }

    /** Ends the run, as the process would end. The caller goes on to its next access. */
    public final void exit() {
        run.over = true;
    }

    /** Ends the run with a failure, for code whose exceptions others catch. */
    public static void failed(Throwable t) {
        World.failed(t);
    }

    /** Throws an error with that line if {@code holds} is false. */
    public static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
