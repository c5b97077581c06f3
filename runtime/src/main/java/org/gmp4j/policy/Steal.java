// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

/**
 * Decides how an M without work walks through the other Ps. A search has {@value #WALKS} walks. The last walk also visits the timers and
 * the runnext of each P.
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>The order is uniform.</td><td>All Ps, from a random start, by a random step that is coprime to their number.</td></tr>
 * <tr><td>The order is nearest first.</td><td>As in the uniform order, but over the Ps of each distance, the nearest first. Each walk
 * visits all distances. If only the last walk visited far nodes, work there would wait for three walks that find nothing.</td></tr>
 * <tr><td>The order is nearest first, and the number of the M's search is a multiple of {@value #UNIFORM_EVERY}.</td><td>As in the uniform
 * order, so that work of far Ps is found even if near Ps always have work.</td></tr>
 * <tr><td>The order is two at random.</td><td>Two Ps at random, the fuller one first.</td></tr>
 * <tr><td>The order is two at random, and the walk is the last one.</td><td>As in the uniform order.</td></tr>
 * </table>
 *
 * <p>Thus, in every order, the last walk visits all Ps. The argument of {@code Wakep} about spinners relies on that.
 */
public final class Steal {
    /** The number of walks of a search. */
    public static final int WALKS = 4;

    /** A walk over all Ps. */
    public static final int UNIFORM = 0;
    /** A walk over the Ps of each distance. */
    public static final int BY_DISTANCE = 1;
    /** A visit of two Ps. */
    public static final int OF_TWO = 2;

    static final int UNIFORM_EVERY = 16;

    private Steal() {
    }

    /** Returns whether a walk, from 0 on, is the last one of its search. */
    public static boolean isLast(int walk) {
        return walk == WALKS - 1;
    }

    /**
     * Returns the kind of a walk.
     *
     * @param nearest whether the order is nearest first
     * @param two whether the order is two at random
     * @param search the number of the M's search
     * @param walk the number of the walk, from 0 on
     */
    public static int walk(boolean nearest, boolean two, int search, int walk) {
        return nearest && search % UNIFORM_EVERY != 0 ? BY_DISTANCE : two && !isLast(walk) ? OF_TWO : UNIFORM;
    }
}
