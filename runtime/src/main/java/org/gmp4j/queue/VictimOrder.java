// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import org.gmp4j.affinity.StealOrder;
import org.jspecify.annotations.Nullable;

/**
 * The orders in which {@link StealWalk} visits a set of Ps. The uniform order is a {@link RandomOrder} over all Ps. For nearest first this
 * object also has the Ps at each distance from each P. In {@link #by} the Ps of a package, node, cache or core are next to each other. So
 * the Ps up to a distance from a P are an interval of {@code by}. The Ps at that distance are this interval without the interval of the
 * next shorter distance. Immutable.
 */
public final class VictimOrder {
    final StealOrder kind;
    final RandomOrder all;
    /** The ids of Ps, sorted by place; empty unless the order is nearest first. */
    final int[] by;
    /** At {@code p * DISTANCES + d}: the start of the interval of {@link #by} with the Ps up to distance d from P id p. */
    final int[] from;
    /** The ends, exclusive, of the intervals that begin at {@link #from}. */
    final int[] to;
    /** At n: the order over n Ps; null if no distance has n Ps. */
    final RandomOrder[] some;

    /**
     * Makes the order over {@code procs} Ps.
     *
     * @param places the places of the Ps; needed for nearest first only
     * @throws IllegalArgumentException when places are needed, and null
     */
    public VictimOrder(StealOrder kind, int procs, @Nullable Places places) {
        this.kind = kind;
        all = new RandomOrder(procs);
        if (kind != StealOrder.NEAREST) {
            by = new int[0];
            from = by;
            to = by;
            some = new RandomOrder[0];
            return;
        }
        if (places == null) {
            throw new IllegalArgumentException("Nearest first, and nobody knows what is near.");
        }
        by = places.sorted(procs);
        int n = Places.DISTANCES;
        from = new int[procs * n];
        to = new int[procs * n];
        some = new RandomOrder[procs + 1];
        for (int d = 0; d < n; d++) {
            for (int at = 0, end; at < procs; at = end) {
                end = at + 1;
                while (end < procs && places.between(by[at], by[end]).ordinal() <= d) {
                    end++;
                }
                for (int i = at; i < end; i++) {
                    from[by[i] * n + d] = at;
                    to[by[i] * n + d] = end;
                }
            }
        }
        for (int p = 0; p < procs; p++) {
            for (int d = 0; d < n; d++) {
                int size = size(p, d);
                if (size > 0 && some[size] == null) {
                    some[size] = new RandomOrder(size);
                }
            }
        }
    }

    /** Returns the number of Ps at distance {@code d} from {@code p}. P {@code p} itself is at distance 0. */
    int size(int p, int d) {
        int i = p * Places.DISTANCES + d;
        return to[i] - from[i] - (d == 0 ? 0 : to[i - 1] - from[i - 1]);
    }

    /** Returns the P at position {@code pos} among the Ps at distance {@code d} from {@code p}. */
    int at(int p, int d, int pos) {
        int i = p * Places.DISTANCES + d;
        int at = from[i] + pos;
        return by[d == 0 || at < from[i - 1] ? at : at + to[i - 1] - from[i - 1]];
    }
}
