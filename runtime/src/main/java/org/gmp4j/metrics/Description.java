// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

/**
 * What a metric is. Source: {@code runtime/metrics.Description} of Go.
 *
 * @param name a path, a colon and the unit, as {@code /sched/goroutines:goroutines}
 * @param help one sentence
 * @param kind what its values are
 * @param cumulative whether it only grows, or stays, as long as its scheduler lives; else it is how things stand
 */
public record Description(String name, String help, Kind kind, boolean cumulative) {
    /** What the values of a metric are. */
    public enum Kind {
        /** A {@link Long}. */
        LONG,
        /** A {@link Double}. */
        DOUBLE,
        /** A {@link Histogram}. */
        HISTOGRAM,
        /** A {@code long[]}: an element for each P there ever was, by its id. */
        BY_P,
        /** A {@code long[][]}: a row for each P by its id, in it an element for each P, or none when all would be 0. */
        BY_PAIR
    }

    /** The unit: what follows the colon. */
    public String unit() {
        return name.substring(name.indexOf(':') + 1);
    }
}
