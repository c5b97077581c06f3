// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library.app;

import java.util.Set;
import java.util.TreeSet;

/** What kinds of threads ran a program's work. Thread-safe. */
final class Seen {
    private final Set<String> kinds = new TreeSet<>();

    synchronized void here() {
        kinds.add(Where.am());
    }

    /** The last line of a program. */
    synchronized void print() {
        System.out.println("work ran on: " + String.join("; ", kinds));
    }
}
