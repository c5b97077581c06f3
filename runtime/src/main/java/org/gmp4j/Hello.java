// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;

import org.gmp4j.sync.WaitGroup;

/**
 * The main class of {@code java -jar gmp4j-runtime.jar}. It prints a line that says whether gmp4j works in this container and on this JDK.
 * It uses many parts of the runtime, so that a start-up cache made from its run holds their classes.
 */
final class Hello {
    private static final int GOROUTINES = 1000;
    private static final int CANNOT = 2;

    private Hello() {
    }

    public static void main(String[] args) {
        try {
            Gmp.main(Hello::goroutines);
        } catch (RuntimeException cannot) { // The message names the missing part of the JVM.
            System.err.println(cannot.getMessage());
            System.exit(CANNOT);
        }
    }

    private static void goroutines() {
        Chan<Integer> results = Chan.make(1);
        WaitGroup all = new WaitGroup();
        for (int i = 0; i < GOROUTINES; i++) {
            all.go(() -> results.send(1));
        }
        Go.go(() -> {
            all.await();
            results.close();
        });
        int ran = 0;
        for (int n : results) {
            ran += n;
        }
        Go.sleep(Duration.ofMillis(1));
        if (ran != GOROUTINES) {
            throw new IllegalStateException("only " + ran + " of " + GOROUTINES + " goroutines ran");
        }
        System.out.println("gmp4j works here: " + ran + " goroutines ran on " + Go.gomaxprocs(0) + " Ps; " + System.getProperty("os.name")
                + " on " + System.getProperty("os.arch") + ", Java " + Runtime.version());
    }
}
