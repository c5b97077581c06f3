// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

/** A plain variable of a program: each read and each write is a step of its own. */
final class Cell {
    private int value;

    int get() {
        return value;
    }

    void set(int v) {
        value = v;
    }

    /** Reads, and then writes: what another lane writes in between is lost. */
    void add(int d) {
        value = value + d;
    }
}
