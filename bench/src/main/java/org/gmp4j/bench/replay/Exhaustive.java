// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs a small program once under each of its schedules, but only once for schedules that differ in the order of independent accesses
 * alone (sleep sets). Two accesses depend on each other if they are to one word and one of them writes.
 *
 * <p>Source: Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", 1996, chapter 5.
 */
final class Exhaustive extends Strategy {
    /** A point of the present path, with the options that it had. */
    private static final class Node {
        int[] options;
        /** For each option the word that its access is to. */
        long[] words;
        boolean[] writes;
        /** The options that need not be taken here, as bits by their places: others have covered them. */
        long asleep;
        /** The options that earlier runs took here, as bits by their places. */
        long done;
        int at;
    }

    private static final long FIRST = Long.MIN_VALUE / 2;

    private final List<Node> path = new ArrayList<>();
    private final Map<Object, Integer> objects = new IdentityHashMap<>();
    private int depth;
    private long states;
    private long schedules;
    private long cuts;
    private boolean complete;

    @Override
    boolean comparesAccesses() {
        return true;
    }

    @Override
    void begin(Run run) {
        depth = 0;
        objects.clear();
    }

    @Override
    int choose(Run run) {
        if (depth < path.size()) {
            Node known = path.get(depth);
            if (known.options.length != run.optionCount) {
                throw new IllegalStateException("the same choices led elsewhere at step " + depth + ": the program is not deterministic");
            }
            for (int i = 0; i < run.optionCount; i++) {
                long _ = word(run, run.options[i]); // Objects get the numbers that they had before.
            }
            depth++;
            return known.options[known.at];
        }
        Node node = node(run);
        if (!path.isEmpty()) {
            inherit(path.getLast(), node);
        }
        path.add(node);
        depth++;
        states++;
        node.at = next(node, run);
        return node.at < 0 ? NOTHING_NEW : node.options[node.at];
    }

    private Node node(Run run) {
        Node node = new Node();
        node.options = Arrays.copyOf(run.options, run.optionCount);
        node.words = new long[run.optionCount];
        node.writes = new boolean[run.optionCount];
        for (int i = 0; i < run.optionCount; i++) {
            node.words[i] = word(run, node.options[i]);
            node.writes[i] = run.lanes[Run.lane(node.options[i])].writes;
        }
        return node;
    }

    private long word(Run run, int option) {
        Lane l = run.lanes[Run.lane(option)];
        if (Run.kind(option) != Run.GO || l.spins) {
            return Trace.ANYWHERE;
        }
        if (l.word == 0 && l.object == null) {
            return FIRST + l.index; // The lane has not begun: its first step makes no access.
        }
        if (l.object == null) {
            return l.word;
        }
        int field = Sites.of(l.site).field().hashCode() & 0xFFFF;
        return -(long) (1 + objects.computeIfAbsent(l.object, o -> objects.size() + 1)) << 16 | field;
    }

    private static void inherit(Node before, Node node) {
        long covered = before.asleep | before.done;
        for (int i = 0; i < before.options.length; i++) {
            if (i == before.at || (covered & 1L << i) == 0 || touch(before, i, before.at)) {
                continue;
            }
            for (int j = 0; j < node.options.length; j++) {
                if (node.options[j] == before.options[i]) {
                    node.asleep |= 1L << j;
                }
            }
        }
    }

    private static boolean touch(Node n, int i, int j) {
        if (Run.lane(n.options[i]) == Run.lane(n.options[j])) {
            return true;
        }
        long a = n.words[i];
        long b = n.words[j];
        return a == Trace.ANYWHERE || b == Trace.ANYWHERE || a == b && (n.writes[i] || n.writes[j]);
    }

    /** Returns the place of the next option that is to be taken: the last lane's if it can go on; -1 for none. */
    private static int next(Node n, Run run) {
        int first = -1;
        for (int i = 0; i < n.options.length; i++) {
            if (((n.asleep | n.done) & 1L << i) == 0) {
                if (run != null && Run.kind(n.options[i]) == Run.GO && Run.lane(n.options[i]) == run.last) {
                    return i;
                }
                first = first < 0 ? i : first;
            }
        }
        return first;
    }

    /** Called after a run. Returns whether there is another schedule. */
    boolean another(Run run) {
        if (run.cut) {
            cuts++;
        } else {
            schedules++;
        }
        while (!path.isEmpty()) {
            Node n = path.getLast();
            if (n.at >= 0) {
                n.done |= 1L << n.at;
            }
            n.at = next(n, null);
            if (n.at >= 0) {
                return true;
            }
            path.removeLast();
        }
        complete = true;
        return false;
    }

    long states() {
        return states;
    }

    long schedules() {
        return schedules;
    }

    /** Returns how many runs ended early, as what followed was covered. */
    long cuts() {
        return cuts;
    }

    boolean isComplete() {
        return complete;
    }
}
