// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;

/** Tells how far a long measurement is: on a terminal one line that changes, elsewhere a line now and then. */
final class Progress {
    private static final Path STDERR = Path.of("/proc/self/fd/2");
    private static final long EVERY = 10_000_000_000L;

    private final PrintWriter err;
    private final boolean told;
    private final boolean terminal;
    private int runs;
    private int done;
    private long last = System.nanoTime();

    /**
     * Makes the display before anything has begun.
     *
     * @param told whether it takes long enough to tell anything
     */
    Progress(PrintWriter err, boolean told) {
        this.err = err;
        this.told = told;
        this.terminal = told && isTerminal();
    }

    private static boolean isTerminal() {
        try {
            String target = Files.readSymbolicLink(STDERR).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
        } catch (IOException e) {
            return false;
        }
    }

    /** Sets the number of runs. */
    void runs(int n) {
        runs = n;
    }

    /** Notes that the next run begins. */
    void next(Run run) {
        String line = "gmp steal: run " + ++done + " of " + runs + ": " + run.title();
        long now = System.nanoTime();
        if (terminal) {
            err.print("\r\033[K" + line);
            err.flush();
        } else if (told && now - last >= EVERY) {
            last = now;
            err.println(line);
            err.flush();
        }
    }

    /** Notes that the last run has ended, well or not. */
    void done() {
        if (terminal) {
            err.print("\r\033[K");
            err.flush();
        }
    }
}
