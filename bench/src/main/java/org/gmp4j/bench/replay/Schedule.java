// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.Arrays;

/**
 * A schedule: which lane takes each step. As text it is the lanes' numbers with how many steps each takes in a row: {@code 0x12 1x3 0}.
 * A {@code t} behind the number of a lane says that its sleep reaches its limit, a {@code w} that it is woken without a reason, an
 * {@code f} that its start of a thread fails, an {@code s} that a store of it reaches memory.
 *
 * @param options the options as {@link Run} numbers them
 */
record Schedule(int[] options) {
    private static final String KINDS = " twfs";

    /**
     * Parses a text.
     *
     * @throws IllegalArgumentException with one sentence if it is no schedule
     */
    static Schedule parse(String text) {
        int[] all = new int[64];
        int n = 0;
        for (String word : text.strip().split("[\\s,]+")) {
            if (!word.matches("[0-9]{1,2}[twfs]?(x[0-9]{1,6})?")) {
                throw new IllegalArgumentException("\"" + word + "\" is no part of a schedule: use 0x12 for twelve steps of lane 0");
            }
            String[] parts = word.split("x");
            int kind = Math.max(0, KINDS.indexOf(parts[0].charAt(parts[0].length() - 1)));
            int lane = Integer.parseInt(kind == 0 ? parts[0] : parts[0].substring(0, parts[0].length() - 1));
            int times = parts.length == 1 ? 1 : Integer.parseInt(parts[1]);
            if (lane >= Run.MOST) {
                throw new IllegalArgumentException("\"" + word + "\" names a lane that no program has: use 0 to " + (Run.MOST - 1));
            }
            while (n + times > all.length) {
                all = Arrays.copyOf(all, all.length * 2);
            }
            Arrays.fill(all, n, n + times, Run.option(lane, kind));
            n += times;
        }
        return new Schedule(Arrays.copyOf(all, n));
    }

    /** Returns how often another lane goes on. */
    int switches() {
        int n = 0;
        for (int i = 1; i < options.length; i++) {
            n += Run.lane(options[i]) == Run.lane(options[i - 1]) ? 0 : 1;
        }
        return n;
    }

    /** Returns the parts of equal options, each as the option and its count. */
    int[][] parts() {
        int[][] parts = new int[options.length][];
        int n = 0;
        for (int o : options) {
            if (n > 0 && parts[n - 1][0] == o) {
                parts[n - 1][1]++;
            } else {
                parts[n++] = new int[] {o, 1};
            }
        }
        return Arrays.copyOf(parts, n);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (int[] part : parts()) {
            text.append(text.isEmpty() ? "" : " ").append(Run.lane(part[0]));
            if (Run.kind(part[0]) != Run.GO) {
                text.append(KINDS.charAt(Run.kind(part[0])));
            }
            if (part[1] > 1) {
                text.append('x').append(part[1]);
            }
        }
        return text.toString();
    }
}
