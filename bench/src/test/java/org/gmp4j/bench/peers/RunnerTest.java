// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import org.gmp4j.bench.measure.Others;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A peer's runs that others disturb. The peer is a shell script, which is told apart run by run by a file. */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RunnerTest {
    private static final Catalogue.Work WORK = Catalogue.select(List.of(Pattern.compile("^yield$"))).getFirst();

    @TempDir
    private Path folder;

    private final List<String> notes = new ArrayList<>();
    private double seconds;
    private double busy;

    /** Returns the figures of a peer that does {@code first} in its first run and {@code then} in the next, each disturbed so much. */
    private List<Line> figures(String first, String then, double firstPercent, double thenPercent, Others[] watch) throws Exception {
        double[] percents = {0, firstPercent, 0, thenPercent}; // What is read at the begin and at the end of each run.
        int[] reading = {0};
        Others others = new Others(1, 1, () -> {
            if (reading[0] % 2 == 1) {
                seconds++;
                busy += percents[reading[0]] / 100;
            }
            reading[0]++;
            return new Others.Reading(seconds, busy, 0);
        });
        watch[0] = others;
        String script = "if [ -e run ]; then " + then + "; else : >run; " + first + "; fi";
        Toolchains.Program peer = new Toolchains.Program("1", List.of("sh", "-c", "cd " + folder + " && " + script), Map.of());
        return new Runner(1, 1).run(Peer.GO, peer, WORK, others, notes::add);
    }

    private static String says(int value) {
        return "echo '" + new Line("yield", "ns", value, "") + "'";
    }

    private static List<Line> line(int value) {
        return List.of(new Line("yield", "ns", value, ""));
    }

    @Test
    void aRepetitionThatFailsLosesNothing() throws Exception {
        Others[] others = new Others[1];
        assertEquals(line(7), figures(says(7), says(8) + "; exit 3", 40, 0, others));
        assertEquals(List.of("a run was disturbed, and its repetition failed (ended with 3): the first counts"), notes);
        assertEquals("had at most 40 % of the CPUs in a run, which is much: measure on a quiet machine; 1 run was disturbed and repeated",
                others[0].summary().text());
    }

    @Test
    void theLessDisturbedCounts() throws Exception {
        assertEquals(line(8), figures(says(7), says(8), 40, 20, new Others[1]));
        assertEquals(List.of(), notes);
    }

    @Test
    void aFirstRunThatFails() {
        Runner.FailedException e = assertThrows(Runner.FailedException.class,
                () -> figures(says(7) + "; exit 4", says(8), 0, 0, new Others[1]));
        assertEquals("ended with 4", e.getMessage());
    }
}
