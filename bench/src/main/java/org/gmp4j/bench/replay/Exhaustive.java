// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Runs a small program once under each of its schedules, but only once for schedules that differ in the order of independent accesses
 * alone, or that lead to a state again ({@link Digest}). Two accesses depend on each other if they are to one word and one of them writes.
 * Three kinds of steps depend on all others: one in a monitor, which has many accesses; one that asks whether another lane sleeps or has
 * ended; and one that ends the process. The order in which lanes take memory, start lanes or get random numbers is not taken to matter. A
 * step's accesses to arrays, to collections of the JDK, and to what has no points are not compared: locks must order them. A program that
 * is checked at each step is refused, because the states between two independent accesses are those of one order alone. Two objects of the
 * JDK that share their content, such as two views of one list, count as two: a program whose lanes use both is covered in part.
 *
 * <p>At a point another lane is taken only if its next access, later in a run, races with the one that was taken here ({@link Races}); and
 * not if a run before has covered what would follow (sleep sets). A run that comes to a state whose schedules have all been run ends there.
 * The accesses that were seen behind the state take the place of those that the rest of the run would have made: each of them may race
 * with one before.
 *
 * <p>Source: Flanagan, Godefroid, "Dynamic Partial-Order Reduction for Model Checking Software", POPL 2005; Godefroid, "Partial-Order
 * Methods for the Verification of Concurrent Systems", 1996, chapter 5; Yang, Chen, Gopalakrishnan, Kirby, "Efficient Stateful Dynamic
 * Partial Order Reduction", SPIN 2008.
 */
final class Exhaustive extends Strategy {
    /** A point of the present path, with the options that it had. */
    private static final class Node {
        long state;
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
        /** The options that were taken when a path came to the state before, with other ones asleep. */
        long known;
        int at;
        /** The accesses behind this point, by their numbers. */
        final BitSet behind = new BitSet();
    }

    /**
     * An access of a lane.
     *
     * @param word the address of the word, or a number of the object and its field
     */
    private record Access(int lane, long word, boolean writes) {
    }

    /**
     * What is known of a state.
     *
     * @param asleep the options that others had covered on each path to it, as bits by their numbers
     * @param taken the options that were taken
     * @param behind the accesses behind it, by their numbers
     */
    private record Covered(long asleep, long taken, BitSet behind) {
    }

    private static final long FIRST = Long.MIN_VALUE / 2;

    private final List<Node> path = new ArrayList<>();
    private final Races races = new Races();
    private final boolean reduces;
    private final boolean merges;
    private final Set<Long> ends = new HashSet<>();
    private final Map<Long, Covered> covered = new HashMap<>();
    /** The sets of accesses, of which many states have the same. */
    private final Map<BitSet, BitSet> sets = new HashMap<>();
    private final Map<Access, Integer> numbers = new HashMap<>();
    private final List<Access> accesses = new ArrayList<>();
    private int depth;
    private long states;
    private long schedules;
    private boolean complete;

    Exhaustive() {
        this(true, true);
    }

    /**
     * Makes a search to compare others with.
     *
     * @param reduces whether it takes another lane only where two accesses race; else it takes all options at each point
     * @param merges whether a run ends at a state that is known
     */
    Exhaustive(boolean reduces, boolean merges) {
        this.reduces = reduces;
        this.merges = merges;
    }

    @Override
    boolean comparesStates() {
        return true;
    }

    @Override
    void begin(Run run) {
        depth = 0;
        races.clear();
    }

    @Override
    int choose(Run run) {
        spun(run);
        races.lanes(run.count);
        if (depth < path.size()) {
            Node known = path.get(depth);
            if (known.options.length != run.optionCount || known.state != run.digest.state()) {
                throw new IllegalStateException("the same choices led elsewhere at step " + depth + ": the program is not deterministic");
            }
            return taken(known);
        }
        Node node = node(run);
        if (reduces && !path.isEmpty()) {
            inherit(path.getLast(), node);
        }
        Covered known = merges ? covered.get(node.state) : null;
        if (known != null) {
            behind(known.behind);
            node.known = places(node, known.taken);
            node.wanted = places(node, known.asleep);
            if ((node.wanted & ~node.asleep & ~node.known) == 0) {
                return NOTHING_NEW;
            }
            node.behind.or(known.behind);
        }
        path.add(node);
        states++;
        node.at = first(node, known == null ? -1 : node.wanted & ~node.known, run);
        if (node.at < 0) {
            depth++;
            return NOTHING_NEW;
        }
        node.wanted |= reduces ? 1L << node.at : (1L << node.options.length) - 1;
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

    /** Has the last step depend on all others if it ended in a pause: the lane goes on when another has taken a step behind it. */
    private void spun(Run run) {
        Node last = depth == 0 ? null : path.get(depth - 1);
        int lane = last == null ? 0 : Run.lane(last.options[last.at]);
        if (last != null && run.lanes[lane].spins && last.words[last.at] != Trace.ANYWHERE) {
            dependsOnAll(last, lane);
        }
    }

    private void dependsOnAll(Node last, int lane) {
        last.words[last.at] = Trace.ANYWHERE;
        int before = races.take(depth - 1, lane, Trace.ANYWHERE, true);
        if (before >= 0) {
            want(path.get(before), lane);
        }
    }

    /** Has the points with which accesses behind a known state may race try their lanes too. */
    private void behind(BitSet known) {
        for (int i = known.nextSetBit(0); i >= 0; i = known.nextSetBit(i + 1)) {
            Access a = accesses.get(i);
            races.with(a.lane, a.word, a.writes, step -> want(path.get(step), a.lane));
        }
        path.getLast().behind.or(known);
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
        node.state = run.digest.state();
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

    private static long word(Run run, int option) {
        Lane l = run.lanes[Run.lane(option)];
        if (Run.kind(option) != Run.GO || l.spins || isMonitor(l)) {
            return Trace.ANYWHERE;
        }
        if (l.word == 0 && l.object == null) {
            return FIRST + l.index; // The lane has not begun: its first step makes no access.
        }
        return l.object == null ? l.word : Digest.mix(l.objectId, Sites.of(l.site).field().hashCode());
    }

    /** Returns whether the lane enters a monitor: what it does there is one step, whose accesses are not known before. */
    private static boolean isMonitor(Lane l) {
        return l.site == Sites.MONITOR && !(l.object instanceof LaneLock) && !(l.object instanceof Permits);
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

    /** Returns the numbers of options, as bits, of which {@code places} has the places. */
    private static long options(Node n, long places) {
        long all = 0;
        for (int i = 0; i < n.options.length; i++) {
            all |= (places & 1L << i) == 0 ? 0 : 1L << n.options[i];
        }
        return all;
    }

    private static long places(Node n, long options) {
        long all = 0;
        for (int i = 0; i < n.options.length; i++) {
            all |= (options & 1L << n.options[i]) == 0 ? 0 : 1L << i;
        }
        return all;
    }

    /** Returns the place of the option that is taken first: the last lane's if it can go on; -1 for none. */
    private static int first(Node n, long of, Run run) {
        int first = -1;
        for (int i = 0; i < n.options.length; i++) {
            if ((of & ~n.asleep & 1L << i) != 0) {
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
        if (run.over && depth > 0) { // The other lanes have steps that they take before this end in other runs.
            Node last = path.get(depth - 1);
            dependsOnAll(last, Run.lane(last.options[last.at]));
            last.wanted = (1L << last.options.length) - 1;
        }
        if (!run.cut) {
            schedules++;
            ends.add(run.digest.state());
        }
        while (!path.isEmpty()) {
            Node n = path.getLast();
            if (n.at >= 0) {
                n.done |= 1L << n.at;
                n.behind.set(number(new Access(Run.lane(n.options[n.at]), n.words[n.at], n.writes[n.at])));
            }
            long left = n.wanted & ~n.asleep & ~n.done & ~n.known;
            if (left != 0) {
                n.at = Long.numberOfTrailingZeros(left);
                return true;
            }
            path.removeLast();
            leave(n);
        }
        complete = true;
        return false;
    }

    private int number(Access a) {
        Integer known = numbers.putIfAbsent(a, accesses.size());
        if (known == null) {
            accesses.add(a);
            return accesses.size() - 1;
        }
        return known;
    }

    /** Notes that all schedules behind a point have been run. */
    private void leave(Node n) {
        if (!path.isEmpty()) {
            path.getLast().behind.or(n.behind);
        }
        if (merges) {
            long asleep = options(n, n.asleep);
            Covered before = covered.get(n.state);
            asleep &= before == null ? -1 : before.asleep;
            covered.put(n.state, new Covered(asleep, options(n, n.done | n.known), sets.computeIfAbsent(n.behind, b -> b)));
        }
    }

    long states() {
        return states;
    }

    long schedules() {
        return schedules;
    }

    /** Returns the states in which no lane could go on. */
    Set<Long> ends() {
        return ends;
    }

    boolean isComplete() {
        return complete;
    }
}
