// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.util.Arrays;
import java.util.function.Consumer;

import org.gmp4j.events.Ev;
import org.gmp4j.events.EventRing;
import org.gmp4j.events.Tracer;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.base.TraceEvents;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * Turns the {@link Tracer} of a scheduler on and off, and records users' events and the lengths of the queues. {@link TraceEvents} records
 * the events of the scheduler.
 */
public final class Tracing {
    /** The number of bits of a goroutine's status in {@link State}; the next constant has that of its wait reason. */
    private static final int STATUS_BITS = 4;
    private static final int REASON_BITS = 7;

    /** The states of all goroutines of a stopped world. */
    public static final class State {
        private long[] all = new long[64];
        /** Two entries for each goroutine: its thread's name and the place where it was started; null for none. */
        private @Nullable Object[] who = new Object[2 * 64];
        private int n;

        private void add(long gp) {
            int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
            if (status == GStatus.GDEAD || status == GStatus.GIDLE) {
                return;
            }
            if (n == all.length) {
                all = Arrays.copyOf(all, 2 * n);
                who = Arrays.copyOf(who, 4 * n);
            }
            GStack st = (GStack) GSlots.stack(gp);
            if (st != null) {
                who[2 * n] = st.pooled ? null : st.thread.getName();
                who[2 * n + 1] = st.site;
            }
            int reason = status == GStatus.GWAITING ? G.WAITREASON.getOpaque(gp) : 0;
            if (reason == WaitReason.JDK.ordinal() && st != null) {
                reason = st.jdkReason().ordinal();
            }
            all[n++] = (G.GOID.get(gp) << REASON_BITS | reason) << STATUS_BITS | status;
        }

        /** Returns the number of living goroutines. */
        public int count() {
            return n;
        }

        /** Returns the goid of goroutine number {@code i}. */
        public long goid(int i) {
            return all[i] >>> STATUS_BITS + REASON_BITS;
        }

        /** Returns the name of the thread of goroutine number {@code i}; empty for none. */
        public String thread(int i) {
            return who[2 * i] instanceof String name ? name : "";
        }

        /** Returns the place where goroutine number {@code i} was started; empty when it was not recorded. */
        public String site(int i) {
            return who[2 * i + 1] instanceof String site ? site : "";
        }

        /** Returns the {@link GStatus} of goroutine number {@code i}. */
        public int status(int i) {
            return (int) all[i] & (1 << STATUS_BITS) - 1;
        }

        /** Returns the ordinal of the {@link WaitReason} of goroutine number {@code i}; 0 unless it waits. */
        public int reason(int i) {
            return (int) (all[i] >>> STATUS_BITS) & (1 << REASON_BITS) - 1;
        }
    }

    private Tracing() {
    }

    /**
     * Turns the tracer on or off in a stopped world. Threads without a P, such as pollers and plain threads that wake goroutines, run
     * meanwhile. Each of these threads first changes the state of a goroutine, and then reads whether there is a tracer. So this method
     * sets the tracer before it reads the states. Such a thread writes its event only after this method has read the
     * states. {@code tracing.Lanes} omits an event whose effect the states show already.
     *
     * @param before the present tracer of the scheduler; null for none
     * @param tracer the new tracer; null to turn it off
     * @param seen gets the states of all goroutines, after the last event of the old tracer and before the first one of the new tracer
     * @throws IllegalStateException when the scheduler is closed, or its tracer is not {@code before}
     */
    @SuppressWarnings("NullAway") // One of the two tracers is not null.
    public static void set(Scheduler s, @Nullable Tracer before, @Nullable Tracer tracer, Consumer<State> seen) {
        StopTheWorld.withWorldStopped(s, () -> {
            if (before != s.tracer) {
                throw new IllegalStateException("this Gmp is being traced already");
            }
            if (tracer != null) {
                tracer.prepare(s.procs().length); // There may be more Ps than when the tracer was made.
                for (Processor pr : s.procs()) {
                    TraceEvents.place(tracer, P.ID.get(pr.pp), pr.node());
                }
            }
            boolean done = false;
            try {
                s.tracer = tracer != null ? tracer : before;
                s.tracer.silence(true);
                State state = new State();
                s.slots.forEach(state::add);
                seen.accept(state);
                done = true;
            } finally {
                s.tracer.silence(false);
                s.tracer = done ? tracer : before;
            }
            Machine m = Machine.of();
            if (m != null && m.s == s && m.pp() != 0) {
                m.lookForTrace(m.pp());
            }
        });
    }

    /** Records the lengths of the queues. Called by sysmon. */
    public static void queues(Scheduler s) {
        Tracer t = s.tracer;
        if (t == null) {
            return;
        }
        t.outside(Ev.QUEUE, 0, Schedt.RUNQSIZE.getOpaque(s.sched), Ev.GLOBAL);
        for (Processor pr : s.procs()) {
            int n = Runq.size(pr.pp) + (Runq.runnext(pr.pp) == 0 ? 0 : 1);
            t.outside(Ev.QUEUE, 0, n, P.ID.get(pr.pp));
        }
    }

    /** Records a user's event, with a task and its parent (0 for none), if the caller is a goroutine of a traced scheduler. */
    public static void user(int kind, @Nullable String name, long task, long parent) {
        GStack st = GStack.current();
        if (st == null) {
            return;
        }
        Tracer t = st.s.tracer;
        if (t == null) {
            return;
        }
        int number = name == null ? 0 : t.names.number(name);
        GStack in = GStack.enter();
        try {
            if (st.s.tracer != t) {
                return; // The tracer was turned off, or replaced, meanwhile.
            }
            t.user(ring(st), kind, G.GOID.get(st.gp), number, task, parent);
        } finally {
            GStack.exit(in);
        }
    }

    /** Returns whether the caller is a goroutine of a traced scheduler. */
    public static boolean on() {
        GStack st = GStack.current();
        return st != null && st.s.tracer != null;
    }

    /** Records a user's message, if the caller is a goroutine of a traced scheduler. */
    public static void log(String message) {
        GStack st = GStack.current();
        if (st == null) {
            return;
        }
        Tracer t = st.s.tracer;
        if (t == null) {
            return;
        }
        GStack in = GStack.enter();
        try {
            if (st.s.tracer != t) {
                return;
            }
            t.log(ring(st), G.GOID.get(st.gp), message);
        } finally {
            GStack.exit(in);
        }
    }

    private static @Nullable EventRing ring(GStack st) {
        Machine m = st.machine();
        return M.P.getOpaque(m.mp) == 0 ? null : m.trace;
    }
}
