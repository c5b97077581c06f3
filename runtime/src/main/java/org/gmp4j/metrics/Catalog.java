// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import org.gmp4j.metrics.Description.Kind;
import org.gmp4j.queue.Places;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.SchedStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sysmon.Stalls;

/** Lists all metrics, with their descriptions and the functions that read them. */
final class Catalog {
    /** A metric. */
    record Entry(Description description, Function<Reading, Object> read) {
    }

    /** All metrics, in the order of their names. */
    static final List<Entry> ALL;

    private static final List<Entry> LIST = new ArrayList<>();

    static {
        go();
        runs();
        stealing();
        distances();
        threads();
        preemption();
        waking();
        LIST.sort((a, b) -> a.description.name().compareTo(b.description.name()));
        ALL = List.copyOf(LIST);
        LIST.clear();
    }

    private Catalog() {
    }

    private static void add(String name, Kind kind, boolean cumulative, String help, Function<Reading, Object> read) {
        LIST.add(new Entry(new Description(name, help, kind, cumulative), read));
    }

    private static void gauge(String name, String help, Function<Reading, Object> read) {
        add(name, Kind.LONG, false, help, read);
    }

    private static void counter(String name, String help, Function<Reading, Object> read) {
        add(name, Kind.LONG, true, help, read);
    }

    private static void seconds(String name, String help, Function<Reading, Object> read) {
        add(name, Kind.DOUBLE, true, help, read);
    }

    private static void histogram(String name, String help, Function<Reading, Object> read) {
        add(name, Kind.HISTOGRAM, true, help, read);
    }

    /** Adds the metrics that Go has too, under Go's names. */
    private static void go() {
        gauge("/sched/gomaxprocs:threads", "The number of Ps: how many goroutines run at a time.", r -> (long) r.s.gomaxprocs());
        gauge("/sched/threads/total:threads", "Threads of the scheduler, asleep or not.", r -> (long) r.s.mcount());
        gauge("/sched/goroutines:goroutines", "Goroutines that live.", r -> r.goroutines);
        counter("/sched/goroutines-created:goroutines", "Goroutines that were started.",
                r -> r.sum(P.NSPAWN::getAcquire) + Schedt.NSPAWNEXTERN.getAcquire(r.s.sched));
        gauge("/sched/goroutines/not-in-go:goroutines", "Goroutines that run or block without a P: in a system call or native code, "
                + "or because it was taken from them.", r -> r.notInGo);
        gauge("/sched/goroutines/runnable:goroutines", "Goroutines that wait for a P.", r -> r.runnable);
        gauge("/sched/goroutines/running:goroutines", "Goroutines that run on a P.", r -> r.running);
        gauge("/sched/goroutines/waiting:goroutines", "Goroutines that wait for something else.", Reading::waiting);
        histogram("/sched/latencies:seconds", "How long goroutines were runnable before they ran, of one in some 48 times.",
                r -> r.histogram(PStat.LATENCY));
        histogram("/sched/pauses/stopping/other:seconds", "How long it took to stop all Ps, each time that the world was stopped.",
                r -> r.ofScheduler(SchedStat.STOPPING));
        histogram("/sched/pauses/total/other:seconds", "How long the world was stopped, the stopping included. The JVM's own pauses "
                + "are not here.", r -> r.ofScheduler(SchedStat.STOPPED));
        seconds("/cpu/classes/idle:cpu-seconds", "Time that Ps were idle.", r -> Reading.seconds(r.idle));
        seconds("/cpu/classes/total:cpu-seconds", "Time that there were Ps: their number times the time.",
                r -> Reading.seconds(r.total));
        seconds("/cpu/classes/user:cpu-seconds", "Time that Ps were not idle: a thread had them, to run goroutines or to look for some.",
                r -> Reading.seconds(r.total - r.idle));
        seconds("/sync/mutex/wait/total:seconds", "Time that goroutines waited for Mutex and RWMutex of org.gmp4j.sync.",
                r -> Reading.seconds(r.sum(PStat.MUTEXWAIT)));
    }

    private static void runs() {
        gauge("/sched/runqueue/global:goroutines", "Goroutines in the global queue.", r -> (long) Schedt.RUNQSIZE.getOpaque(r.s.sched));
        add("/sched/runqueue/local:goroutines", Kind.BY_P, false, "Goroutines in the queue of a P.", Reading::queues);
        counter("/sched/runqueue/overflows:events", "Times the queue of a P was full, and half of it went to the global queue.",
                r -> r.sum(PStat.NOVERFLOW));
        add("/sched/runs/by-p:goroutines", Kind.BY_P, true, "Times a P began to run a goroutine, or went on with one.",
                r -> r.byP(Catalog::runsOf));
        counter("/sched/runs/in-place:goroutines", "Runs of a fresh goroutine on the stack of the one that had just ended.",
                r -> r.sum(P.NINPLACE::getOpaque));
        counter("/sched/runs/global:goroutines", "Runs of a goroutine from the global queue.",
                r -> r.sum(PStat.NGLOBAL) + r.sum(PStat.NARRIVED));
        counter("/sched/runs/polled:goroutines",
                "Runs of a goroutine that its P found when it polled the network.",
                r -> r.sum(PStat.NPOLLED));
        counter("/sched/runs/stolen:goroutines", "Runs of a goroutine straight from the queue of another P.",
                r -> r.sum(PStat.NSTEALOK));
        counter("/sched/runs/local:goroutines", "Runs of a goroutine from the P's own queue.", r -> r.sum(PStat.NLOCAL));
    }

    private static long runsOf(long pp) {
        return P.NSWITCH.getOpaque(pp) + P.NINPLACE.getOpaque(pp);
    }

    private static void stealing() {
        counter("/sched/steals/tried:probes", "Queues of other Ps looked into.", r -> r.sum(P.NSTEALTRY::getOpaque));
        counter("/sched/steals/failed:probes", "Queues of other Ps looked into that had nothing to take.",
                r -> r.sum(PStat.NSTEALFAIL));
        counter("/sched/steals/succeeded:probes", "Queues of other Ps looked into that had something.", r -> r.sum(PStat.NSTEALOK));
        counter("/sched/steals/moved/total:goroutines", "Goroutines taken from the queues of other Ps.", r -> r.sum(P.NSTEAL::getOpaque));
        add("/sched/steals/moved:goroutines", Kind.BY_PAIR, true, "Goroutines taken from the queues of other Ps: a row for each "
                + "thief, in it a number for each victim.", Reading::stolen);
    }

    private static void distances() {
        String where = "Goroutines taken from the queues of other Ps, as the affinity places them: ";
        over("core", Places.Distance.CORE, where + "of the same CPU or core.");
        over("cache", Places.Distance.CACHE, where + "of another core that shares the last cache.");
        over("node", Places.Distance.NODE, where + "of another cache in the same NUMA node.");
        over("package", Places.Distance.PACKAGE, where + "of another NUMA node in the same package.");
        over("remote", Places.Distance.REMOTE, where + "of another package.");
    }

    private static void over(String name, Places.Distance distance, String help) {
        counter("/sched/steals/moved/" + name + ":goroutines", help + " 0 without an affinity.", r -> r.stolenOver(distance));
    }

    private static void threads() {
        gauge("/sched/procs/idle:procs", "Ps that no thread has.", r -> (long) Schedt.NPIDLE.getVolatile(r.s.sched));
        gauge("/sched/threads/idle:threads", "Threads that sleep until there is a P for them.",
                r -> (long) Schedt.NMIDLE.getOpaque(r.s.sched));
        gauge("/sched/threads/spinning:threads", "Threads with a P that look for work.",
                r -> (long) Schedt.nmspinningVolatile(r.s.sched));
        gauge("/sched/threads/strays:threads", "Threads that run on after their P was taken.", r -> r.strays);
        counter("/sched/spins:events", "Times a thread began to look for work in the queues of other Ps.", r -> r.sum(PStat.NSPIN));
        counter("/sched/naps:events", "Times a thread that had looked in vain several times running waited a moment, and looked again.",
                r -> r.sum(PStat.NNAP));
        counter("/sched/parks:events", "Times a thread fell asleep for want of work or of a P.", r -> r.sumOfMs(M.NSLEEP));
        counter("/sched/wakeups/late:events", "Times one more thread was woken because those woken before it had not come to run.",
                r -> SchedStat.NLATE.getOpaque(r.s.sched));
        histogram("/sched/wakeups/latencies:seconds", "How long it took from waking a thread until it had its P.",
                r -> r.histogram(PStat.WAKEUP));
    }

    private static void preemption() {
        counter("/sched/preemptions/asked:events", "Goroutines told to yield because their quantum was over.",
                r -> SchedStat.NTOLD.getOpaque(r.s.sched));
        counter("/sched/preemptions/yielded:events", "Goroutines that yielded because they were told to, also for a stop "
                + "of the world.",
                r -> r.sum(PStat.NPREEMPT));
        counter("/sched/preemptions/points:events", "Goroutines that so yielded at a preemption point in their own code, not "
                + "in a call of the runtime.",
                r -> r.sum(PStat.NPOINT));
        counter("/sched/preemptions/taken:events", "Ps taken from goroutines that did not yield.", r -> r.s.signals().taken());
        counter("/sched/preemptions/signals:events", "Signals sent to threads; none where the kernel has membarrier.",
                r -> r.s.signals().sent());
        counter("/sched/stalls/blocked:events", "Ps taken from goroutines whose threads slept in the kernel.",
                r -> Stalls.of(r.s).blocked());
        counter("/sched/stalls/ran:events", "Ps taken from goroutines that ran past their quantum and came to no point.",
                r -> Stalls.of(r.s).ran());
        counter("/sched/syscalls/retaken:events", "Ps taken back from goroutines in a blocking call that they had announced.",
                r -> SchedStat.NRETAKEN.getOpaque(r.s.sched));
    }

    private static void waking() {
        gauge("/sched/timers:timers", "Timers and sleeps that are not due yet, and some that were stopped.",
                r -> r.sum(P.TIMERSLEN::getOpaque));
        counter("/sched/timers/fired:timers", "Timers and sleeps that came due.", r -> r.sum(PStat.NTIMER));
        gauge("/sched/netpoll/waiting:goroutines", "Waits for the network that are not over.",
                r -> (long) Math.max(0, Schedt.NETPOLLWAITERS.getVolatile(r.s.sched)));
        counter("/sched/netpoll/looks:events", "Times somebody asked what the network has ready, without waiting.",
                r -> SchedStat.NPOLL.getOpaque(r.s.sched));
        counter("/sched/netpoll/sleeps:events", "Times a thread slept until the network had something ready, or a timer was due.",
                r -> r.sumOfMs(M.NSLEEPPOLL));
        counter("/sched/netpoll/ready:goroutines", "Goroutines that were found ready by a thread that asked the network or slept.",
                r -> SchedStat.NREADY.getOpaque(r.s.sched) + SchedStat.NREADYBLOCK.getOpaque(r.s.sched));
    }
}
