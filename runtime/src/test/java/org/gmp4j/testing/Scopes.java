// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

/** Programs with Java's structured concurrency, a preview whose names differ between versions. */
public final class Scopes {
    private Scopes() {
    }

    /** Returns a program that this Java compiles. In {@code source} the joiner for the first success is called ANY_SUCCESSFUL. */
    public static String ofThisJava(String source) {
        return source.replace("ANY_SUCCESSFUL", Runtime.version().feature() == 25 ? "anySuccessfulResultOrThrow" : "anySuccessfulOrThrow");
    }
}
