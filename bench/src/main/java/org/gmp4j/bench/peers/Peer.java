// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.util.Locale;

/** What does the works: a column. */
enum Peer {
    GMP4J("gmp4j"),
    GO("Go"),
    JDK("JDK virtual threads"),
    KOTLIN("Kotlin coroutines"),
    THREADS("platform threads");

    private final String title;

    Peer(String title) {
        this.title = title;
    }

    /** Returns the name for people. */
    String title() {
        return title;
    }

    /** Returns the name in options and files. */
    String key() {
        return name().toLowerCase(Locale.ROOT);
    }
}
