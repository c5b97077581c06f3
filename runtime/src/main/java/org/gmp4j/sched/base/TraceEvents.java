// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.nio.charset.StandardCharsets;

import org.gmp4j.events.Ev;
import org.gmp4j.events.EventRing;
import org.gmp4j.events.Tracer;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.G;
import org.jspecify.annotations.Nullable;

/** Records events of the loop that are rare or come from several places. {@code Tracing} turns the tracer on and off. */
public final class TraceEvents {
    private TraceEvents() {
    }

    /** Places the trace buffer of a P on the P's NUMA node, or on none. Called in a stopped world. */
    public static void place(@Nullable Tracer t, int p, int node) {
        EventRing ring = t == null ? null : t.ring(p);
        if (ring != null) {
            ring.place(node);
        }
    }

    /** Returns the tracer's number for the place where the caller starts a goroutine; 0 when nothing is traced, or there is no memory. */
    public static int site(Scheduler s, Runnable fn) {
        Tracer t = s.tracer;
        try {
            return t == null ? 0 : t.names.site(fn);
        } catch (OutOfMemoryError e) {
            return 0;
        }
    }

    /** Returns a thread's name as the text of an event; null when it has none, nothing is traced, or there is no memory. */
    public static byte @Nullable [] name(Scheduler s, Stack st) {
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
    public static void unblocked(Scheduler s, long gp) {
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
    public static void world(Scheduler s, int kind) {
        Tracer t = s.tracer;
        if (t != null) {
            t.outside(kind, 0, 0, 0);
        }
    }
}
