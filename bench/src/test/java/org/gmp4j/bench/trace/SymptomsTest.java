// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.gmp4j.bench.ChildJava;
import org.gmp4j.bench.Json;
import org.gmp4j.bench.trace.TraceSummary.Latencies;
import org.gmp4j.bench.trace.TraceSummary.Site;
import org.gmp4j.bench.trace.TraceSummary.State;
import org.gmp4j.bench.trace.TraceSummary.Waits;
import org.gmp4j.metrics.Symptom.Kind;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The programs of {@code examples/Symptoms.java}, each recognised as {@code runtime/DIAGNOSING.md} says: from a line of schedtrace, from
 * what the live page reads, and from a trace. They last as long as they are looked at.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SymptomsTest {
    @TempDir
    private static Path classes;

    @TempDir
    private Path dir;

    @BeforeAll
    static void compile() {
        ChildJava.compile(classes, List.of("examples/Symptoms.java"));
    }

    /** Runs one until schedtrace and the page have shown it, and it has started so many goroutines, and gives its trace. */
    private TraceSummary provoke(String name, String schedtrace, Kind kind, long goroutines) throws Exception {
        Path trace = dir.resolve("trace");
        ProcessBuilder java = new ProcessBuilder(
                ChildJava.command(classes + ":" + ChildJava.runtime(), "Symptoms", name, "1000"));
        java.environment().put("GMPDEBUG", "schedtrace=50,dashboard=0,trace=" + trace);
        Process p = java.start();
        try {
            BufferedReader said = p.errorReader();
            Pattern line = Pattern.compile(schedtrace);
            String page = null;
            for (boolean seen = false; !seen || page == null;) {
                String next = said.readLine();
                assertTrue(next != null, "it has ended");
                Matcher url = Pattern.compile("gmp4j: dashboard at (.*)").matcher(next);
                page = url.matches() ? url.group(1) : page;
                seen |= line.matcher(next).find();
            }
            Thread drain = Thread.ofPlatform().daemon().start(() -> {
                try {
                    long _ = said.transferTo(Writer.nullWriter());
                } catch (IOException e) {
                    return; // Closed, as the process has ended.
                }
            });
            awaitSymptom(page, kind, goroutines);
            p.destroy(); // By SIGTERM: it writes its trace.
            p.waitFor();
            drain.join();
        } finally {
            p.destroyForcibly().waitFor();
        }
        TraceSummary summary = new TraceSummary();
        TraceFile.read(trace, summary);
        return summary;
    }

    private static void awaitSymptom(String page, Kind kind, long goroutines) throws IOException, InterruptedException {
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpRequest data = HttpRequest.newBuilder(URI.create(page + "data.json")).build();
            List<Object> found = new ArrayList<>();
            double started = 0;
            while (!found.contains(kind.name()) || started < goroutines) {
                Thread.sleep(100);
                Map<?, ?> all = (Map<?, ?>) Json.parse(http.send(data, BodyHandlers.ofString()).body());
                for (Object s : (List<?>) all.get("schedulers")) {
                    started = (double) ((Map<?, ?>) ((Map<?, ?>) s).get("metrics")).get("/sched/goroutines-created:goroutines");
                    ((List<?>) ((Map<?, ?>) s).get("symptoms")).forEach(x -> found.add(((Map<?, ?>) x).get("kind")));
                }
            }
        }
    }

    private static long nanos(TraceSummary s, State state) {
        return s.sites().values().stream().mapToLong(site -> site.nanos(state)).sum();
    }

    private static boolean any(TraceSummary s, Predicate<Site> is) {
        return s.sites().values().stream().anyMatch(is);
    }

    @Test
    void idlePsBesideALongQueue() throws Exception {
        TraceSummary s = provoke("idle", "gomaxprocs=4 idleprocs=[1-3] threads=1 .* idlethreads=0 runqueue=0 \\[( \\d+)* \\d{2,}( \\d+)* ]",
                Kind.IDLE_PS_BESIDE_A_QUEUE, 1);
        assertTrue(nanos(s, State.RUNNABLE) > 10 * nanos(s, State.RUNNING), "many are runnable, one runs");
        assertTrue(s.steals().isEmpty(), "nobody steals");
    }

    @Test
    void spinningWithoutWork() throws Exception {
        // Two spin if the first was late when it was woken.
        TraceSummary s = provoke("spin", " spinningthreads=[12] .* runqueue=0 \\[ 0 0 0 0 ]", Kind.SPINNING_WITHOUT_WORK, 1);
        // Where other processes have the CPUs goroutines are runnable for longer.
        assertTrue(nanos(s, State.WAITING) > nanos(s, State.RUNNING) + nanos(s, State.RUNNABLE), "they wait most of the time");
    }

    @Test
    void aGrowingGlobalQueue() throws Exception {
        TraceSummary s = provoke("global", " runqueue=[1-9]\\d{3,} ", Kind.GLOBAL_QUEUE_GROWS, 1);
        assertTrue(nanos(s, State.RUNNABLE) > 10 * nanos(s, State.RUNNING), "all have waited longer than they ran");
        assertTrue(s.totals().get("goroutines after") > 1000, "and many have not begun");
    }

    @Test
    void goroutinesThatNeverMove() throws Exception {
        TraceSummary s = provoke("stuck", "gomaxprocs=4 .* threads=[2-9]", Kind.GOROUTINES_NEVER_MOVE, 1);
        long all = s.totals().get("end") - s.totals().get("begin");
        assertTrue(s.waits().stream().anyMatch(w -> w.reason.equals("chan receive") && w.count == 1 && w.longest > all / 2),
                () -> s.waits().stream().map(SymptomsTest::text).toList().toString());
    }

    private static String text(Waits w) {
        return w.reason + " " + w.count + " " + w.longest;
    }

    @Test
    void aSlowTail() throws Exception {
        TraceSummary s = provoke("tail", "gomaxprocs=1 .* \\[ \\d{2,} ]|runqueue=\\d{2,}", Kind.SLOW_TAIL, 25_000); // Two of them are long.
        assertTrue(any(s, site -> {
            Latencies l = site.latencies;
            return l.count() > 100 && l.at(0.99) > 10_000_000 && l.at(0.99) > 10 * l.at(0.5);
        }), "latencies of no site have a tail");
    }
}
