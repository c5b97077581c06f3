// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class GmpCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int gmp(String... args) {
        CommandLine root = GmpCommand.commandLine();
        root.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return GmpCommand.execute(root, args);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "nope", "--nope", "help nope", "bench --json", "bench NoSuchBenchmark", "bench -nope", "run X",
            "weave", "weave a.jar",
            "weave /no/such.jar target/x.jar", "weave pom.xml target/x.jar", "weave --include=a..b pom.xml target/x.jar", "preempt nope",
            "preempt --runs=0", "scale nope", "scale --seconds=NaN", "scale --max=99", "scale --max=10000001",
            "scale gc --json=/no/such/dir/f", "peers nope", "peers (", "peers --forks=0", "peers --forks=x", "peers --seconds=0",
            "peers --warmup=NaN", "peers --peers=gmp4j,erlang", "peers --json=/no/such/dir/f",
            "peers --json=/dev/full --html=/dev/full --markdown=target", "trace", "trace /no/such/file", "trace pom.xml",
            "trace --top=0 pom.xml", "top", "top x"})
    void badUsageIsOneSentenceOnStderr(String line) {
        assertEquals(2, gmp(line.isEmpty() ? new String[0] : line.split(" ")));
        assertEquals("", out.toString());
        assertEquals(1, err.toString().lines().count(), err.toString());
        assertTrue(err.toString().startsWith("gmp: "), err.toString());
    }

    @Test
    void helpNamesEveryCommand() {
        assertEquals(0, gmp("--help"));
        for (String command : GmpCommand.commandLine().getSubcommands().keySet()) {
            assertTrue(out.toString().contains("  " + command + " "), out.toString());
        }
        assertEquals("", err.toString());
    }

    @Test
    void versionAndCompletion() {
        assertEquals(0, gmp("--version"));
        assertTrue(out.toString().matches("gmp4j .+, Java 25.*\n"), out.toString());
        assertEquals(0, gmp("completion"));
        assertTrue(out.toString().contains("complete -F _complete_gmp"), out.toString());
        assertEquals("", err.toString());
    }

    @Test
    void everyCommandHasHelp() {
        for (String command : GmpCommand.commandLine().getSubcommands().keySet()) {
            assertEquals(0, gmp(command, "--help"));
            assertEquals(0, gmp("help", command));
        }
        assertEquals("", err.toString());
    }
}
