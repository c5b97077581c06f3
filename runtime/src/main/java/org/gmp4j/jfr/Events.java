// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.jfr;

import java.util.List;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** The types of JFR events. All are off unless a recording enables them. {@code SEEING.md} describes their names and fields to users. */
@SuppressWarnings("NullAway.Init") // Fields are set before an event is committed.
final class Events {
    static final List<Class<? extends Event>> ALL = List.of(GoroutineWait.class, GoroutinePreemption.class, GoroutineStall.class,
            GoroutineStray.class, SyscallRetaken.class, WorldStop.class, ThreadBegin.class, ThreadEnd.class,
            SchedulerStatistics.class, ProcessorStatistics.class);

    private static final String SCHEDULER = "Scheduler";
    private static final String GOROUTINE = "Goroutine";
    private static final String PROCESSOR = "Processor";

    private Events() {
    }

    /** The annotations that all events inherit. */
    @Category("gmp4j")
    @Enabled(false)
    abstract static class GmpEvent extends Event {
    }

    /** A P was taken from a goroutine that had not announced a blocking call. */
    @StackTrace(false)
    abstract static class UnannouncedTaking extends GmpEvent {
        @Label(SCHEDULER)
        String scheduler;
        @Label(GOROUTINE)
        long goroutine;
        @Label(PROCESSOR)
        int processor;
        @Label("Where")
        @Description("The innermost frame outside of the runtime and of java.base; of a hundred stalls and strays a second at most")
        @Nullable String where;
    }

    /** The thread of an M has begun or ended. */
    @StackTrace(false)
    abstract static class ThreadEvent extends GmpEvent {
        @Label(SCHEDULER)
        String scheduler;
        @Label("M")
        long m;
    }

    /** A wait of a goroutine, from its call of the runtime until it runs again. */
    @Name("org.gmp4j.GoroutineWait")
    @Label("Goroutine Wait")
    @Description("A goroutine waited for a channel, a lock, a timer or a connection of gmp4j; the time in queues is included")
    @Threshold("20 ms")
    static final class GoroutineWait extends GmpEvent {
        @Label(SCHEDULER)
        String scheduler;
        @Label(GOROUTINE)
        long goroutine;
        @Label("Reason")
        String reason;
    }

    @Name("org.gmp4j.GoroutinePreemption")
    @Label("Goroutine Preemption")
    @Description("A goroutine yielded because its quantum was over, or for a stop of the world")
    static final class GoroutinePreemption extends GmpEvent {
        @Label(SCHEDULER)
        String scheduler;
        @Label(GOROUTINE)
        long goroutine;
        @Label("For a Stop of the World")
        boolean forStop;
    }

    @Name("org.gmp4j.GoroutineStall")
    @Label("Goroutine Stall")
    @Description("A P was taken from a goroutine that blocked its thread in the kernel without saying so")
    static final class GoroutineStall extends UnannouncedTaking {
    }

    @Name("org.gmp4j.GoroutineStray")
    @Label("Goroutine Stray")
    @Description("A P was taken from a goroutine that ran past its quantum and came to no point; it runs on without one")
    static final class GoroutineStray extends UnannouncedTaking {
    }

    @Name("org.gmp4j.SyscallRetaken")
    @Label("System Call Retaken")
    @Description("A P was taken back from a goroutine in a blocking call that it had announced")
    @StackTrace(false)
    static final class SyscallRetaken extends GmpEvent {
        @Label(SCHEDULER)
        String scheduler;
        @Label(PROCESSOR)
        int processor;
    }

    /** A stop of the world, from its beginning until the world goes on. */
    @Name("org.gmp4j.WorldStop")
    @Label("World Stop")
    @Description("All Ps of a scheduler were stopped: for a change of their number, a trace, a profile or a search for leaks")
    static final class WorldStop extends GmpEvent {
        @Label(SCHEDULER)
        String scheduler;
        @Label("Time to Stop")
        @Description("How long it took until the last P had stopped")
        @Timespan(Timespan.NANOSECONDS)
        long stopping;
    }

    @Name("org.gmp4j.ThreadBegin")
    @Label("Thread Begin")
    @Description("A thread (M) of a scheduler begins")
    static final class ThreadBegin extends ThreadEvent {
    }

    @Name("org.gmp4j.ThreadEnd")
    @Label("Thread End")
    @Description("A thread (M) of a scheduler ends: it was not needed for long, its goroutine was locked to it, or the scheduler is closed")
    static final class ThreadEnd extends ThreadEvent {
    }

    @Name("org.gmp4j.SchedulerStatistics")
    @Label("Scheduler Statistics")
    @Description("What a scheduler's metrics are; counts are since it was made")
    @Period("1 s")
    @StackTrace(false)
    static final class SchedulerStatistics extends GmpEvent {
        @Label(SCHEDULER)
        String scheduler;
        @Label("Processors")
        long processors;
        @Label("Idle Processors")
        long idleProcessors;
        @Label("Goroutines")
        long goroutines;
        @Label("Goroutines Running")
        long running;
        @Label("Goroutines Runnable")
        long runnable;
        @Label("Goroutines Waiting")
        long waiting;
        @Label("Goroutines Without a Processor")
        long notInGo;
        @Label("Goroutines Created")
        long created;
        @Label("Global Queue")
        long globalQueue;
        @Label("Overflows of Local Queues")
        long overflows;
        @Label("Threads")
        long threads;
        @Label("Idle Threads")
        long idleThreads;
        @Label("Spinning Threads")
        long spinningThreads;
        @Label("Stray Threads")
        long strays;
        @Label("Goroutines Stolen")
        long stolen;
        @Label("Steals Tried")
        long stealsTried;
        @Label("Preemptions Asked")
        long preemptionsAsked;
        @Label("Preemptions")
        long preemptions;
        @Label("Stalls")
        @Description("Ps taken from goroutines that blocked, and from those that ran")
        long stalls;
        @Label("System Calls Retaken")
        long retaken;
        @Label("Timers")
        long timers;
        @Label("Waits for the Network")
        long networkWaits;
        @Label("Median Scheduling Latency")
        @Description("How long goroutines were runnable before they ran; since the scheduler was made")
        @Timespan(Timespan.NANOSECONDS)
        long latencyMedian;
        @Label("99 % Scheduling Latency")
        @Timespan(Timespan.NANOSECONDS)
        long latency99;
        @Label("Wait for Locks")
        @Description("Time that goroutines waited for Mutex and RWMutex of org.gmp4j.sync")
        @Timespan(Timespan.NANOSECONDS)
        long lockWait;
        @Label("Idle Time of Processors")
        @Timespan(Timespan.NANOSECONDS)
        long idleTime;
    }

    @Name("org.gmp4j.ProcessorStatistics")
    @Label("Processor Statistics")
    @Description("What each P has in its queue and has run")
    @Period("1 s")
    @StackTrace(false)
    static final class ProcessorStatistics extends GmpEvent {
        @Label(SCHEDULER)
        String scheduler;
        @Label(PROCESSOR)
        int processor;
        @Label("Queue")
        long queue;
        @Label("Runs")
        @Description("How often it began to run a goroutine, or went on with one")
        long runs;
    }
}
