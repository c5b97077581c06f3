// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.bench.Json;
import org.gmp4j.bench.trace.TraceSummary.Site;
import org.gmp4j.bench.trace.TraceSummary.State;
import org.gmp4j.trace.Trace;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class TraceCommandTest {
    private static final int DAMAGES = 400;

    @TempDir
    private Path dir;

    private Path trace() throws Exception {
        Path file = dir.resolve("t");
        try (Gmp gmp = Gmp.builder().procs(1).build()) {
            Trace t = Trace.start(gmp, file);
            gmp.run(() -> {
                Chan<Integer> c = Chan.make();
                Go.go(() -> c.send(1));
                Go.gosched(); // It waits now, and lives for as long as this one sleeps.
                Go.sleep(Duration.ofMillis(5));
                int _ = c.recv();
            });
            while (gmp.numGoroutine() != 0) {
                Thread.onSpinWait(); // A wait for a goroutine is over a moment before that has quite ended.
            }
            t.stop();
        }
        return file;
    }

    @Test
    void aSummary() throws Exception {
        TraceSummary s = new TraceSummary();
        TraceFile.read(trace(), s);
        assertEquals(2, s.totals().get("created"));
        assertEquals(2, s.sites().size(), s.sites().keySet()::toString);
        for (Map.Entry<String, Site> e : s.sites().entrySet()) {
            assertTrue(e.getKey().contains("TraceCommandTest"), e.getKey());
            assertTrue(e.getValue().nanos(State.RUNNING) > 0 && e.getValue().nanos(State.WAITING) > 0, e.getKey());
        }
        StringWriter text = new StringWriter();
        s.print(new PrintWriter(text), 10);
        assertTrue(text.toString().contains("2 created, 2 ended"), text::toString);
        assertTrue(text.toString().contains("  sleep "), text::toString);
        assertTrue(text.toString().contains("  chan send "), text::toString);
    }

    @Test
    void asJson() throws Exception {
        Path json = dir.resolve("json");
        Result r = run("--json", json.toString(), trace().toString());
        assertEquals(0, r.exit(), r::toString);
        assertTrue(r.out().contains("2 created, 2 ended"), r::toString);
        Map<?, ?> all = (Map<?, ?>) Json.parse(Files.readString(json));
        assertEquals(2, ((Number) ((Map<?, ?>) all.get("totals")).get("created")).intValue());
        List<?> sites = (List<?>) all.get("sites");
        assertEquals(2, sites.size());
        long nanos = ((Number) all.get("nanos")).longValue();
        for (Object o : sites) {
            Map<?, ?> site = (Map<?, ?>) o;
            long waiting = ((Number) site.get("waiting")).longValue();
            assertTrue(waiting > 0 && waiting < nanos, site::toString);
            long lived = waiting;
            for (String state : List.of("running", "runnable")) { // One that is to sleep may not get there before its time is nearly up.
                lived += ((Number) site.get(state)).longValue();
            }
            assertTrue(lived > 5_000_000 && lived <= nanos, site::toString);
        }
        assertTrue(((List<?>) all.get("waits")).stream().anyMatch(w -> "sleep".equals(((Map<?, ?>) w).get("for"))), all::toString);

        Result both = run("--text", "--json", json.toString(), trace().toString());
        assertEquals(2, both.exit(), both::toString);
        assertTrue(both.err().startsWith("--json is of the summary"), both::toString);
        Result nowhere = run("--json", dir.resolve("no/where").toString(), trace().toString());
        assertEquals(2, nowhere.exit(), nowhere::toString);
        assertTrue(nowhere.err().startsWith("cannot write "), nowhere::toString);
    }

    /** A goroutine that is older than the trace has its first event at the trace's beginning, and late in the file. */
    @Test
    void textBeginsWithTheEarliestEvent() throws Exception {
        Path file = dir.resolve("older");
        try (Gmp gmp = Gmp.builder().procs(1).build()) {
            Chan<Integer> c = Chan.make();
            gmp.go(() -> c.recv());
            gmp.run(() -> Go.sleep(Duration.ofMillis(1)));
            Trace t = Trace.start(gmp, file);
            gmp.run(() -> Go.sleep(Duration.ofMillis(1)));
            c.send(1);
            gmp.run(() -> { });
            t.stop();
        }
        Result r = run("--text", file.toString());
        assertEquals(0, r.exit(), r::toString);
        List<Double> times = r.out().lines().map(l -> Double.valueOf(l.strip().split(" ", 2)[0])).toList();
        assertEquals(0, Collections.min(times));
    }

    private record Result(int exit, String out, String err) {
    }

    private static Result run(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exit = new CommandLine(new TraceCommand()).setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true)).execute(args);
        return new Result(exit, out.toString(), err.toString());
    }

    /** Wherever it is cut, it is one sentence. */
    @Test
    void truncatedOrNotOurs() throws Exception {
        byte[] whole = Files.readAllBytes(trace());
        Path cut = dir.resolve("cut");
        for (int n = 0; n < whole.length; n += n < 200 ? 1 : 97) {
            Files.write(cut, Arrays.copyOf(whole, n));
            TraceFile.BadFile e = assertThrows(TraceFile.BadFile.class, () -> TraceFile.read(cut, new TraceSummary()), "cut at " + n);
            assertTrue(e.getMessage().contains(n == 0 || !e.getMessage().contains("truncated") ? "is no trace" : "is truncated"),
                    e.getMessage());
        }
        for (int i = 0; i < 50; i++) {
            whole[i] ^= 0x55;
        }
        Files.write(cut, whole);
        assertThrows(TraceFile.BadFile.class, () -> TraceFile.read(cut, new TraceSummary()));
    }

    /** Bytes that are not what was written, left out, or there twice: a summary of what can be read, or one sentence. */
    @Test
    void damaged() throws Exception {
        byte[] whole = Files.readAllBytes(trace());
        Path file = dir.resolve("damaged");
        int refused = 0;
        for (int seed = 0; seed < DAMAGES; seed++) {
            Files.write(file, damaged(whole.clone(), new Random(seed)));
            Result r = seed % 3 == 0 ? run("--text", file.toString()) : run("--json", dir.resolve("json").toString(), file.toString());
            refused += r.exit() == 0 ? 0 : 1;
            int n = seed;
            assertTrue(r.exit() == 0 || r.exit() == 2 && r.err().lines().findFirst().orElse("").contains(" is "), () -> n + ": " + r);
        }
        assertTrue(refused > DAMAGES / 4 && refused < DAMAGES, refused + " refused"); // Some are read to their end.
    }

    private static byte[] damaged(byte[] b, Random random) {
        int at = random.nextInt(b.length);
        int n = Math.min(1 + random.nextInt(200), b.length - at);
        switch (random.nextInt(4)) {
            case 0 -> b[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
            case 1 -> {
                for (int i = 0; i < 20; i++) {
                    b[random.nextInt(b.length)] = (byte) random.nextInt();
                }
            }
            case 2 -> {
                byte[] less = new byte[b.length - n];
                System.arraycopy(b, 0, less, 0, at);
                System.arraycopy(b, at + n, less, at, less.length - at);
                return less;
            }
            default -> {
                byte[] more = Arrays.copyOf(b, b.length + n);
                System.arraycopy(b, at, more, at + n, b.length - at);
                return more;
            }
        }
        return b;
    }
}
