// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.function.Consumer;

import org.gmp4j.events.Ev;
import org.gmp4j.events.EventRing;
import org.gmp4j.events.Tracer;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/** Turns the {@link Tracer} of a scheduler on and off, and writes the events that are rare or come from several places. */
public final class Tracing {
    /** Bits of a goroutine's state in {@link State}. */
    private static final int STATUS_BITS = 4;
    private static final int REASON_BITS = 7;

    /** The states of all goroutines of a stopped world. */
    public static final class State {
        private long[] all = new long[64];
        private int n;

        private void add(long gp) {
            int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
            if (status == GStatus.GDEAD || status == GStatus.GIDLE) {
                return;
            }
            if (n == all.length) {
                all = java.util.Arrays.copyOf(all, 2 * n);
            }
            int reason = status == GStatus.GWAITING ? G.WAITREASON.getOpaque(gp) : 0;
            all[n++] = (G.GOID.get(gp) << REASON_BITS | reason) << STATUS_BITS | status;
        }

        /** How many live. */
        public int count() {
            return n;
        }

        /** The goid of one. */
        public long goid(int i) {
            return all[i] >>> STATUS_BITS + REASON_BITS;
        }

        /** Its {@link GStatus}. */
        public int status(int i) {
            return (int) all[i] & (1 << STATUS_BITS) - 1;
        }

        /** Its {@link WaitReason} while it waits. */
        public int reason(int i) {
            return (int) (all[i] >>> STATUS_BITS) & (1 << REASON_BITS) - 1;
        }
    }

    private Tracing() {
    }

    /**
     * Turns it on or off, with the world stopped. Threads without a P go on meanwhile, such as pollers and plain threads that wake
     * goroutines: each changes the state of a goroutine, and then looks for a tracer. So the tracer is set before the states are read, and
     * events of such threads wait until they have been. {@code tracing.Lanes} leaves out an event whose effect the states show already.
     *
     * @param before what the scheduler has now; null for off
     * @param tracer what it is to have
     * @param seen told of all goroutines, between the last event of the one and the first of the other
     * @throws IllegalStateException when the scheduler is closed, or has another than {@code before}
     */
    @SuppressWarnings("NullAway") // It is never from off to off.
    public static void set(Scheduler s, @Nullable Tracer before, @Nullable Tracer tracer, Consumer<State> seen) {
        s.withWorldStopped(() -> {
            if (before != s.tracer) {
                throw new IllegalStateException("this Gmp is being traced already");
            }
            if (tracer != null) {
                tracer.prepare(s.procs().length); // They may have become more.
                for (Processor pr : s.procs()) {
                    place(tracer, P.ID.get(pr.pp), pr.node());
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

    /** The P is on that node, or on none: so is its trace buffer from here on. World stopped. */
    static void place(@Nullable Tracer t, int p, int node) {
        EventRing ring = t == null ? null : t.ring(p);
        if (ring != null) {
            ring.place(node);
        }
    }

    /** The name of the place where the caller starts a goroutine; 0 for want of memory. */
    static int site(Scheduler s, Runnable fn) {
        Tracer t = s.tracer;
        try {
            return t == null ? 0 : t.names.site(fn);
        } catch (OutOfMemoryError e) {
            return 0;
        }
    }

    /** Writes that a goroutine was woken; it is the caller's still. */
    static void unblocked(Scheduler s, long gp) {
        if (s.tracer == null) {
            return;
        }
        Machine m = Machine.of();
        if (m != null && m.s == s && m.pp() != 0) {
            if (m.trace != null) {
                m.trace.event(Ev.UNBLOCK, 0, G.GOID.get(gp), 0);
            }
        } else {
            s.traceOutside(Ev.UNBLOCK, 0, gp);
        }
    }

    /** An event of the scheduler's own. */
    static void world(Scheduler s, int kind) {
        Tracer t = s.tracer;
        if (t != null) {
            t.outside(kind, 0, 0, 0);
        }
    }

    /** From sysmon: how long the queues are. */
    static void queues(Scheduler s) {
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

    /** A user's event: with two numbers. On a goroutine of a traced scheduler; elsewhere nothing happens. */
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
                return; // Traced no more.
            }
            t.user(ring(st), kind, G.GOID.get(st.gp), number, task, parent);
        } finally {
            GStack.exit(in);
        }
    }

    /** Whether the caller is a goroutine of a traced scheduler. */
    public static boolean on() {
        GStack st = GStack.current();
        return st != null && st.s.tracer != null;
    }

    /** A user's message; as {@link #user}. */
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
