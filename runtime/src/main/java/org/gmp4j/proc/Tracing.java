// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.gmp4j.events.Ev;
import org.gmp4j.events.EventRing;
import org.gmp4j.events.Tracer;
import org.gmp4j.queue.Runq;
import org.gmp4j.stack.JdkState;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.JdkWait;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/** Turns the {@link Tracer} of a scheduler on and off, and records the events that are rare or come from several places. */
public final class Tracing {
    /** Bits of a goroutine's state in {@link State}. */
    private static final int STATUS_BITS = 4;
    private static final int REASON_BITS = 7;

    /** The states of all goroutines of a stopped world. */
    public static final class State {
        private long[] all = new long[64];
        /** The stacks' threads and sites, two entries for each goroutine; null where it has none. */
        private @Nullable Object[] who = new Object[2 * 64];
        private int n;

        private void add(long gp) {
            int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
            if (status == GStatus.GDEAD || status == GStatus.GIDLE) {
                return;
            }
            if (n == all.length) {
                all = java.util.Arrays.copyOf(all, 2 * n);
                who = java.util.Arrays.copyOf(who, 4 * n);
            }
            GStack st = (GStack) GSlots.stack(gp);
            if (st != null) {
                who[2 * n] = st.pooled ? null : st.thread.getName();
                who[2 * n + 1] = st.site;
            }
            int reason = status == GStatus.GWAITING ? G.WAITREASON.getOpaque(gp) : 0;
            if (reason == WaitReason.JDK.ordinal() && st != null) {
                reason = jdkReason(st).ordinal();
            }
            all[n++] = (G.GOID.get(gp) << REASON_BITS | reason) << STATUS_BITS | status;
        }

        /** Returns the number of living goroutines. */
        public int count() {
            return n;
        }

        /** Returns the goid of the goroutine number {@code i}. */
        public long goid(int i) {
            return all[i] >>> STATUS_BITS + REASON_BITS;
        }

        /** Returns the name of the thread of the goroutine number {@code i}; empty for none. */
        public String thread(int i) {
            return who[2 * i] instanceof String name ? name : "";
        }

        /** Returns the place where the goroutine number {@code i} was started; empty when that was not recorded. */
        public String site(int i) {
            return who[2 * i + 1] instanceof String site ? site : "";
        }

        /** Returns the {@link GStatus} of the goroutine number {@code i}. */
        public int status(int i) {
            return (int) all[i] & (1 << STATUS_BITS) - 1;
        }

        /** Returns the {@link WaitReason}, by its ordinal, of the goroutine number {@code i}; 0 unless it waits. */
        public int reason(int i) {
            return (int) (all[i] >>> STATUS_BITS) & (1 << REASON_BITS) - 1;
        }
    }

    private Tracing() {
    }

    /**
     * Returns why a goroutine waits in the JDK, or is about to, as far as that is known without its frames and without the kernel: a wait
     * for a descriptor is {@link WaitReason#IO_WAIT}.
     */
    static WaitReason jdkReason(GStack st) {
        try {
            Object blocker = LockSupport.getBlocker(st.thread);
            return JdkWait.of(JdkState.wait(st), blocker == null ? null : blocker.getClass(),
                    blocker == null && SocketWait.isUnderWay(st) ? WaitReason.IO_WAIT : null);
        } catch (OutOfMemoryError e) { // A class makes its name when it is first asked for it.
            return WaitReason.JDK;
        }
    }

    /**
     * Turns the tracer on or off in a stopped world. Threads without a P, such as pollers and plain threads that wake goroutines, go on
     * meanwhile. Each changes the state of a goroutine, and then reads whether there is a tracer. So the tracer is set before the states
     * are read, and events of such threads wait until the states have been read. {@code tracing.Lanes} omits an event whose effect the
     * states show already.
     *
     * @param before the present tracer of the scheduler; null for none
     * @param tracer the new tracer; null to turn it off
     * @param seen gets the states of all goroutines, between the last event of the old tracer and the first of the new one
     * @throws IllegalStateException when the scheduler is closed, or its tracer is not {@code before}
     */
    @SuppressWarnings("NullAway") // One of the two tracers is not null.
    public static void set(Scheduler s, @Nullable Tracer before, @Nullable Tracer tracer, Consumer<State> seen) {
        s.withWorldStopped(() -> {
            if (before != s.tracer) {
                throw new IllegalStateException("this Gmp is being traced already");
            }
            if (tracer != null) {
                tracer.prepare(s.procs().length); // There may be more Ps than when the tracer was made.
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

    /** Places the trace buffer of a P on the P's NUMA node, or on none. Called in a stopped world. */
    static void place(@Nullable Tracer t, int p, int node) {
        EventRing ring = t == null ? null : t.ring(p);
        if (ring != null) {
            ring.place(node);
        }
    }

    /** Returns the number of the name of the place where the caller starts a goroutine; 0 for want of memory. */
    static int site(Scheduler s, Runnable fn) {
        Tracer t = s.tracer;
        try {
            return t == null ? 0 : t.names.site(fn);
        } catch (OutOfMemoryError e) {
            return 0;
        }
    }

    /** Returns the event's text for the name of a thread; null when it has none, nothing is traced, or there is no memory. */
    static byte @Nullable [] name(Scheduler s, GStack st) {
        if (s.tracer == null) {
            return null;
        }
        try {
            String name = st.thread.getName();
            return name.isEmpty() ? null : name.getBytes(StandardCharsets.UTF_8);
        } catch (OutOfMemoryError e) {
            return null;
        }
    }

    /** Records that a goroutine was woken. The caller still owns the goroutine. */
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

    /** Records an event of the scheduler itself. */
    static void world(Scheduler s, int kind) {
        Tracer t = s.tracer;
        if (t != null) {
            t.outside(kind, 0, 0, 0);
        }
    }

    /** Records the lengths of the queues. Called by sysmon. */
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

    /** Records a user's event, with two numbers, if the caller is a goroutine of a traced scheduler. */
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
