// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

import org.gmp4j.report.LeakSearch;
import org.gmp4j.report.Traceback;
import org.gmp4j.sched.base.Scheduler;

/**
 * The goroutines of a scheduler in groups. Goroutines in the same state, at the same place and with the same labels form one {@link Group}.
 * A profile is taken without a lock while the goroutines run, so each goroutine is shown as it was at some moment during the call. The call
 * takes some µs for each goroutine. A group that grows from one profile to the next may be a leak. Immutable.
 *
 * <p>Source: the {@code goroutine} profile of Go's {@code runtime/pprof}.
 */
public final class GoroutineProfile {
    /**
     * Goroutines with the same state, place and labels.
     *
     * @param state their state, or the reason of their wait, in the words of a traceback: {@code chan receive}
     * @param locked whether they are locked to threads
     * @param frames their frames, innermost first; empty when they have not begun to run
     * @param function the class of their function if they have not begun to run, or of their tasks if they are virtual threads that the
     *     program or a library has made; otherwise empty
     * @param labels their labels, set by {@link Labels}
     * @param count their number
     * @param first the lowest goroutine number among them
     * @param site the place where they were started; empty unless {@code GMPDEBUG=createsites=1} is set
     * @param threads the numbers and names of up to three threads of the group, if they have an identity: {@code #31 "orders-0"}
     */
    public record Group(String state, boolean locked, List<StackTraceElement> frames, String function, Map<String, String> labels,
            int count, long first, String site, List<String> threads) {
    }

    private record Key(String state, boolean locked, List<StackTraceElement> frames, String function, Map<String, String> labels,
            String site) {
    }

    /** The count of a group's goroutines, their lowest number, and some of their threads. */
    private static final class Found {
        private int count;
        private long first = Long.MAX_VALUE;
        private final List<String> threads = new ArrayList<>();
    }

    /** The number of threads that a group names. */
    private static final int MOST_THREADS = 3;

    private final String kind;
    private final List<Group> groups;
    private final int total;

    private GoroutineProfile(String kind, Consumer<Consumer<Traceback.Goroutine>> source) {
        this.kind = kind;
        Map<Key, Found> found = new HashMap<>();
        source.accept(g -> {
            Key key = new Key(g.state(), g.locked(), g.frames(), g.fn(), g.labels(), g.site());
            Found f = found.computeIfAbsent(key, _ -> new Found());
            f.count++;
            f.first = Math.min(f.first, g.goid());
            if (!g.thread().isEmpty() && f.threads.size() < MOST_THREADS) {
                f.threads.add(g.thread());
            }
        });
        groups = found.entrySet().stream().map(e -> {
            Key k = e.getKey();
            return new Group(k.state, k.locked, k.frames, k.function, k.labels, e.getValue().count, e.getValue().first,
                    k.site, List.copyOf(e.getValue().threads));
        }).sorted((a, b) -> a.count != b.count ? b.count - a.count : Long.compare(a.first, b.first)).toList();
        total = groups.stream().mapToInt(Group::count).sum();
    }

    /**
     * Takes the profile of a scheduler's goroutines, or only of its leaked goroutines if {@code leaked}. Users call {@code Gmp.leaks()}.
     */
    @SuppressWarnings("exports")
    public GoroutineProfile(Scheduler s, boolean leaked) {
        this(leaked ? "goroutineleak" : "goroutine", leaked ? to -> LeakSearch.each(s, to) : to -> Traceback.list(s, to));
    }

    /** Returns the profile of a scheduler's goroutines whose numbers {@code which} accepts. */
    static GoroutineProfile of(Scheduler s, LongPredicate which) {
        return new GoroutineProfile("goroutine", to -> Traceback.list(s, g -> {
            if (which.test(g.goid())) {
                to.accept(g);
            }
        }));
    }

    /** Returns the groups, the largest first. */
    public List<Group> groups() {
        return groups;
    }

    /** Returns the number of goroutines. */
    public int total() {
        return total;
    }

    /** Returns the text, with each group in the form of a traceback: {@code 3 goroutines [chan receive]:} and the frames. */
    @Override
    public String toString() {
        StringBuilder b = new StringBuilder(kind).append(" profile: total ").append(total).append('\n');
        for (Group g : groups) {
            b.append('\n').append(g.count).append(g.count == 1 ? " goroutine [" : " goroutines [").append(g.state)
                    .append(g.locked ? ", locked to thread" : "").append("]:\n");
            if (!g.labels.isEmpty()) {
                b.append("\tlabels: ").append(new TreeMap<>(g.labels)).append('\n');
            }
            if (!g.threads.isEmpty()) {
                b.append(g.count == 1 ? "\tthread " : "\tthreads ").append(String.join(", ", g.threads))
                        .append(g.count > g.threads.size() ? ", \u2026\n" : "\n");
            }
            if (g.frames.isEmpty()) {
                b.append("\t(not started) ").append(g.function).append('\n');
            }
            g.frames.forEach(e -> b.append('\t').append(e).append('\n'));
            if (!g.site.isEmpty()) {
                b.append("created at ").append(g.site).append('\n');
            } else if (!g.frames.isEmpty() && !g.function.isEmpty()) {
                b.append("task ").append(g.function).append('\n');
            }
        }
        return b.toString();
    }

    /**
     * Writes the profile in the format of pprof, for {@code go tool pprof} and other readers. The state of a group is its label {@code
     * state}.
     *
     * @throws IOException when the file cannot be written
     */
    public void write(Path file) throws IOException {
        Path _ = Files.write(file, pprof());
    }

    /** Returns the profile in the format of pprof: {@code profile.proto}, compressed by gzip. */
    public byte[] pprof() {
        Pprof p = new Pprof(kind, "count");
        for (Group g : groups) {
            Map<String, String> labels = new TreeMap<>(g.labels);
            labels.put("state", g.state);
            if (!g.site.isEmpty()) {
                labels.put("created", g.site);
            }
            if (!g.threads.isEmpty()) {
                labels.put("task", g.function);
                labels.put("threads", String.join(", ", g.threads));
            }
            List<StackTraceElement> frames = g.frames.isEmpty()
                    ? List.of(new StackTraceElement(g.function, "(not started)", null, -1)) : g.frames;
            p.add(frames, labels, g.count);
        }
        return p.bytes();
    }
}
