// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.jfr;

import java.util.LinkedHashSet;
import java.util.Map;

import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Recording;
import org.gmp4j.jfr.Events.GoroutineWait;
import org.gmp4j.jfr.Events.ProcessorStatistics;
import org.gmp4j.jfr.Events.SchedulerStatistics;
import org.gmp4j.metrics.Histogram;
import org.gmp4j.metrics.Metrics;
import org.gmp4j.sched.base.Recorder;
import org.gmp4j.sched.base.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Registers the runtime's events with JFR when the first recording of the process begins, or at the start if {@code jfr=1} is set.
 */
public final class FlightRecording {
    private static final double NANOS = 1e9;

    private static boolean begun; // Guarded by the class's monitor.
    private static volatile @Nullable EventType waits;

    private FlightRecording() {
    }

    /**
     * Registers the events, once in a process. It may wait for locks of JFR.
     *
     * @throws NoClassDefFoundError when there is no module {@code jdk.jfr}
     */
    public static synchronized void begin() {
        if (begun || !FlightRecorder.isAvailable()) {
            return;
        }
        for (Class<? extends Event> c : Events.ALL) {
            FlightRecorder.register(c);
        }
        FlightRecorder.addPeriodicEvent(SchedulerStatistics.class, FlightRecording::statistics);
        FlightRecorder.addPeriodicEvent(ProcessorStatistics.class, FlightRecording::processors);
        FlightRecorder.addListener(new FlightRecorderListener() {
            @Override
            public void recordingStateChanged(Recording recording) {
                look();
            }
        });
        Recorder.set(new JfrRecorder());
        waits = EventType.getEventType(GoroutineWait.class);
        begun = true;
        look();
    }

    /** Turns the reports of waits of all schedulers on or off. */
    private static void look() {
        for (Scheduler s : Scheduler.all()) {
            look(s);
        }
    }

    /** Turns a scheduler's reports of waits on if a recording has enabled {@link GoroutineWait}, or else off. Does not block. */
    public static void look(Scheduler s) {
        EventType t = waits;
        if (t != null) {
            s.blockProfile.setRecorded(t.isEnabled());
        }
    }

    /** Writes an event for each scheduler. Called by JFR's thread. */
    private static void statistics() {
        for (Scheduler s : new LinkedHashSet<>(Scheduler.all())) { // The list may have a scheduler twice.
            Map<String, Object> m = read(s);
            if (m == null) {
                continue;
            }
            SchedulerStatistics e = new SchedulerStatistics();
            e.scheduler = s.label();
            e.processors = number(m, "/sched/gomaxprocs:threads");
            e.idleProcessors = number(m, "/sched/procs/idle:procs");
            e.goroutines = number(m, "/sched/goroutines:goroutines");
            e.running = number(m, "/sched/goroutines/running:goroutines");
            e.runnable = number(m, "/sched/goroutines/runnable:goroutines");
            e.waiting = number(m, "/sched/goroutines/waiting:goroutines");
            e.notInGo = number(m, "/sched/goroutines/not-in-go:goroutines");
            e.created = number(m, "/sched/goroutines-created:goroutines");
            e.globalQueue = number(m, "/sched/runqueue/global:goroutines");
            e.overflows = number(m, "/sched/runqueue/overflows:events");
            e.threads = number(m, "/sched/threads/total:threads");
            e.idleThreads = number(m, "/sched/threads/idle:threads");
            e.spinningThreads = number(m, "/sched/threads/spinning:threads");
            e.strays = number(m, "/sched/threads/strays:threads");
            e.stolen = number(m, "/sched/steals/moved/total:goroutines");
            e.stealsTried = number(m, "/sched/steals/tried:probes");
            e.preemptionsAsked = number(m, "/sched/preemptions/asked:events");
            e.preemptions = number(m, "/sched/preemptions/yielded:events");
            e.stalls = number(m, "/sched/stalls/blocked:events") + number(m, "/sched/stalls/ran:events");
            e.retaken = number(m, "/sched/syscalls/retaken:events");
            e.timers = number(m, "/sched/timers:timers");
            e.networkWaits = number(m, "/sched/netpoll/waiting:goroutines");
            Histogram latencies = (Histogram) value(m, "/sched/latencies:seconds");
            e.latencyMedian = nanos(latencies.quantile(0.5));
            e.latency99 = nanos(latencies.quantile(0.99));
            e.lockWait = nanos((double) value(m, "/sync/mutex/wait/total:seconds"));
            e.idleTime = nanos((double) value(m, "/cpu/classes/idle:cpu-seconds"));
            e.commit();
        }
    }

    /** Writes an event for each P. Called by JFR's thread. */
    private static void processors() {
        for (Scheduler s : new LinkedHashSet<>(Scheduler.all())) {
            Map<String, Object> m = read(s);
            if (m == null) {
                continue;
            }
            long[] queues = (long[]) value(m, "/sched/runqueue/local:goroutines");
            long[] runs = (long[]) value(m, "/sched/runs/by-p:goroutines");
            for (int p = 0; p < queues.length; p++) {
                ProcessorStatistics e = new ProcessorStatistics();
                e.scheduler = s.label();
                e.processor = p;
                e.queue = queues[p];
                e.runs = runs[p];
                e.commit();
            }
        }
    }

    private static @Nullable Map<String, Object> read(Scheduler s) {
        try {
            return new Metrics(s).read();
        } catch (IllegalStateException closed) {
            return null; // The scheduler has been closed meanwhile.
        }
    }

    private static long number(Map<String, Object> metrics, String name) {
        return (long) value(metrics, name);
    }

    @SuppressWarnings("NullAway") // All metrics that are read here exist.
    private static Object value(Map<String, Object> metrics, String name) {
        return metrics.get(name);
    }

    private static long nanos(double seconds) {
        return Math.round(seconds * NANOS);
    }
}
