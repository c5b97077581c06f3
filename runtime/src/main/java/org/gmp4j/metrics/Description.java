// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

/**
 * Describes a metric. Source: {@code runtime/metrics.Description} of Go.
 *
 * @param name a path, a colon and the unit: {@code /sched/goroutines:goroutines}
 * @param help one sentence that says what the metric is
 * @param kind the type of its values
 * @param cumulative whether the value never decreases while the scheduler lives; false for a current value
 */
public record Description(String name, String help, Kind kind, boolean cumulative) {
    /** The types of a metric's values. */
    public enum Kind {
        /** A {@link Long}. */
        LONG,
        /** A {@link Double}. */
        DOUBLE,
        /** A {@link Histogram}. */
        HISTOGRAM,
        /** A {@code long[]}: an element for each P that has existed, by the P's id. */
        BY_P,
        /** A {@code long[][]}: a row for each P, by the P's id. A row has an element for each P, or is empty when all would be 0. */
        BY_PAIR
    }

    /** Returns the unit, which follows the colon. */
    public String unit() {
        return name.substring(name.indexOf(':') + 1);
    }
}
