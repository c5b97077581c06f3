// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** {@code gmp service} refuses what it cannot measure, in one sentence. */
class ServiceCommandTest {
    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "--mix=none; --mix is one of rare, exp",
        "--load=0; --load is above 0 and at most 200",
        "--load=NaN; --load is above 0 and at most 200",
        "--load=201; --load is above 0 and at most 200",
        "--load=1e-9; --seconds and --load make less than 100 requests, too few for a percentile",
        "--load=x; Invalid value for option '--load': 'x' is not a double",
        "--seconds=0; --seconds is above 0 and at most 86400",
        "--seconds=1e9; --seconds is above 0 and at most 86400",
        "--seconds=0.001; --seconds and --load make less than 100 requests, too few for a percentile",
        "--warmup=-1; --warmup is from 0 to 86400",
        "--warmup=Infinity; --warmup is from 0 to 86400",
        "--runs=0; --runs is from 1 to 1000",
        "--runs=1001; --runs is from 1 to 1000",
        "--quantum=100; --quantum is a list of numbers from 200 to 60000000",
        "--quantum=1000,,200; Invalid value for option '--quantum' (US): '' is not a long",
        "--points=some; --points is on, eager or off",
        "--json=/; --json: cannot write to /: it is a directory",
        "--jsn=x; Unknown option: '--jsn=x'",
        "more; Unmatched argument at index 1: 'more'"
    })
    void badInput(String argument, String sentence) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine root = GmpCommand.commandLine();
        root.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        int exit = GmpCommand.execute(root, "service", argument);
        assertEquals("", out.toString());
        assertTrue(err.toString().startsWith("gmp: " + sentence), err.toString());
        assertEquals(1, err.toString().lines().count(), err.toString());
        assertEquals(2, exit);
    }
}
