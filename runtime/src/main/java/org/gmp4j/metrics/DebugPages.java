// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.gmp4j.metrics.Inspection.Kind;
import org.gmp4j.metrics.WebServer.Answer;
import org.gmp4j.metrics.WebServer.Page;
import org.gmp4j.sched.base.Scheduler;

/**
 * The pages below {@code /debug/pprof/} of {@link MetricsServer}: profiles and traces on demand. They have the paths and the parameters of
 * Go's {@code net/http/pprof}, so {@code go tool pprof URL} reads them. They are for clients on the same machine only, because a page shows
 * the program's code and costs CPU time. No page changes a setting.
 */
final class DebugPages {
    private static final String ROOT = "/debug/pprof/";
    private static final String PROFILE_SECONDS = "30";
    private static final String TRACE_SECONDS = "1";
    private static final String INDEX = """
            goroutine      all goroutines, by state and stack; ?debug=1 as text, here and below
            goroutineleak  goroutines that nothing can wake; stops all goroutines for a full collection of the heap
            profile        where goroutines use the CPUs, for ?seconds=30
            block          where goroutines waited since the program set a rate; or with ?seconds=10, in that time, in the JDK too
            mutex          where goroutines held locks for which others waited; as block
            trace          an execution trace of all schedulers for Perfetto, for ?seconds=1

            ?scheduler=NAME names a scheduler where there are several.
            """;

    private DebugPages() {
    }

    /** Takes a profile of a scheduler. */
    private interface Profiler {
        /** Returns the profile as text if {@code text}, otherwise in the format of pprof. */
        byte[] of(Scheduler s, Map<String, String> query, boolean text) throws InterruptedException;
    }

    /** Returns the pages by their paths. */
    static Map<String, Page> all() {
        Map<String, Page> pages = new TreeMap<>();
        pages.put(ROOT, new Page(true, _ -> Answer.of(Answer.TEXT, INDEX.getBytes(UTF_8))));
        put(pages, "goroutine", (s, _, text) -> bytes(new GoroutineProfile(s, false), text));
        put(pages, "goroutineleak", (s, _, text) -> bytes(new GoroutineProfile(s, true), text));
        put(pages, "profile", (s, query, text) -> bytes(Inspection.profile(s, Kind.CPU, seconds(query, PROFILE_SECONDS)), text));
        put(pages, "block", (s, query, text) -> bytes(query.containsKey("seconds")
                ? Inspection.profile(s, Kind.BLOCK, seconds(query, "")) : new Profile("block", s.blockProfile), text));
        put(pages, "mutex", (s, query, text) -> bytes(query.containsKey("seconds")
                ? Inspection.profile(s, Kind.MUTEX, seconds(query, "")) : new Profile("mutex", s.mutexProfile), text));
        pages.put(ROOT + "trace", new Page(true, DebugPages::trace));
        return pages;
    }

    private static void put(Map<String, Page> pages, String name, Profiler profiler) {
        pages.put(ROOT + name, new Page(true, query -> {
            boolean text = !query.getOrDefault("debug", "0").equals("0");
            byte[] body = profiler.of(scheduler(query), query, text);
            return text ? Answer.of(Answer.TEXT, body) : Answer.file(name + ".pb.gz", body);
        }));
    }

    private static byte[] bytes(GoroutineProfile p, boolean text) {
        return text ? p.toString().getBytes(UTF_8) : p.pprof();
    }

    private static byte[] bytes(Profile p, boolean text) {
        return text ? p.toString().getBytes(UTF_8) : p.pprof();
    }

    private static Answer trace(Map<String, String> query) throws IOException, InterruptedException {
        Path file = Files.createTempFile("gmp-trace-", ".pftrace");
        boolean done = false;
        try {
            Inspection.trace(file, seconds(query, TRACE_SECONDS));
            done = true;
            return Answer.file("trace.pftrace", file);
        } finally {
            if (!done) {
                Files.delete(file);
            }
        }
    }

    private static double seconds(Map<String, String> query, String usual) {
        String text = query.getOrDefault("seconds", usual);
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("seconds is \"" + text + "\": use more than 0, and at most " + Inspection.MOST_SECONDS, e);
        }
    }

    private static Scheduler scheduler(Map<String, String> query) {
        List<Scheduler> all = Scheduler.all();
        String name = query.get("scheduler");
        List<Scheduler> named = all.stream().filter(s -> name == null || s.label().equals(name)).toList();
        if (named.size() == 1) {
            return named.getFirst();
        }
        String names = all.stream().map(Scheduler::label).collect(Collectors.joining(", "));
        throw new IllegalArgumentException(all.isEmpty() ? "there is no scheduler" : "name one of the schedulers " + names
                + ": ?scheduler=NAME");
    }
}
