// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.trace;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

import org.gmp4j.bench.trace.TraceFile.Event;

/** What a trace comes to: time by creation site and state, latencies, what goroutines wait for, steals. */
final class TraceSummary implements TraceFile.Visitor {
    private static final double MILLION = 1e6;
    private static final double THOUSAND = 1e3;

    /** States of a goroutine, as its lane has them. */
    enum State {
        RUNNING,
        RUNNABLE,
        WAITING,
        SYSCALL
    }

    /** Goroutines that were started in one place. */
    static final class Site {
        final String name;
        long goroutines;
        final long[] nanos = new long[State.values().length];
        final Latencies latencies = new Latencies();

        Site(String name) {
            this.name = name;
        }

        long nanos(State s) {
            return nanos[s.ordinal()];
        }
    }

    /** Waits of one kind, of goroutines of one site. */
    static final class Waits {
        final String reason;
        final Site site;
        long count;
        long nanos;
        long longest;

        Waits(String reason, Site site) {
            this.reason = reason;
            this.site = site;
        }
    }

    /** Numbers, all kept. */
    static final class Latencies {
        private long[] all = new long[16];
        private int n;
        private boolean sorted = true;

        void add(long nanos) {
            if (n == all.length) {
                all = Arrays.copyOf(all, 2 * n);
            }
            all[n++] = nanos;
            sorted = false;
        }

        int count() {
            return n;
        }

        /** Returns the value that a share of them does not exceed. */
        long at(double share) {
            if (!sorted) {
                Arrays.sort(all, 0, n);
                sorted = true;
            }
            return n == 0 ? 0 : all[Math.min(n - 1, (int) (share * n))];
        }
    }

    /** A lane that is open or may be. */
    private static final class Lane {
        final Site site;
        State state;
        String name = "";
        long since;

        Lane(Site site) {
            this.site = site;
        }
    }

    /** Steals of one P from another. */
    static final class Steals {
        long times;
        long goroutines;
    }

    private static final String WAITING = "waiting: ";

    private final Map<Long, Lane> lanes = new HashMap<>();
    private final Map<Long, String> ps = new HashMap<>();
    private final Map<Long, String> groups = new HashMap<>();
    private final Map<String, Site> sites = new TreeMap<>();
    private final Map<String, Waits> waits = new HashMap<>();
    private final Map<String, Steals> steals = new TreeMap<>();
    private final Latencies stops = new Latencies();
    private final Latencies all = new Latencies();
    private final Map<String, Long> totals = new TreeMap<>();
    private long begin = Long.MAX_VALUE;
    private long end;
    private long worldSince;
    private int schedulers;

    @Override
    public void track(long uuid, long parent, String name) {
        String group = groups.getOrDefault(parent, "");
        if (group.equals("goroutines")) {
            Site site = sites.computeIfAbsent(site(name), Site::new);
            site.goroutines++;
            lanes.put(uuid, new Lane(site));
        } else if (group.equals("Ps")) {
            ps.put(uuid, name);
        } else {
            groups.put(uuid, name);
        }
    }

    /** Returns the site in the name of a goroutine's lane: its number, the name of its thread in quotes if it has one, and the site. */
    private static String site(String lane) {
        int named = lane.lastIndexOf("\" ");
        return lane.substring(named < 0 ? lane.indexOf(' ') + 1 : named + 2);
    }

    @Override
    public void event(Event e) {
        Lane lane = lanes.get(e.track);
        if (lane != null) {
            state(lane, e);
        } else if (e.name.equals("steal") && ps.containsKey(e.track)) {
            Steals s = steals.computeIfAbsent(ps.get(e.track) + " from P" + e.value("from"), k -> new Steals());
            s.times++;
            s.goroutines += e.value("goroutines");
        } else if (groups.getOrDefault(e.track, "").equals("the world")) {
            if (e.type == TraceFile.Type.BEGIN) {
                worldSince = e.nanos;
            } else {
                stops.add(e.nanos - worldSince);
            }
        } else if (groups.getOrDefault(e.track, "").equals(TraceFile.TITLE)) {
            schedulers++;
            begin = Math.min(begin, e.value("begin"));
            end = Math.max(end, e.value("end"));
            e.values.forEach((k, v) -> totals.merge(k, v, Long::sum));
        }
    }

    private void state(Lane lane, Event e) {
        if (e.type == TraceFile.Type.BEGIN) {
            lane.name = e.name;
            lane.since = e.nanos;
            lane.state = e.name.equals("running") ? State.RUNNING
                    : e.name.startsWith("runnable") ? State.RUNNABLE
                    : e.name.equals("syscall") ? State.SYSCALL : State.WAITING;
            if (lane.state == State.WAITING && !e.name.startsWith(WAITING)) {
                throw new IllegalArgumentException("a goroutine in no state that there is, \"" + e.name + "\"");
            }
        } else if (e.type == TraceFile.Type.END && lane.state != null) {
            long nanos = e.nanos - lane.since;
            if (nanos < 0) {
                throw new IllegalArgumentException("an event that ends before it begins");
            }
            lane.site.nanos[lane.state.ordinal()] += nanos;
            if (lane.state == State.RUNNABLE) {
                lane.site.latencies.add(nanos);
                all.add(nanos);
            } else if (lane.state == State.WAITING) {
                Waits w = waits.computeIfAbsent(lane.name + "\n" + lane.site.name,
                        k -> new Waits(lane.name.substring(WAITING.length()), lane.site));
                w.count++;
                w.nanos += nanos;
                w.longest = Math.max(w.longest, nanos);
            }
            lane.state = null;
        }
    }

    /** Returns the sites by name, for tests. */
    Map<String, Site> sites() {
        return sites;
    }

    Collection<Waits> waits() {
        return waits.values();
    }

    Map<String, Steals> steals() {
        return steals;
    }

    /** Returns the totals at the end of the trace. */
    Map<String, Long> totals() {
        return totals;
    }

    /** Returns all of it for {@code JsonText}, times in ns. */
    Map<String, Object> json() {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("nanos", end - begin);
        m.put("schedulers", schedulers);
        m.put("totals", totals);
        m.put("worldStops", Map.of("count", stops.count(), "max", stops.at(1)));
        m.put("latency", json(all));
        m.put("sites", sites.values().stream().map(TraceSummary::json).toList());
        m.put("waits", largest(waits.values(), w -> w.nanos, waits.size()).stream().map(TraceSummary::json).toList());
        m.put("steals", steals.entrySet().stream().map(e -> {
            Map<String, Object> s = new LinkedHashMap<>();
            s.put("p", e.getKey());
            s.put("times", e.getValue().times);
            s.put("goroutines", e.getValue().goroutines);
            return s;
        }).toList());
        return m;
    }

    private static Map<String, Object> json(Latencies l) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("count", l.count());
        m.put("p50", l.at(0.5));
        m.put("p90", l.at(0.9));
        m.put("p99", l.at(0.99));
        m.put("p999", l.at(0.999));
        m.put("max", l.at(1));
        return m;
    }

    private static Map<String, Object> json(Site s) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("site", s.name);
        m.put("goroutines", s.goroutines);
        for (State state : State.values()) {
            m.put(state.name().toLowerCase(Locale.ROOT), s.nanos(state));
        }
        m.put("latency", json(s.latencies));
        return m;
    }

    private static Map<String, Object> json(Waits w) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("for", w.reason);
        m.put("site", w.site.name);
        m.put("count", w.count);
        m.put("nanos", w.nanos);
        m.put("longest", w.longest);
        return m;
    }

    void print(PrintWriter out, int top) {
        out.printf(Locale.ROOT, "%.3f s, %,d events, %,d scheduler%s, %,d batches of events missing%n", (end - begin) / 1e9,
                totals.getOrDefault("events", 0L), schedulers, schedulers == 1 ? "" : "s", totals.getOrDefault("dropped batches", 0L));
        long before = totals.getOrDefault("goroutines before", 0L);
        out.printf(Locale.ROOT, "goroutines: %s at the beginning, %,d created, %,d ended, %,d at the end%n",
                before < 0 ? "an unknown number" : String.format(Locale.ROOT, "%,d", before), totals.getOrDefault("created", 0L),
                totals.getOrDefault("ended", 0L), totals.getOrDefault("goroutines after", 0L));
        if (stops.count() > 0) {
            out.printf(Locale.ROOT, "the world was stopped %,d times, %.1f µs at most%n", stops.count(), stops.at(1) / THOUSAND);
        }
        printSites(out, top);
        printLatencies(out, top);
        printWaits(out, top);
        printSteals(out, top);
    }

    private static <T> List<T> largest(Iterable<T> all, ToLongFunction<T> by, int top) {
        List<T> list = new ArrayList<>();
        all.forEach(list::add);
        list.sort(Comparator.comparingLong(by).reversed());
        return list.subList(0, Math.min(top, list.size()));
    }

    private void printSites(PrintWriter out, int top) {
        out.printf("%nTime by creation site, ms%n%12s %12s %12s %12s %10s  site%n", "running", "runnable", "waiting", "syscall",
                "goroutines");
        for (Site s : largest(sites.values(), x -> x.nanos(State.RUNNING), top)) {
            out.printf(Locale.ROOT, "%12.3f %12.3f %12.3f %12.3f %10d  %s%n", s.nanos(State.RUNNING) / MILLION,
                    s.nanos(State.RUNNABLE) / MILLION, s.nanos(State.WAITING) / MILLION, s.nanos(State.SYSCALL) / MILLION, s.goroutines,
                    s.name);
        }
    }

    private void printLatencies(PrintWriter out, int top) {
        out.printf("%nScheduling latency: from runnable to running, µs%n%10s %10s %10s %10s %10s %10s  site%n", "count", "p50", "p90",
                "p99", "p99.9", "max");
        print(out, all, "all");
        for (Site s : largest(sites.values(), x -> x.latencies.at(0.99), top)) {
            if (s.latencies.count() > 0) {
                print(out, s.latencies, s.name);
            }
        }
    }

    private static void print(PrintWriter out, Latencies l, String name) {
        out.printf(Locale.ROOT, "%10d %10.1f %10.1f %10.1f %10.1f %10.1f  %s%n", l.count(), l.at(0.5) / THOUSAND, l.at(0.9) / THOUSAND,
                l.at(0.99) / THOUSAND, l.at(0.999) / THOUSAND, l.at(1) / THOUSAND, name);
    }

    private void printWaits(PrintWriter out, int top) {
        out.printf("%nWaits, ms%n%10s %12s %12s  %-28s site%n", "count", "total", "longest", "for");
        for (Waits w : largest(waits.values(), x -> x.nanos, top)) {
            out.printf(Locale.ROOT, "%10d %12.3f %12.3f  %-28s %s%n", w.count, w.nanos / MILLION, w.longest / MILLION, w.reason,
                    w.site.name);
        }
    }

    private void printSteals(PrintWriter out, int top) {
        if (steals.isEmpty()) {
            out.printf("%nNo P stole from another.%n");
            return;
        }
        out.printf("%nSteals%n%10s %12s  P%n", "times", "goroutines");
        for (Map.Entry<String, Steals> s : largest(steals.entrySet(), x -> x.getValue().goroutines, top)) {
            out.printf(Locale.ROOT, "%10d %12d  %s%n", s.getValue().times, s.getValue().goroutines, s.getKey());
        }
    }
}
