// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import org.gmp4j.agent.PointOptions.When;

/**
 * The initialiser of this class takes the steps of the agent's start that a program with woven classes can still take. Each woven class
 * initialises this class before it links its first point ({@link LinkMethod}). It makes the class to which points link, unless
 * {@code gmp.points=off} is set or {@code java.lang} is not open to gmp4j (then points do nothing). It also makes all virtual threads
 * goroutines if {@code gmp.default} asks for that. A bad setting ends the program with one sentence and exit code 2.
 *
 * <p>Of the settings in {@link PointOptions} only {@code gmp.points} applies; the patterns apply when a jar is woven.
 */
final class Woven {
    static final String NAME = "org.gmp4j.agent.Woven";
    private static final int BAD_USAGE = 2;

    static {
        try {
            PointOptions options = PointOptions.of(AgentOptions.of(null), System.getProperties(), When.LOAD);
            if (options.when() != When.OFF && JdkPoint.PROBLEM == null) {
                if (options.when() == When.EAGER) {
                    Points.setEager(true);
                }
                Points.initialize();
            }
            DefaultStart.ifAsked();
        } catch (IllegalArgumentException | IllegalStateException e) {
            String sentence = e.getMessage() == null ? e.toString() : e.getMessage();
            System.err.println(sentence.startsWith("gmp4j ") ? sentence : "gmp4j: " + sentence);
            Runtime.getRuntime().halt(BAD_USAGE); // Not exit: a shutdown hook would wait for this initialiser at its first point.
        }
    }

    private Woven() {
    }
}
