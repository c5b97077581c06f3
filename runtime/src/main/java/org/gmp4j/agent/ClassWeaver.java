// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.util.EnumMap;
import java.util.Map;

import org.gmp4j.agent.PointOptions.When;
import org.gmp4j.agent.PointScan.MethodPoints;
import org.jspecify.annotations.Nullable;

/**
 * Inserts preemption points into class files that will be loaded without the agent. They act like points that the agent inserts, and do
 * nothing without a runtime. Not thread-safe.
 */
public final class ClassWeaver {
    private final PointOptions options;
    private final Map<LeftAlone, Integer> leftAlone = new EnumMap<>(LeftAlone.class);
    private int classes;
    private int methods;
    private int points;

    /**
     * Makes a weaver with the patterns of {@code gmp.points.include} and {@code gmp.points.exclude}.
     *
     * @param argument options in the agent's form, {@code include} and {@code exclude} only; null for none
     * @throws IllegalArgumentException with one sentence for the user
     */
    public ClassWeaver(@Nullable String argument) {
        AgentOptions given = AgentOptions.of(argument);
        if (given.hasOther("include", "exclude")) {
            throw new IllegalArgumentException("Only include and exclude apply to a woven jar; the other options are for the program's "
                    + "start.");
        }
        options = PointOptions.of(given, System.getProperties(), When.LOAD);
        if (options.when() == When.OFF) {
            throw new IllegalArgumentException("gmp.points is off, so there is nothing to weave.");
        }
    }

    /** Returns the class file with points, or null when it gets none. */
    public byte @Nullable [] weave(byte[] classFile) {
        PointScan scan = PointScan.of(classFile);
        LeftAlone reason = scan.leftAlone();
        byte[] woven = null;
        try {
            if (reason == null && (!options.includes(scan.name(), false, false) || PointTransformer.isOurs(scan.name()))) {
                reason = LeftAlone.EXCLUDED;
            }
            if (reason == null) {
                woven = PointWriter.writeAlone(scan);
            }
        } catch (IndexOutOfBoundsException e) { // The class file is broken in a part that the scan skips. The JVM would refuse it.
            reason = LeftAlone.FAILED;
        }
        if (woven == null) {
            Integer _ = leftAlone.merge(reason, 1, Integer::sum);
            return null;
        }
        classes++;
        methods += scan.found().size();
        for (MethodPoints m : scan.found()) {
            points += m.count();
        }
        return woven;
    }

    /** Returns the number of classes that got points so far. */
    public int classes() {
        return classes;
    }

    /** Returns the number of methods that got points so far. */
    public int methods() {
        return methods;
    }

    /** Returns the number of points that were inserted so far. */
    public int points() {
        return points;
    }

    /** Returns the number of classes that were left unchanged for this reason. */
    public int leftAlone(LeftAlone reason) {
        return leftAlone.getOrDefault(reason, 0);
    }
}
