// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.List;

/** Prints a trace: a column for each lane, a row for each step. */
final class Lanes {
    private static final int HEAD = 12;
    private static final int TAIL = 60;
    private static final int WIDTH = 58;

    private Lanes() {
    }

    /** Returns the text of a run's trace. Of steps of one lane in a row that are many, the first and the last are shown. */
    static String text(Run run) {
        List<Trace.Step> steps = run.trace.steps();
        StringBuilder out = new StringBuilder();
        int from = 0;
        while (from < steps.size()) {
            int to = from;
            while (to < steps.size() && steps.get(to).lane == steps.get(from).lane) {
                to++;
            }
            boolean last = to == steps.size();
            for (int i = from; i < to; i++) {
                int hidden = to - from - HEAD - (last ? TAIL : HEAD);
                if (hidden > 1 && i == from + HEAD) {
                    row(out, run, steps.get(i).lane, "… " + hidden + " more", false);
                    i += hidden - 1;
                } else {
                    row(out, run, steps.get(i).lane, steps.get(i).text(), i == from);
                }
            }
            from = to;
        }
        return out.toString();
    }

    private static void row(StringBuilder out, Run run, int lane, String text, boolean first) {
        String name = run.lanes[lane].name;
        StringBuilder row = new StringBuilder();
        for (int i = 0; i < run.count; i++) {
            row.append(i == lane ? first ? pad(name, 6) : "  |   " : "  .   ");
        }
        out.append(row).append(text.length() > 2 * WIDTH ? text.substring(0, 2 * WIDTH) : text).append('\n');
    }

    private static String pad(String s, int n) {
        return s.length() >= n ? s.substring(0, n - 1) + " " : s + " ".repeat(n - s.length());
    }
}
