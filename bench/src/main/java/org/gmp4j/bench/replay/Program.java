// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.function.Supplier;

/**
 * A small concurrent program over production classes.
 *
 * @param name its name
 * @param group the part of the scheduler that it is about
 * @param what what it does and what must hold
 * @param maker makes it for one run
 * @param steps the most steps of a run
 * @param small whether the exhaustive search covers it wholly in a short time
 * @param plain whether plain accesses to off-heap words are points too; without them the schedules of a long program are shorter
 * @param watched whether {@link Case#watch} is called at each point
 * @param earlyTimeouts how many sleeps of a run may end by their limits while another lane could go on
 * @param spuriousWakes how many sleeps of a run may end without a reason
 * @param failedStarts how many starts of threads of a run may fail
 */
public record Program(String name, String group, String what, Supplier<Case> maker, int steps, boolean small, boolean plain,
        boolean watched, int earlyTimeouts, int spuriousWakes, int failedStarts) {
    private static final int STEPS = 2_000;
    private static final int LONG = 20_000;

    /** Refuses an exhaustive search of a program that is watched. */
    public Program {
        if (small && watched) {
            throw new IllegalArgumentException(name + " is watched at each step, and an exhaustive search leaves steps out");
        }
    }

    /** Makes a program that is too large for an exhaustive search. */
    public static Program of(String name, String group, String what, Supplier<Case> maker) {
        return new Program(name, group, what, maker, STEPS, false, true, false, 0, 0, 0);
    }

    /** Makes a program of the whole loop: many steps, and no points at plain accesses. */
    public static Program ofLoop(String name, String what, Supplier<Case> maker) {
        return new Program(name, "loop", what, maker, LONG, false, false, false, 2, 1, 0);
    }

    /** Returns whether all its schedules are run unless a strategy is named: an exhaustive search of the group "covered" takes long. */
    public boolean isQuick() {
        return small && !group.equals("covered");
    }

    /** Returns the program in another group. */
    public Program in(String other) {
        return new Program(name, other, what, maker, steps, small, plain, watched, earlyTimeouts, spuriousWakes, failedStarts);
    }

    /** Returns the program with an exhaustive search. */
    public Program covered() {
        return new Program(name, group, what, maker, steps, true, plain, watched, earlyTimeouts, spuriousWakes, failedStarts);
    }

    /** Returns the program with {@link Case#watch}. */
    public Program watching() {
        return new Program(name, group, what, maker, steps, small, plain, true, earlyTimeouts, spuriousWakes, failedStarts);
    }

    /** Returns the program with sleeps that end early or without a reason. */
    public Program waking(int timeouts, int spurious) {
        return new Program(name, group, what, maker, steps, small, plain, watched, timeouts, spurious, failedStarts);
    }

    /** Returns the program with starts of threads that fail. */
    public Program failingStarts(int n) {
        return new Program(name, group, what, maker, steps, small, plain, watched, earlyTimeouts, spuriousWakes, n);
    }

    Case make() {
        return maker.get();
    }
}
