// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

/** Runs programs under strategies, and makes a failing schedule shorter. */
final class Engine {
    private static final int SHRINK_RUNS = 4_000;
    private static final int LENGTH_RUNS = 8;

    private Engine() {
    }

    static Run run(Program p, Strategy s) {
        return run(p, s, null);
    }

    static Run run(Program p, Strategy s, Trace trace) {
        Run run = new Run(p, s, trace);
        World.begin(run);
        Trace.now = trace;
        try {
            run.execute();
        } finally {
            Trace.now = null;
            World.end();
        }
        if (run.failure != null && run.failure.cause() instanceof IllegalArgumentException bad && s instanceof Scripted) {
            throw bad;
        }
        return run;
    }

    /** Returns about how many steps a run has. */
    static int length(Program p) {
        int all = 0;
        for (int i = 0; i < LENGTH_RUNS; i++) {
            all += run(p, new RandomWalk(i)).steps;
        }
        return all / LENGTH_RUNS;
    }

    /** Runs a schedule with a trace. */
    static Run repeat(Program p, Schedule schedule, Trace trace) {
        return repeat(p, schedule, trace, false);
    }

    /** @param delays whether stores reach memory when the schedule says so */
    static Run repeat(Program p, Schedule schedule, Trace trace, boolean delays) {
        return run(p, scripted(schedule.parts(), true, delays), trace);
    }

    private static Scripted scripted(int[][] parts, boolean exact, boolean delays) {
        Scripted s = new Scripted(parts, exact);
        s.delays = delays;
        return s;
    }

    /** Returns a schedule with fewer switches that fails for the same reason. */
    static Schedule shrink(Program p, Run failed) {
        Schedule best = new Schedule(failed.schedule());
        int left = SHRINK_RUNS;
        for (boolean better = true; better && left > 0;) {
            better = false;
            int[][] parts = best.parts();
            for (int i = 0; i < parts.length && left > 0 && !better; i++) {
                for (int how = 0; how < 3 && !better; how++) {
                    int[][] tried = changed(parts, i, how);
                    if (tried == null) {
                        continue;
                    }
                    left--;
                    Run r = run(p, scripted(tried, false, failed.delays));
                    Schedule found = new Schedule(r.schedule());
                    if (r.failure != null && r.failure.isLike(failed.failure) && isShorter(found, best)) {
                        best = found;
                        better = true;
                    }
                }
            }
        }
        return best;
    }

    private static boolean isShorter(Schedule a, Schedule b) {
        return a.switches() < b.switches() || a.switches() == b.switches() && a.options().length < b.options().length;
    }

    /** Leaves a part out, lets its lane go on for as long as it can, or begins the next part at once. */
    private static int[][] changed(int[][] parts, int at, int how) {
        if (how == 0) {
            int[][] less = new int[parts.length - 1][];
            System.arraycopy(parts, 0, less, 0, at);
            System.arraycopy(parts, at + 1, less, at, less.length - at);
            return less;
        }
        int[][] same = parts.clone();
        if (how == 1) {
            same[at] = new int[] {parts[at][0], Integer.MAX_VALUE};
            return same;
        }
        if (at + 2 >= parts.length) {
            return null;
        }
        same[at] = parts[at + 1]; // Two parts change places, which may join two of one lane.
        same[at + 1] = parts[at];
        return same;
    }
}
