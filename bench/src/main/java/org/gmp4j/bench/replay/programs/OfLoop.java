// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

import org.gmp4j.affinity.StealOrder;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Threads;
import org.gmp4j.check.Invariants;
import org.gmp4j.config.Config;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.netpoll.Netpoller;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Monitor;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Reports;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.jdk.Stacks;
import org.gmp4j.sched.life.Schedinit;
import org.gmp4j.stack.JdkContainer;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sysmon.Sysmon;
import org.gmp4j.timer.TimerHeaps;

/**
 * A case with a real scheduler, whose Ms are lanes. At the end, when no lane can go on, all goroutines must have ended, no queue may have
 * a G, and the invariants hold.
 */
abstract class OfLoop extends Case {
    private static final long QUANTUM = 10_000_000;
    private static final int MANY = 8;

    /** The scheduler; set by {@link #start}. */
    Scheduler s;

    private long spinNanos;
    private long idleNanos = -1;
    private boolean deadlocks;
    private Netpoll netpoll = Netpoll.NONE;
    private Function<Scheduler, Monitor> monitor = Quiet::new;
    private long quantum = QUANTUM;
    private boolean cooperative;
    private boolean uncaughtExpected;
    private Runnable atUncaught = () -> { };
    private int uncaught;

    /** Lets spinners search for so long before they sleep. */
    final OfLoop spinning(long nanos) {
        spinNanos = nanos;
        return this;
    }

    /** Lets Ms that have slept for so long end, if there are more than Ps. */
    final OfLoop endingIdleMs(long nanos) {
        idleNanos = nanos;
        return this;
    }

    /** Lets the last M that falls asleep report a deadlock. */
    final OfLoop findingDeadlocks() {
        deadlocks = true;
        return this;
    }

    /** Gives the scheduler a poller for descriptors. */
    final OfLoop withNetwork() {
        netpoll = new Netpoller();
        return this;
    }

    /** Gives the scheduler a sysmon, which is a lane, and time slices of so many ns. */
    final OfLoop withSysmon(long nanos) {
        monitor = Sysmon.MAKER;
        quantum = nanos;
        return this;
    }

    /** Lets goroutines yield only where they call the runtime. */
    final OfLoop cooperative() {
        cooperative = true;
        return this;
    }

    /** Says that exceptions end goroutines: they are counted, and {@code check} runs at each. */
    final void expectsUncaught(Runnable check) {
        uncaughtExpected = true;
        atUncaught = check;
    }

    /** Returns how many exceptions that ended goroutines were reported. */
    final int uncaught() {
        return uncaught;
    }

    /** Makes the scheduler. */
    final void start(int procs) {
        DebugVars debug = DebugVars.parse(deadlocks ? "deadlock=strict" : cooperative ? "asyncpreemptoff=1" : "");
        Config config = new Config(procs, null, Placement.NONE, StealOrder.UNIFORM, false, spinNanos, quantum, quantum, MANY, idleNanos,
                1 << 20, null, deadlocks, false, 0, debug);
        s = Schedinit.schedinit("gmp", config, new TimerHeaps(), netpoll, monitor, new Tells());
    }

    /** Starts a goroutine, from no goroutine of the scheduler. */
    final void go(Runnable fn) {
        Newproc.newproc(s, fn);
    }

    /** Starts {@code n} goroutines. */
    final void go(int n, Runnable fn) {
        for (int i = 0; i < n; i++) {
            go(fn);
        }
    }

    /** Makes a virtual thread of the scheduler, and starts it. */
    final Thread thread(Runnable body) {
        Thread t = Stacks.newThread(s, body);
        Threads.start(t);
        return t;
    }

    /** Adds a lane that does something with each P again and again, until so many parts are done. */
    final void withEachP(String lane, int parts, Consumer<Processor> act) {
        lane(lane, () -> {
            while (doneCount() < parts) {
                for (Processor p : s.procs()) {
                    act.accept(p);
                }
                Thread.onSpinWait();
            }
        });
    }

    @Override
    protected boolean mayRest(String lane) {
        return lane.startsWith("M") || lane.equals("timers");
    }

    @Override
    protected void end() {
        idle();
    }

    /** Checks that no goroutine is left in a queue. */
    final void noneRunnable() {
        check(Schedt.RUNQSIZE.getOpaque(s.sched) == 0, "the process is idle, and the global queue has "
                + Schedt.RUNQSIZE.getOpaque(s.sched) + " runnable goroutines");
        for (Processor p : s.procs()) {
            check(Runq.runqempty(p.pp), "the process is idle, and a P has runnable goroutines");
        }
    }

    /** Checks an idle scheduler. */
    final void idle() {
        noneRunnable();
        check(s.gcount() == 0, "the process is idle, and " + s.gcount() + " goroutines have not ended");
        check(Schedt.NMSPINNING.getVolatile(s.sched) == 0, "M7: the process is idle, and nmspinning is not 0");
        List<String> broken = new ArrayList<>();
        StopTheWorld.withWorldStopped(s, () -> broken.addAll(Invariants.check(s)));
        check(broken.isEmpty(), broken.isEmpty() ? "" : broken.getFirst());
    }

    /** Called when a fatal error is reported. */
    void fatal(String message) {
        failed(new AssertionError("fatal error: " + message));
    }

    /** A monitor that watches nothing. */
    private record Quiet(Scheduler s) implements Monitor {
        private record Nothing() implements Watched {
        }

        @Override
        public Watched ofM() {
            return new Nothing();
        }

        @Override
        public Watched ofP() {
            return new Nothing();
        }

        @Override
        public void start() {
            // It has no thread.
        }

        @Override
        public Thread stop() {
            return new Thread();
        }

        @Override
        public boolean isCurrent() {
            return false;
        }
    }

    /** Makes a failure of the run of each report. */
    private final class Tells implements Reports {
        @Override
        public void prepare() {
            // It needs no memory later.
        }

        @Override
        public Error fatal(Scheduler of, String before, String message) {
            OfLoop.this.fatal(message);
            return new AssertionError(message);
        }

        @Override
        public void broken(Scheduler of, Throwable t) {
            failed(t);
        }

        @Override
        public void uncaught(Stack st, Throwable t) {
            uncaught++;
            if (!uncaughtExpected) {
                failed(t);
            }
            atUncaught.run();
        }

        @Override
        public void escaped(Throwable t) {
            failed(t);
        }

        @Override
        public JdkContainer container(String scheduler, GSlots slots) {
            return null;
        }
    }
}
