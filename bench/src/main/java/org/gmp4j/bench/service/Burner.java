// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.IOException;

/** A process that uses all the CPU it gets, until its standard input ends. Prints a line when it has begun. */
final class Burner {
    private static volatile boolean end;

    private Burner() {
    }

    /** Runs it. */
    public static void main(String[] args) {
        Thread burner = new Thread(() -> {
            while (!end) {
                Thread.onSpinWait();
            }
        });
        burner.setDaemon(true);
        burner.start();
        System.out.println("burning");
        try {
            while (System.in.read() >= 0) {
                // Until the parent closes it, or ends.
            }
        } catch (IOException e) {
            System.err.println("gmp service: " + e.getMessage());
        }
        end = true;
    }
}
