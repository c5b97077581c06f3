// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.tracing;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.gmp4j.events.Ev;
import org.gmp4j.events.Tracer;
import org.gmp4j.print.ThreadName;
import org.gmp4j.sched.Tracing.State;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * Turns the events of one scheduler into lanes and counters. Each P has a lane with the goroutines that it ran. Each goroutine has a lane
 * with its states. There are also lanes of tasks and regions. An arrow leads from each wake-up to the run that follows it. A goroutine
 * without an event has no lane.
 */
final class Lanes implements Merge.Sink {
    private static final String OLDER = "(older than the trace)";
    private static final String UNKNOWN = "(unknown)";
    private static final String[] YIELDS = {"gosched", "preempted", "goyield"};
    private static final long COUNT_EVERY_NANOS = 20_000;

    // Kinds of lanes. A lane's id consists of the scheduler's number (8 bits), the kind (8 bits) and a number.
    private static final long KIND_SHIFT = 48;
    private static final long SCHEDULER_SHIFT = 56;
    private static final int GROUP = 1;
    private static final int PS = 2;
    private static final int P = 3;
    private static final int GS = 4;
    private static final int G = 5;
    private static final int REGIONS = 6;
    private static final int TASKS = 7;
    private static final int TASK = 8;
    private static final int COUNTERS = 9;
    private static final int QUEUES = 10;
    private static final int WORLD = 11;

    /** A goroutine, with its current state. */
    private static final class Goroutine {
        private final long goid;
        private final String site;
        /** The name of its thread; empty for none. */
        private final String thread;
        /** Whether it lived before the trace, or is known only by an event after its start. */
        private final boolean older;
        private int status;
        private int reason;
        private String yielded = "";
        private long flow;
        private boolean shown;

        Goroutine(long goid, String site, String thread, boolean older, int status) {
            this.goid = goid;
            this.site = site;
            this.thread = thread;
            this.older = older;
            this.status = status;
        }

        /** Returns the name of the goroutine's lane. {@code gmp trace} reads the site from it. */
        String label() {
            return "G" + goid + " " + (thread.isEmpty() ? "" : ThreadName.quoted(thread) + " ") + site;
        }

        String state() {
            return switch (status) {
                case GStatus.GRUNNING -> "running";
                case GStatus.GRUNNABLE -> yielded.isEmpty() ? "runnable" : "runnable: " + yielded;
                case GStatus.GSYSCALL -> "syscall";
                default -> "waiting: " + WaitReason.of(reason).text();
            };
        }
    }

    /** The lane of a P, and the goroutine that runs there. */
    private static final class Lane {
        private boolean shown;
        private boolean held;
        private @Nullable Goroutine runs;
    }

    private final Perfetto out;
    private final long scheduler;
    private final List<String> names;
    private final long base;
    private final long begin;
    /** Whether all goroutines that lived at the beginning are known. */
    private final boolean allKnown;
    private final Map<Long, Goroutine> all = new HashMap<>();
    /** The names of threads, by the goids of goroutines whose creation event has not been read yet. */
    private final Map<Long, String> threads = new HashMap<>();
    private final Map<Integer, Lane> ps = new HashMap<>();
    private final Set<Long> tracks = new HashSet<>();
    private long flows;
    private long created;
    private long ended;
    private long counted = Long.MIN_VALUE;
    private final int[] count = new int[16];
    private boolean stopped;

    /**
     * @param number the number of the scheduler, from 1 on
     * @param names the names to which events refer
     * @param base the nanoTime at which the trace began; events are shown from {@code begin} ns later on
     * @param first the state of the scheduler at the beginning; null if it is not known
     */
    Lanes(Perfetto out, int number, String name, List<String> names, long base, long begin, @Nullable State first) throws IOException {
        this.out = out;
        this.names = names;
        this.base = base;
        this.begin = begin;
        scheduler = (long) number << SCHEDULER_SHIFT;
        flows = scheduler;
        out.track(id(GROUP, 0), Session.ROOT, name, false);
        out.track(id(PS, 0), id(GROUP, 0), "Ps", false);
        out.track(id(GS, 0), id(GROUP, 0), "goroutines", false);
        allKnown = first != null;
        if (first != null) {
            for (int i = 0; i < first.count(); i++) {
                String site = first.site(i);
                Goroutine g = new Goroutine(first.goid(i), site.isEmpty() ? OLDER : site, first.thread(i), true, first.status(i));
                g.reason = first.reason(i);
                all.put(g.goid, g);
                count[g.status]++;
            }
        }
    }

    private long id(int kind, long number) {
        return scheduler | (long) kind << KIND_SHIFT | number;
    }

    @Override
    public boolean ready(int ring, int kind, long goid) {
        int wanted = before(kind);
        if (wanted < 0) {
            return true;
        }
        Goroutine g = all.get(goid);
        // A goroutine that runs without a P is in GSYSCALL, and its events are outside.
        return g != null && (g.status == wanted
                || wanted == GStatus.GRUNNING && g.status == GStatus.GSYSCALL && ring == Tracer.OUTSIDE);
    }

    /** Returns the state of a goroutine before an event; negative if the event does not determine it. */
    private static int before(int kind) {
        return switch (kind) {
            case Ev.START -> GStatus.GRUNNABLE;
            case Ev.UNBLOCK, Ev.COLLECTED -> GStatus.GWAITING;
            case Ev.BLOCK, Ev.YIELD, Ev.END, Ev.SYSCALL, Ev.TAKEN -> GStatus.GRUNNING;
            case Ev.SYSCALL_EXIT, Ev.SYSCALL_BLOCKED -> GStatus.GSYSCALL;
            default -> -1;
        };
    }

    /** Returns the state of a goroutine after an event of a thread without a P; negative if the event does not determine it. */
    private static int after(int kind) {
        return switch (kind) {
            case Ev.CREATE, Ev.UNBLOCK, Ev.SYSCALL_BLOCKED -> GStatus.GRUNNABLE;
            case Ev.BLOCK -> GStatus.GWAITING;
            default -> -1;
        };
    }

    @Override
    public void event(long nanos, int ring, MemorySegment words, long at) throws IOException {
        long head = words.get(JAVA_LONG, at);
        long word = words.get(JAVA_LONG, at + Long.BYTES);
        int kind = Ev.kind(head);
        long number = Ev.number(word);
        long t = base + nanos;
        if (before(kind) >= 0 || kind == Ev.CREATE) {
            goroutine(t, ring, kind, Ev.argument(head), number, Ev.detail(word));
            return;
        }
        switch (kind) {
            case Ev.P_START -> take(t, ring, number);
            case Ev.P_STOP -> giveUp(t, ring);
            case Ev.STEAL -> out.instant(lane(ring), "steal").with("goroutines", number).with("from", Ev.detail(word)).put(t);
            case Ev.STW_BEGIN -> world(t, true);
            case Ev.STW_END -> world(t, false);
            case Ev.QUEUE -> queue(t, number, Ev.detail(word));
            case Ev.LOG -> out.message(regions(known(number, GStatus.GRUNNING), t), text(words, at, word)).put(t);
            case Ev.NAME -> threads.put(number, text(words, at, word));
            case Ev.REGION_BEGIN -> out.begin(regions(known(number, GStatus.GRUNNING), t), name(Ev.detail(word))).put(t);
            case Ev.REGION_END -> out.end(regions(known(number, GStatus.GRUNNING), t)).put(t);
            case Ev.TASK_BEGIN, Ev.TASK_END -> task(t, kind, Ev.detail(word), words.get(JAVA_LONG, at + 2 * Long.BYTES),
                    words.get(JAVA_LONG, at + 3 * Long.BYTES));
            default -> throw new IOException("the tracer wrote an event of no kind: " + kind);
        }
    }

    private static String text(MemorySegment words, long at, long word) {
        byte[] text = new byte[Ev.detail(word)];
        MemorySegment.copy(words, JAVA_BYTE, at + 2 * Long.BYTES, text, 0, text.length);
        return new String(text, StandardCharsets.UTF_8);
    }

    private String name(int number) {
        return number > 0 && number < names.size() ? names.get(number) : UNKNOWN;
    }

    // Events of goroutines

    private void goroutine(long t, int ring, int kind, int argument, long goid, int detail) throws IOException {
        Lane p = ring == Tracer.OUTSIDE ? null : proc(ring);
        Goroutine old = all.get(goid);
        if (ring == Tracer.OUTSIDE && allKnown
                && (old == null ? kind == Ev.END || kind == Ev.COLLECTED : !old.shown && old.status == after(kind))) {
            return; // The thread wrote the event late. The state at the beginning of the trace shows its effect already.
        }
        if (kind == Ev.CREATE) {
            created++;
            String thread = threads.remove(goid);
            Goroutine g = new Goroutine(goid, name(detail), thread == null ? "" : thread, false, GStatus.GRUNNABLE);
            all.put(goid, g);
            count[g.status]++;
            woken(t, ring, p, g, "go");
            show(g, t);
            return;
        }
        Goroutine g = known(goid, before(kind));
        show(g, t);
        switch (kind) {
            case Ev.START, Ev.SYSCALL_EXIT -> {
                g.yielded = "";
                off(t, ring, p);
                move(t, g, GStatus.GRUNNING);
                on(t, ring, p, g);
            }
            case Ev.BLOCK -> {
                g.reason = argument;
                off(t, ring, p);
                move(t, g, GStatus.GWAITING);
            }
            case Ev.YIELD -> {
                g.yielded = YIELDS[Math.min(argument, YIELDS.length - 1)];
                off(t, ring, p);
                move(t, g, GStatus.GRUNNABLE);
            }
            case Ev.SYSCALL, Ev.TAKEN -> {
                off(t, ring, p);
                move(t, g, GStatus.GSYSCALL);
            }
            case Ev.SYSCALL_BLOCKED -> move(t, g, GStatus.GRUNNABLE);
            case Ev.UNBLOCK -> {
                g.yielded = "";
                woken(t, ring, p, g, "wake");
                move(t, g, GStatus.GRUNNABLE);
            }
            default -> { // END or COLLECTED
                off(t, ring, p);
                count[g.status]--;
                end(t, g);
                ended++;
                boolean _ = all.remove(goid, g);
            }
        }
        count(t);
    }

    /** Returns the goroutine. A goroutine without an earlier event is taken to have been in state {@code status} since the beginning. */
    private Goroutine known(long goid, int status) {
        return all.computeIfAbsent(goid, id -> {
            count[status]++;
            return new Goroutine(id, OLDER, "", true, status);
        });
    }

    private void show(Goroutine g, long t) throws IOException {
        if (!g.shown) {
            g.shown = true;
            out.track(id(G, g.goid), id(GS, 0), g.label(), false);
            out.begin(id(G, g.goid), g.state()).put(g.older ? base + begin : t);
        }
    }

    private void move(long t, Goroutine g, int status) throws IOException {
        count[g.status]--;
        count[status]++;
        end(t, g);
        g.status = status;
        out.begin(id(G, g.goid), g.state()).put(t);
    }

    private void end(long t, Goroutine g) throws IOException {
        out.end(id(G, g.goid)).put(t);
    }

    /** Begins an arrow to the next run of {@code g}, if a goroutine on the P has made {@code g} runnable. */
    private void woken(long t, int ring, @Nullable Lane p, Goroutine g, String how) throws IOException {
        if (p != null && p.runs != null) {
            g.flow = ++flows;
            out.instant(lane(ring), how).with("g", g.goid).flow(g.flow).put(t);
        }
    }

    private void on(long t, int ring, @Nullable Lane p, Goroutine g) throws IOException {
        if (p == null) {
            return;
        }
        p.runs = g;
        out.begin(lane(ring), g.site).with("g", g.goid);
        if (g.flow != 0) {
            out.lastFlow(g.flow);
            g.flow = 0;
        }
        out.put(t);
    }

    private void off(long t, int ring, @Nullable Lane p) throws IOException {
        if (p != null && p.runs != null) {
            p.runs = null;
            out.end(lane(ring)).put(t);
        }
    }

    // Events of Ps and others

    private Lane proc(int ring) {
        return ps.computeIfAbsent(ring, k -> new Lane());
    }

    private long lane(int ring) throws IOException {
        if (ring == Tracer.OUTSIDE) {
            return track(id(PS, 0xFFFF), id(PS, 0), "outside", false);
        }
        Lane p = proc(ring);
        if (!p.shown) {
            p.shown = true;
            out.track(id(P, ring), id(PS, 0), "P" + ring, false);
        }
        return id(P, ring);
    }

    private void take(long t, int ring, long m) throws IOException {
        giveUp(t, ring);
        out.begin(lane(ring), "M" + m).put(t);
        proc(ring).held = true;
    }

    /** Ends the M's hold of the P. A goroutine that is still on the P has lost it to a signal handler, which writes no events. */
    private void giveUp(long t, int ring) throws IOException {
        Lane p = proc(ring);
        Goroutine g = p.runs;
        off(t, ring, p);
        if (g != null && g.status == GStatus.GRUNNING) {
            move(t, g, GStatus.GSYSCALL);
        }
        if (p.held) {
            p.held = false;
            out.end(lane(ring)).put(t);
        }
    }

    private long track(long id, long parent, String name, boolean counter) throws IOException {
        if (tracks.add(id)) {
            out.track(id, parent, name, counter);
        }
        return id;
    }

    private void world(long t, boolean begin) throws IOException {
        long id = track(id(WORLD, 0), id(GROUP, 0), "the world", false);
        if (begin) {
            out.begin(id, "stopped").put(t);
            stopped = true;
        } else if (stopped) {
            out.end(id).put(t);
            stopped = false;
        }
    }

    private void queue(long t, long size, int p) throws IOException {
        String name = p == Ev.GLOBAL ? "global queue" : "queue of P" + p;
        out.counter(track(id(QUEUES, p), id(GROUP, 0), name, true), size).put(t);
    }

    private void count(long t) throws IOException {
        if (t - counted < COUNT_EVERY_NANOS && counted != Long.MIN_VALUE) {
            return;
        }
        counted = t;
        count(t, "running", GStatus.GRUNNING);
        count(t, "runnable", GStatus.GRUNNABLE);
        count(t, "waiting", GStatus.GWAITING);
        count(t, "in system calls", GStatus.GSYSCALL);
    }

    private void count(long t, String name, int status) throws IOException {
        out.counter(track(id(COUNTERS, status), id(GROUP, 0), name, true), count[status]).put(t);
    }

    private long regions(Goroutine g, long t) throws IOException {
        show(g, t);
        return track(id(REGIONS, g.goid), id(G, g.goid), "regions of G" + g.goid, false);
    }

    private void task(long t, int kind, int name, long task, long parent) throws IOException {
        long all = track(id(TASKS, 0), id(GROUP, 0), "tasks", false);
        long id = track(id(TASK, task), parent == 0 ? all : id(TASK, parent), "task " + task, false);
        (kind == Ev.TASK_BEGIN ? out.begin(id, name(name)) : out.end(id)).put(t);
    }

    /** Ends all events that are open at the end of the trace. */
    void close(long nanos) throws IOException {
        long t = base + nanos;
        for (Map.Entry<Integer, Lane> e : List.copyOf(ps.entrySet())) {
            int ring = e.getKey();
            Lane p = e.getValue();
            off(t, ring, p);
            if (p.held) {
                out.end(lane(ring)).put(t);
            }
        }
        if (stopped) {
            world(t, false);
        }
        for (Goroutine g : all.values()) {
            if (g.shown) {
                end(t, g);
            }
        }
    }

    long created() {
        return created;
    }

    long ended() {
        return ended;
    }
}
