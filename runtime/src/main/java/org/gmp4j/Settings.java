// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.StealOrder;
import org.gmp4j.boot.Prelink;
import org.gmp4j.boot.Support;
import org.gmp4j.config.Config;
import org.gmp4j.config.CpuAssignment;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.config.Procs;
import org.gmp4j.config.Quantum;
import org.gmp4j.management.Closer;
import org.gmp4j.management.Diagnosis;
import org.gmp4j.netpoll.Netpoller;
import org.gmp4j.report.Report;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.sched.life.Schedinit;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.ProcessFlag;
import org.gmp4j.sysmon.Stalls;
import org.gmp4j.sysmon.Sysmon;
import org.gmp4j.timer.TimerHeaps;
import org.gmp4j.tracing.Session;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a scheduler, and its start. The start checks the settings, runs {@link Prelink}, starts the servers that the settings ask
 * for, makes the scheduler, and starts the trace.
 */
final class Settings implements Gmp.Builder {
    private static final int DEFAULT_MAX_THREADS = 10_000;
    private static final long DEFAULT_MAX_STACK = 8L << 20;
    private static final long LEAST_STACK = 64 << 10;
    private static final Duration DEFAULT_QUANTUM = Duration.ofMillis(10);
    static final String PROCS_VARIABLE = "GMPMAXPROCS";
    private static final int MAX_DAYS = 1000;
    /** Sysmon runs one priority above the Ms, and the kernel's highest is 99. */
    static final int MOST_PRIORITY = 98;
    /** The trace files that this process writes when it ends. */
    private static final Set<Path> TRACES = ConcurrentHashMap.newKeySet();

    private @Nullable Integer procs;
    /** Null for {@link Affinity#none}. */
    private @Nullable Affinity affinity;
    private StealOrder steal = StealOrder.UNIFORM;
    private SpinPolicy spin = SpinPolicy.go();
    private Duration quantum = DEFAULT_QUANTUM;
    private Duration leastQuantum = DEFAULT_QUANTUM;
    private int maxThreads = DEFAULT_MAX_THREADS;
    private long maxStack = DEFAULT_MAX_STACK;
    private Duration idleThreads = Duration.ofSeconds(10);
    private @Nullable BiConsumer<Long, Throwable> uncaught;
    private @Nullable Consumer<Gmp.Stall> stalled;
    private DeadlockDetection deadlockDetection = DeadlockDetection.OFF;
    private @Nullable String debug = ProcessFlag.debug();
    private boolean ownDebug;
    private @Nullable InetSocketAddress metrics;
    private @Nullable Integer dashboard;
    private @Nullable Diagnosis diagnosis;
    private @Nullable String name;
    private int realtime;
    private boolean hugePages;
    private boolean nodeQueues;
    /** Whether the program calls the runtime itself. If not, it uses the runtime only through its virtual threads. */
    boolean api = true;
    /** Whether the setting that is being read comes from a variable or a property instead of the program's code. */
    private boolean fromOutside;

    @Override
    public Gmp.Builder realtime(int priority) {
        realtime = priority;
        return this;
    }

    @Override
    public Gmp.Builder hugePages(boolean on) {
        hugePages = on;
        return this;
    }

    @Override
    public Gmp.Builder nodeQueues(boolean on) {
        nodeQueues = on;
        return this;
    }

    @Override
    public Gmp.Builder steal(StealOrder order) {
        steal = Objects.requireNonNull(order);
        return this;
    }

    @Override
    public Gmp.Builder name(String n) {
        name = Objects.requireNonNull(n);
        return this;
    }

    @Override
    public Gmp.Builder procs(int n) {
        procs = n;
        return this;
    }

    @Override
    public Gmp.Builder affinity(Affinity a) {
        affinity = Objects.requireNonNull(a);
        return this;
    }

    @Override
    public Gmp.Builder spin(SpinPolicy p) {
        spin = Objects.requireNonNull(p);
        return this;
    }

    @Override
    public Gmp.Builder quantum(Duration d) {
        return quantum(d, d);
    }

    @Override
    public Gmp.Builder quantum(Duration least, Duration most) {
        leastQuantum = Objects.requireNonNull(least);
        quantum = Objects.requireNonNull(most);
        return this;
    }

    @Override
    public Gmp.Builder maxThreads(int n) {
        maxThreads = n;
        return this;
    }

    @Override
    public Gmp.Builder maxStack(long bytes) {
        maxStack = bytes;
        return this;
    }

    @Override
    public Gmp.Builder uncaught(BiConsumer<Long, Throwable> handler) {
        uncaught = Objects.requireNonNull(handler);
        return this;
    }

    @Override
    public Gmp.Builder idleThreads(Duration keep) {
        idleThreads = Objects.requireNonNull(keep);
        return this;
    }

    @Override
    public Gmp.Builder stalled(Consumer<Gmp.Stall> told) {
        stalled = Objects.requireNonNull(told);
        return this;
    }

    @Override
    public Gmp.Builder deadlockDetection(boolean on) {
        return deadlockDetection(on ? DeadlockDetection.ON : DeadlockDetection.OFF);
    }

    @Override
    public Gmp.Builder deadlockDetection(DeadlockDetection rule) {
        deadlockDetection = Objects.requireNonNull(rule);
        return this;
    }

    @Override
    public Gmp.Builder debug(String gmpdebug) {
        debug = gmpdebug;
        ownDebug = true;
        return this;
    }

    @Override
    public Gmp.Builder metrics(InetSocketAddress address) {
        metrics = Objects.requireNonNull(address);
        return this;
    }

    @Override
    public Gmp.Builder dashboard(int port) {
        dashboard = port;
        return this;
    }

    @Override
    public Gmp build() {
        Scheduler s;
        try {
            s = start(false);
        } catch (IllegalArgumentException bad) {
            if (fromOutside && Boolean.getBoolean("gmp.run")) {
                Program.endForBadUsage(bad);
            }
            throw bad;
        }
        return new Gmp(s, new Closer(s, diagnosis));
    }

    Scheduler start(boolean program) {
        Support.check();
        Mem.checkSettings();
        GStack.checkAll(); // A later stack overflow would leave half a scheduler.
        boolean byHand = procs != null || !variable(PROCS_VARIABLE).isEmpty();
        fromOutside = procs == null;
        int n = procs == null ? defaultProcs() : Procs.check(procs);
        fromOutside = !ownDebug;
        DebugVars vars = DebugVars.parse(debug);
        fromOutside = false;
        checkQuantum(leastQuantum);
        checkQuantum(quantum);
        if (leastQuantum.compareTo(quantum) > 0) {
            throw new IllegalArgumentException("quantum is at least " + leastQuantum + " and at most " + quantum
                    + ": give the shorter one first");
        }
        if (name != null && name.isBlank()) {
            throw new IllegalArgumentException("name is blank: use one that tells this scheduler from others");
        }
        if (maxThreads < 1) {
            throw new IllegalArgumentException("maxThreads is " + maxThreads + ": use 1 or more");
        }
        if (maxStack < LEAST_STACK) {
            throw new IllegalArgumentException("maxStack is " + maxStack + " bytes: use " + LEAST_STACK + " or more");
        }
        if (realtime < 0 || realtime > MOST_PRIORITY) {
            throw new IllegalArgumentException("realtime is " + realtime + ": use a priority from 1 to " + MOST_PRIORITY
                    + ", or 0 for the usual policy");
        }
        Placement placement = CpuAssignment.deal(affinity);
        n = byHand ? n : Math.min(n, placement.mostProcs());
        if (steal == StealOrder.NEAREST && placement.places() == null) {
            throw new IllegalArgumentException("steal order nearest needs an affinity other than none: without one nobody knows "
                    + "how far apart two Ps are");
        }
        if (nodeQueues && placement.places() == null) {
            throw new IllegalArgumentException("queues by node need an affinity other than none: without one nobody knows which node "
                    + "a P is on");
        }
        Config config = new Config(n, byHand ? null : new Procs.OfSystem(), placement, steal, nodeQueues, spin.spinNanos(),
                quantum.toNanos(), leastQuantum.toNanos(), maxThreads, idleNanos(), maxStack, uncaught,
                program || deadlockDetection != DeadlockDetection.OFF, program, realtime,
                deadlockDetection == DeadlockDetection.STRICT ? vars.withStrictDeadlocks() : vars);
        if (hugePages) {
            Mem.useHugePages();
        }
        Prelink.once(program, api); // Precedes prepare, because it checks that there is memory.
        Report.ALL.prepare();
        return startServed(config);
    }

    private static void checkQuantum(Duration d) {
        if (d.compareTo(Quantum.SHORTEST) < 0 || d.compareTo(Quantum.LONGEST) > 0) {
            throw new IllegalArgumentException("quantum is " + d + ": use 200 µs to 1 minute");
        }
    }

    private Scheduler startServed(Config config) {
        fromOutside = metrics == null && dashboard == null && !ownDebug;
        Diagnosis.Served served = Diagnosis.serve(metrics, dashboard, config.debug());
        fromOutside = false;
        Scheduler s = null;
        diagnosis = null;
        boolean done = false;
        try {
            s = name == null ? Schedinit.schedinit(config, new TimerHeaps(), new Netpoller(), Sysmon.MAKER, Report.ALL)
                    : Schedinit.schedinit(name, config, new TimerHeaps(), new Netpoller(), Sysmon.MAKER, Report.ALL);
            diagnosis = new Diagnosis(s, served);
            diagnosis.begin();
            Consumer<Gmp.Stall> told = stalled; // The builder's next scheduler may have another callback.
            if (told != null) {
                Stalls.of(s).setCallback(x -> told.accept(new Gmp.Stall(x.goid(), x.running(), List.of(x.stack()))));
            }
            fromOutside = !ownDebug;
            startTrace(s, config.debug().trace());
            fromOutside = false;
            done = true;
            return s;
        } finally {
            if (!done) {
                undo(s, served);
            }
        }
    }

    /** Undoes the completed steps of a start that has failed. */
    private void undo(@Nullable Scheduler s, Diagnosis.Served served) {
        try {
            if (diagnosis != null) {
                diagnosis.end();
            } else {
                served.close();
            }
        } finally {
            try {
                boolean _ = s == null || Closing.close(s, 0);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Starts the trace of GMPDEBUG=trace=FILE, which lasts until the JVM ends. */
    private static void startTrace(Scheduler s, String file) {
        if (file.isEmpty()) {
            return;
        }
        Path free = null;
        boolean done = false;
        try {
            free = freeTrace(Path.of(file).toAbsolutePath().normalize(), s.label().replaceAll("[/\0]", "_"));
            Session.start(List.of(s), free).stopAtExit();
            done = true;
        } catch (IOException | InvalidPathException e) {
            throw new IllegalArgumentException("GMPDEBUG: a trace cannot be written to \"" + file + "\": " + e.getMessage(), e);
        } finally {
            if (!done && free != null) {
                TRACES.remove(free);
            }
        }
    }

    /** Adds a file to {@link #TRACES} and returns it: {@code file}, or if that is in use, one with this scheduler's name appended. */
    private static Path freeTrace(Path file, String label) {
        Path free = file;
        for (int n = 1; !TRACES.add(free); n++) {
            free = file.resolveSibling(file.getFileName() + "." + label + (n == 1 ? "" : "-" + n));
        }
        return free;
    }

    private long idleNanos() {
        if (idleThreads.compareTo(Duration.ofMillis(1)) < 0 || idleThreads.compareTo(Duration.ofDays(MAX_DAYS)) > 0) {
            throw new IllegalArgumentException("idleThreads is " + idleThreads + ": use 1 ms to " + MAX_DAYS + " days");
        }
        return idleThreads.toNanos();
    }

    private static int defaultProcs() {
        String v = variable(PROCS_VARIABLE);
        if (v.isEmpty()) {
            return Procs.numCPU();
        }
        try {
            return Procs.check(Integer.parseInt(v));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    PROCS_VARIABLE + " is \"" + v + "\": use a number from 1 to " + Procs.MAX, e);
        }
    }

    private static String variable(String name) {
        String v = System.getenv(name);
        return v == null ? "" : v.strip();
    }
}
