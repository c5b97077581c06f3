// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.affinity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import org.gmp4j.bench.CommandLineRun;
import org.gmp4j.bench.HtmlPage;
import org.gmp4j.bench.report.Verdict;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AffinityCommandTest {
    /** Every workload ends, with every order, and the page and the JSON are well formed. What comes out is not looked at. */
    @Tag("long")
    @Test
    void allWorkloads(@TempDir Path dir) throws Exception {
        Path json = dir.resolve("a.json");
        Path html = dir.resolve("a.html");
        CommandLineRun run = CommandLineRun.of("affinity", "--procs=3", "--runs=5", "--seconds=0.01", "--policy=none;scatter",
                "--json=" + json, "--html=" + html);
        assertEquals(0, run.code(), run.err());
        for (String w : List.of("forkjoin", "pairs", "ring", "resp")) {
            assertTrue(run.out().contains("noise of " + w + ": none uniform"), run.out());
        }
        assertTrue(run.out().matches("(?s).*\nothers: had (at most [0-9]+ %|a share) of the CPUs .*"), run.out());
        assertTrue(run.out().contains("scatter nearest") && !run.out().contains("none nearest"), run.out());
        assertTrue(Files.readString(json).contains("\"stolenIn1000Over\": {\"core\": "));
        assertEquals(4, HtmlPage.parse(Files.readString(html)).getElementsByTagName("svg").getLength());
    }

    private static List<Double> about(double middle, double width, int n, long seed) {
        Random random = new Random(seed);
        List<Double> values = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            values.add(middle + width * (random.nextDouble() - 0.5));
        }
        return values;
    }

    /** The interval holds the true median about as often as it says. */
    @Test
    void interval() {
        int all = 80;
        int holds = 0;
        for (int i = 0; i < all; i++) {
            Bootstrap b = Bootstrap.of(about(10, 4, 15, i), i);
            assertTrue(b.low() <= b.median() && b.median() <= b.high());
            holds += b.low() <= 10 && 10 <= b.high() ? 1 : 0;
        }
        assertTrue(holds > all * 85 / 100, holds + " of " + all);
        Bootstrap same = Bootstrap.of(Collections.nCopies(5, 3.0), 1);
        assertEquals(new Bootstrap(3, 3, 3), same);
    }

    /** No winner inside the noise or inside the interval. */
    @Test
    void verdicts() {
        Bootstrap quiet = new Bootstrap(1, 0.99, 1.02);
        Bootstrap loud = new Bootstrap(1.05, 0.8, 1.1);
        assertEquals(Verdict.LESS, Experiment.verdict(new Bootstrap(0.9, 0.85, 0.95), quiet));
        assertEquals(Verdict.MORE, Experiment.verdict(new Bootstrap(1.1, 1.05, 1.2), quiet));
        assertEquals(Verdict.NOTHING, Experiment.verdict(new Bootstrap(0.9, 0.85, 1.01), quiet), "the interval has 1 in it");
        assertEquals(Verdict.NOTHING, Experiment.verdict(new Bootstrap(0.985, 0.98, 0.99), quiet), "inside the noise");
        assertEquals(Verdict.NOTHING, Experiment.verdict(new Bootstrap(0.9, 0.85, 0.95), loud), "inside the noise");
        assertEquals(Verdict.NOTHING, Experiment.verdict(new Bootstrap(1.2, 1.1, 1.3), loud), "noise to one side counts to the other");
        assertEquals(Verdict.MORE, Experiment.verdict(new Bootstrap(1.3, 1.1, 1.4), loud));
    }

    @Test
    void badOptions() {
        for (String option : new String[] {"sleep", "--runs=4", "--seconds=0", "--seconds=NaN", "--procs=0", "--policy=near",
            "--policy=none --order=nearest", "--order=random", "--policy=none --order=uniform", "--policy=99999;none",
            "--json=/no/such/d/f"}) {
            CommandLineRun run = CommandLineRun.of(("affinity " + option).split(" "));
            assertEquals(2, run.code(), option);
            assertEquals(1, run.err().lines().count(), run.err());
        }
    }
}
