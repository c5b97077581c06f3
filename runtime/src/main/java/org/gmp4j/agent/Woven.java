// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

/**
 * What a class that got its points before the program ran initialises before it links the first ({@link LinkMethod}). Does what the
 * agent does as the program starts, as far as it can be done now: makes the class that points link to, unless {@code gmp.points=off}
 * or nobody opened {@code java.lang} to us (then points are nothing), and all virtual threads goroutines where {@code gmp.default}
 * asks for that. A bad setting ends the program with one sentence and exit code 2.
 *
 * <p>Of {@link PointOptions} {@code gmp.points} holds here; the patterns do where a jar is woven.
 */
final class Woven {
    static final String NAME = "org.gmp4j.agent.Woven";
    private static final int BAD_USAGE = 2;

    static {
        try {
            PointOptions options = PointOptions.of(AgentOptions.of(null), System.getProperties());
            if (options.on() && JdkPoint.PROBLEM == null) {
                if (options.eager()) {
                    Points.setEager(true);
                }
                Points.initialize();
            }
            DefaultStart.ifAsked();
        } catch (IllegalArgumentException | IllegalStateException e) {
            String sentence = e.getMessage();
            System.err.println(sentence.startsWith("gmp4j ") ? sentence : "gmp4j: " + sentence);
            Runtime.getRuntime().halt(BAD_USAGE); // A hook would wait for this class at its first point.
        }
    }

    private Woven() {
    }
}
