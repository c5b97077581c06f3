// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs a small program once under each of its schedules, but only once for schedules that differ in the order of independent accesses
 * alone. Two accesses depend on each other if they are to one word and one of them writes.
 *
 * <p>At a point another lane is taken only if its next access, later in a run, races with the one that was taken here ({@link Races}); and
 * not if a run before has covered what would follow (sleep sets).
 *
 * <p>Source: Flanagan, Godefroid, "Dynamic Partial-Order Reduction for Model Checking Software", POPL 2005; Godefroid, "Partial-Order
 * Methods for the Verification of Concurrent Systems", 1996, chapter 5.
 */
final class Exhaustive extends Strategy {
    /** A point of the present path, with the options that it had. */
    private static final class Node {
        int[] options;
        /** For each option the word that its access is to. */
        long[] words;
        boolean[] writes;
        /** The options that are to be taken here, as bits by their places: others race with them. */
        long wanted;
        /** The options that need not be taken here: others have covered them. */
        long asleep;
        /** The options that earlier runs took here. */
        long done;
        int at;
    }

    private static final long FIRST = Long.MIN_VALUE / 2;

    private final List<Node> path = new ArrayList<>();
    private final Map<Object, Integer> objects = new IdentityHashMap<>();
    private final Races races = new Races();
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
        races.clear();
    }

    @Override
    int choose(Run run) {
        races.lanes(run.count);
        if (depth < path.size()) {
            Node known = path.get(depth);
            if (known.options.length != run.optionCount) {
                throw new IllegalStateException("the same choices led elsewhere at step " + depth + ": the program is not deterministic");
            }
            for (int i = 0; i < run.optionCount; i++) {
                long _ = word(run, run.options[i]); // Objects get the numbers that they had before.
            }
            return taken(known);
        }
        Node node = node(run);
        if (!path.isEmpty()) {
            inherit(path.getLast(), node);
        }
        path.add(node);
        states++;
        node.at = first(node, run);
        if (node.at < 0) {
            depth++;
            return NOTHING_NEW;
        }
        node.wanted |= 1L << node.at;
        return taken(node);
    }

    /** Notes the access of the option that is taken, and has the point with which it races try its lane too. */
    private int taken(Node node) {
        int option = node.options[node.at];
        int lane = Run.lane(option);
        int before = races.take(depth, lane, node.words[node.at], node.writes[node.at]);
        if (before >= 0) {
            want(path.get(before), lane);
        }
        depth++;
        return option;
    }

    private static void want(Node n, int lane) {
        long of = 0;
        for (int i = 0; i < n.options.length; i++) {
            if (Run.lane(n.options[i]) == lane) {
                of |= 1L << i;
            }
        }
        n.wanted |= of != 0 ? of : (1L << n.options.length) - 1; // The lane could not go on there: another has to let it.
    }

    private Node node(Run run) {
        Node node = new Node();
        node.options = Arrays.copyOf(run.options, run.optionCount);
        node.words = new long[run.optionCount];
        node.writes = new boolean[run.optionCount];
        for (int i = 0; i < run.optionCount; i++) {
            node.words[i] = word(run, node.options[i]);
            node.writes[i] = run.lanes[Run.lane(node.options[i])].writes;
            node.wanted |= Run.kind(node.options[i]) == Run.GO ? 0 : 1L << i; // No race leads to the end of a sleep, or to a failure.
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

    /** Returns the place of the option that is taken first: the last lane's if it can go on; -1 for none. */
    private static int first(Node n, Run run) {
        int first = -1;
        for (int i = 0; i < n.options.length; i++) {
            if ((n.asleep & 1L << i) == 0) {
                if (Run.kind(n.options[i]) == Run.GO && Run.lane(n.options[i]) == run.last) {
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
            long left = n.wanted & ~n.asleep & ~n.done;
            if (left != 0) {
                n.at = Long.numberOfTrailingZeros(left);
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
