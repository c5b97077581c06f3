// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.top;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

import org.gmp4j.bench.report.Format;
import org.gmp4j.metrics.Histogram;
import org.gmp4j.metrics.Symptom;

/** A scheduler as text: how things stand, and what has come since the reading before. */
final class Screen {
    private static final int MOST_PS = 16;
    private static final int MOST_STATES = 8;
    private static final int MOST_VICTIMS = 4;
    private static final double NANOS = 1e9;

    private final StringBuilder b = new StringBuilder();
    private final Reading last;
    private final Reading now;
    private final double seconds;

    private Screen(Reading last, Reading now) {
        this.last = last;
        this.now = now;
        seconds = (now.nanos() - last.nanos()) / NANOS;
    }

    /** @param last null for none: what comes in a time is then left out */
    static String of(String pid, String name, Reading last, Reading now) {
        Screen s = new Screen(last == null ? now : last, now);
        s.line("process %s, %s: %s Ps, %s threads, %s goroutines, %s started", pid, name, s.now("/sched/gomaxprocs:threads"),
                s.now("/sched/threads/total:threads"), s.now("/sched/goroutines:goroutines"),
                s.now("/sched/goroutines-created:goroutines"));
        s.standing();
        if (last != null) {
            s.coming();
        }
        s.procs(last != null);
        s.states();
        if (last != null) {
            s.symptoms();
        }
        return s.b.toString();
    }

    private void line(String format, Object... values) {
        b.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    private String now(String name) {
        return Format.count(now.count(name));
    }

    /** Returns the growth of a counter a second. */
    private String rate(String name) {
        double n = (now.number(name) - last.number(name)) / seconds;
        return n > 0 && n < 10 ? Format.decimals(n, 1) : Format.count(Math.round(n));
    }

    private void standing() {
        line("  Ps          %s idle, %s spinning; threads: %s asleep, %s run on without their P", now("/sched/procs/idle:procs"),
                now("/sched/threads/spinning:threads"), now("/sched/threads/idle:threads"), now("/sched/threads/strays:threads"));
        line("  goroutines  %s running, %s runnable, %s waiting, %s without a P", now("/sched/goroutines/running:goroutines"),
                now("/sched/goroutines/runnable:goroutines"), now("/sched/goroutines/waiting:goroutines"),
                now("/sched/goroutines/not-in-go:goroutines"));
        line("  queues      %s global, %s local; %s sleep, %s timers, %s wait for the network", now("/sched/runqueue/global:goroutines"),
                now("/sched/runqueue/local:goroutines"), Format.count(now.states().getOrDefault("sleep", 0L)), now("/sched/timers:timers"),
                now("/sched/netpoll/waiting:goroutines"));
    }

    private void coming() {
        line("  wait for P  %s; waking a thread %s", quantiles("/sched/latencies:seconds"), quantiles("/sched/wakeups/latencies:seconds"));
        line("  a second    %s runs, %s started, %s queues full", rate("/sched/runs/by-p:goroutines"),
                rate("/sched/goroutines-created:goroutines"), rate("/sched/runqueue/overflows:events"));
        line("              %s stolen in %s steals, %s looks in vain", rate("/sched/steals/moved/total:goroutines"),
                rate("/sched/steals/succeeded:probes"), rate("/sched/steals/failed:probes"));
        line("              %s asked to yield, %s yielded; Ps taken: %s blocked, %s ran on, %s system calls",
                rate("/sched/preemptions/asked:events"), rate("/sched/preemptions/yielded:events"), rate("/sched/stalls/blocked:events"),
                rate("/sched/stalls/ran:events"), rate("/sched/syscalls/retaken:events"));
    }

    private String quantiles(String name) {
        Histogram h = Symptom.between(last.histogram(name), now.histogram(name));
        return h.count() == 0 ? "none" : "50 % < " + time(h, 0.5) + ", 99 % < " + time(h, 0.99) + ", all < " + time(h, 1);
    }

    private static String time(Histogram h, double q) {
        return Format.nanos(h.quantile(q) * NANOS);
    }

    private void procs(boolean rates) {
        long[] queues = now.byP("/sched/runqueue/local:goroutines");
        long[] runs = now.byP("/sched/runs/by-p:goroutines");
        long[] before = last.byP("/sched/runs/by-p:goroutines");
        long[][] moved = (long[][]) now.values().get("/sched/steals/moved:goroutines");
        long[][] was = (long[][]) last.values().get("/sched/steals/moved:goroutines");
        line("%n  %6s %8s %12s  %s", "P", "queue", rates ? "runs/s" : "runs", rates ? "stole meanwhile from" : "stole from");
        for (int p = 0; p < Math.min(MOST_PS, queues.length); p++) {
            long n = runs[p] - (rates && p < before.length ? before[p] : 0);
            line("  %6s %8d %12s  %s", "P" + p, queues[p], Format.count(rates ? Math.round(n / seconds) : n),
                    victims(moved[p], rates && p < was.length ? was[p] : new long[0]));
        }
        if (queues.length > MOST_PS) {
            line("  and %d more, with %d in their queues", queues.length - MOST_PS,
                    Arrays.stream(queues, MOST_PS, queues.length).sum());
        }
    }

    /** Returns the P that another stole most from. */
    private static String victims(long[] moved, long[] before) {
        long[] n = new long[moved.length];
        for (int v = 0; v < n.length; v++) {
            n[v] = moved[v] - (v < before.length ? before[v] : 0);
        }
        List<String> most = IntStream.range(0, n.length).boxed().filter(v -> n[v] > 0)
                .sorted(Comparator.comparingLong((Integer v) -> n[v]).reversed()).limit(MOST_VICTIMS)
                .map(v -> "P" + v + ": " + Format.count(n[v])).toList();
        return most.isEmpty() ? "-" : String.join(", ", most);
    }

    private void states() {
        line("%n  %10s  what they do", "goroutines");
        now.states().entrySet().stream().sorted(Map.Entry.<String, Long>comparingByValue().reversed()).limit(MOST_STATES)
                .forEach(e -> line("  %10s  %s", Format.count(e.getValue()), e.getKey()));
    }

    private void symptoms() {
        for (Symptom s : Symptom.between(last.values(), now.values(), now.states())) {
            line("  ! %s", s.text());
        }
    }
}
