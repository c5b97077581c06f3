// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.gmp4j.bench.peers.Toolchains;
import org.gmp4j.bench.resp.RespServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code gmp resp} refuses what it cannot measure, in one sentence; and measures for a moment, where redis-benchmark is. */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RespCommandTest {
    private static CommandLineRun resp(String... arguments) {
        return CommandLineRun.of(Stream.concat(Stream.of("resp"), Stream.of(arguments)).toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "--servers=kotlin; --servers is a list of net, socket, jdk, go, redis",
        "--servers=; --servers is a list of net, socket, jdk, go, redis",
        "--pipeline=0; --pipeline is a list of numbers from 1 to 1000",
        "--pipeline=1,1001; --pipeline is a list of numbers from 1 to 1000",
        "--pipeline=x; Invalid value for option '--pipeline' (N): 'x' is not an int",
        "--command=fly; --command is a list of ping_mbulk, set, get, incr, mset",
        "--connections=0; --connections is from 1 to 10000",
        "--connections=10001; --connections is from 1 to 10000",
        "--seconds=0; --seconds is above 0 and at most 3600",
        "--seconds=NaN; --seconds is above 0 and at most 3600",
        "--warmup=-1; --warmup is from 0 to 3600",
        "--runs=0; --runs is from 1 to 1000",
        "--markdown=/; --markdown: cannot write to /: it is a directory",
        "more; Unmatched argument at index 1: 'more'"
    })
    void badInput(String argument, String sentence) {
        CommandLineRun run = resp(argument);
        assertEquals(2, run.code());
        assertEquals("", run.out());
        assertTrue(run.err().startsWith("gmp: " + sentence), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
    }

    @Test
    void measures(@TempDir Path dir) throws Exception {
        try {
            String found = RespServer.program("redis-benchmark");
            assertTrue(Files.isExecutable(Path.of(found)));
        } catch (Toolchains.MissingException e) {
            abort(e.getMessage());
        }
        Path page = Files.writeString(dir.resolve("r.md"), "# Old\n\n## Remarks\n\nKept.\n");
        CommandLineRun run = resp("--servers=net,jdk", "--pipeline=1,16", "--command=get", "--runs=2", "--seconds=0.2",
                "--warmup=0", "--connections=10", "--markdown=" + page);
        assertEquals(0, run.code(), run.err());
        for (String pipeline : new String[] {"1 ", "16"}) {
            assertTrue(run.out().lines().anyMatch(l -> l.matches("  " + pipeline + " +get +gmp4j, org.gmp4j.net +[1-9][0-9,]*"
                    + " +[0-9.]+ [um]s +[0-9.]+ [um]s +[0-9.]+ [nu]s")), run.out());
        }
        String text = Files.readString(page);
        assertTrue(text.contains("| 16 | get | gmp4j, org.gmp4j.net | JDK, java.net.Socket | "), text);
        assertTrue(text.endsWith("## Remarks\n\nKept.\n") && !text.contains("# Old"), text);
    }
}
