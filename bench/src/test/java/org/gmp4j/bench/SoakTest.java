// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

/** {@code gmp preempt soak}; {@code -Dgmp.soak.seconds} sets how long. */
class SoakTest {
    private static final int SECONDS = Integer.getInteger("gmp.soak.seconds", 32);
    private static final int COLLECTORS = 4;

    @Tag("long")
    @Test
    @Timeout(value = 4, unit = TimeUnit.HOURS) // It watches itself.
    void onEachCollector() {
        StringWriter out = new StringWriter();
        CommandLine root = GmpCommand.commandLine().setOut(new PrintWriter(out, true));
        assertEquals(0, GmpCommand.execute(root, "preempt", "soak", "--seconds", Integer.toString(SECONDS)));
        assertEquals(COLLECTORS, out.toString().lines().filter(l -> l.startsWith("-XX")).count(), out.toString());
        System.out.print(out);
    }
}
