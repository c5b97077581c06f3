// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.gmp4j.bench.CommandLineRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReplayCommandTest {
    @TempDir
    Path dir;

    private static CommandLineRun replay(String... args) {
        String[] all = new String[args.length + 1];
        all[0] = "replay";
        System.arraycopy(args, 0, all, 1, args.length);
        return CommandLineRun.of(all);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--program nothing                  | there is no program \"nothing\"",
        "--strategy luck                    | --strategy is \"luck\"",
        "--seeds 0                          | --seeds is 0",
        "--from -1                          | --from is -1",
        "--seconds 0                        | --seconds is 0",
        "--seed -1 --program kick           | --seed is -1",
        "--seed 1                           | --seed belongs to one program",
        "--seed 1 --program ring            | --seed belongs to one program",
        "--schedule 0                       | --schedule belongs to one program",
        "--seed 1 --schedule 0              | --seed and --schedule both name a schedule",
        "--seed 1 --strategy exhaustive     | --seed names no schedule of an exhaustive search",
        "--strategy exhaustive --program sysmon | --strategy exhaustive is for small programs, and none of these is small",
        "--strategy exhaustive --program slices | --strategy exhaustive leaves steps out, and program \"slices\" is checked at each",
        "--program kick --schedule x        | --schedule: \"x\" is no part of a schedule",
        "--program kick --schedule 0x900    | --schedule: the schedule does not fit",
        "--program kick --schedule 99       | --schedule: \"99\" names a lane that no program has",
        "--classes no/such/directory        | --classes is \"no/such/directory\"",
        "--trace no/such/directory/file     | --trace: cannot write to no/such/directory/file",
        "--json no/such/directory/file      | --json: cannot write to no/such/directory/file"
    })
    void badInputIsOneSentence(String args, String sentence) {
        CommandLineRun run = replay(args.strip().split(" +"));
        assertEquals(2, run.code(), run.out());
        assertTrue(run.err().startsWith("gmp: " + sentence), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
    }

    @Test
    void programsAreListed() {
        CommandLineRun run = replay("--program", "list");
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().lines().anyMatch(l -> l.matches("kick +ring +.*\\(small\\)")), run.out());
        assertTrue(run.out().lines().anyMatch(l -> l.matches("submits +loop +.*")), run.out());
    }

    @Test
    void aSearchIsATableAndJson() throws IOException {
        Path json = dir.resolve("replay.json");
        CommandLineRun run = replay("--program", "kick,runnext", "--seeds", "50", "--json", json.toString());
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().lines().anyMatch(l -> l.matches("kick +mixed +50 .*")), run.out());
        assertTrue(run.out().lines().anyMatch(l -> l.matches("runnext +exhaustive .* states, all")), run.out());
        assertTrue(run.out().contains("2 programs, "), run.out());
        assertTrue(Files.readString(json).contains("\"complete\": true"), Files.readString(json));
    }

    @Test
    void ofAGroupAnExhaustiveSearchTakesTheSmallPrograms() {
        CommandLineRun run = replay("--program", "words", "--strategy", "exhaustive");
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().lines().anyMatch(l -> l.matches("mask +exhaustive .* states, all")), run.out());
        assertFalse(run.out().contains("free-gs"), run.out());
    }

    @Test
    void aSeedIsPrintedAsLanes() {
        CommandLineRun seed = replay("--program", "kick", "--seed", "3");
        assertEquals(0, seed.code(), seed.err());
        assertTrue(seed.out().contains("RUNNEXT.compareAndSet"), seed.out());
        assertTrue(seed.out().lines().anyMatch(l -> l.matches("kick: \\d+ steps, \\d+ switches; nothing failed")), seed.out());
        assertEquals(seed.out(), replay("--program", "kick", "--seed", "3").out());
    }

    @Test
    void aScheduleIsATimeline() throws IOException {
        Path file = dir.resolve("steps.perfetto-trace");
        CommandLineRun run = replay("--program", "kick", "--schedule", "0x2 1x3", "--trace", file.toString());
        assertEquals(0, run.code(), run.err());
        byte[] bytes = Files.readAllBytes(file);
        int packets = 0;
        for (int at = 0; at < bytes.length; packets++) {
            assertEquals(0x0A, bytes[at], "field 1 of a trace is a packet");
            int length = bytes[at + 1] & 0x7F; // A varint of one or two bytes.
            at += bytes[at + 1] >= 0 ? 2 + length : 3 + length + (bytes[at + 2] << 7);
        }
        long steps = Long.parseLong(run.out().replaceAll("(?s).*kick: (\\d+) steps.*", "$1"));
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        assertTrue(text.contains("thief") && text.contains("RUNNEXT.compareAndSet"), text);
        assertTrue(packets > 2 * (steps - 2), packets + " packets of " + steps + " steps");
    }

    @Test
    void seedsBeginWhereTheyAreToldTo() throws IOException {
        Path json = dir.resolve("replay.json");
        CommandLineRun run = replay("--program", "kick", "--strategy", "random", "--seeds", "3", "--from", "7", "--json", json.toString());
        assertEquals(0, run.code(), run.err());
        assertTrue(Files.readString(json).contains("\"from\": 7"), Files.readString(json));
    }

    @Test
    void aScheduleIsRepeated() {
        CommandLineRun run = replay("--program", "kick", "--schedule", "0x2 1x3");
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().startsWith("own "), run.out());
    }
}
