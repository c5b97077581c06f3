// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

/**
 * Describes a metric. Source: {@code runtime/metrics.Description} of Go.
 *
 * @param name a path, a colon and the unit, as {@code /sched/goroutines:goroutines}
 * @param help one sentence
 * @param kind the type of its values
 * @param cumulative whether it never decreases while its scheduler lives; if false, it is a current value
 */
public record Description(String name, String help, Kind kind, boolean cumulative) {
    /** The types of values of metrics. */
    public enum Kind {
        /** A {@link Long}. */
        LONG,
        /** A {@link Double}. */
        DOUBLE,
        /** A {@link Histogram}. */
        HISTOGRAM,
        /** A {@code long[]}: an element for each P that ever existed, by its id. */
        BY_P,
        /** A {@code long[][]}: a row for each P by its id, in it an element for each P, or none when all would be 0. */
        BY_PAIR
    }

    /** Returns the unit, which follows the colon. */
    public String unit() {
        return name.substring(name.indexOf(':') + 1);
    }
}
