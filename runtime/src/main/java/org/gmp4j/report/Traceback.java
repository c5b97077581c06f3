// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

import org.gmp4j.print.Frames;
import org.gmp4j.print.ThreadName;
import org.gmp4j.print.ThrowableText;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Labelled;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.jdk.ThreadTask;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.jspecify.annotations.Nullable;

/** Goroutines in the form of Go's tracebacks: a header with the state or the reason of the wait, then the frames. */
public final class Traceback {
    private static final long NANOS_A_MINUTE = 60_000_000_000L;
    private static final String LOCKED = ", locked to thread";
    private static final StackTraceElement[] NONE = {};

    private Traceback() {
    }

    /**
     * Returns the text of every goroutine of a scheduler. Takes no lock. A running goroutine is shown at a place where it was at some
     * moment.
     */
    public static String all(Scheduler s) {
        StringBuilder all = new StringBuilder();
        each(s, text -> all.append(text).append('\n'));
        return all.toString();
    }

    /** Passes the text of every goroutine to {@code to}, one at a time. Takes no lock. */
    static void each(Scheduler s, Consumer<String> to) {
        boolean system = s.config.debug().system();
        States states = new States(s);
        s.slots.forEach(gp -> {
            int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
            GStack st = GStack.of(s, gp); // Read before the check, so that the collector cannot free the stack.
            if (lives(gp, status)) {
                StringBuilder b = new StringBuilder();
                StackTraceElement[] frames = st == null ? NONE : st.thread.getStackTrace();
                b.append(label(gp, status, states.of(gp, status, st, frames))).append(":\n");
                String thread = thread(st);
                if (!thread.isEmpty()) {
                    b.append("\tthread ").append(thread).append(", task ").append(task(st, null)).append('\n');
                }
                if (st == null) {
                    b.append("\t(not started) ").append(task(null, GSlots.fn(gp))).append('\n');
                } else {
                    Frames.append(b, frames, system);
                }
                createdBy(b, s, gp);
                to.accept(b.toString());
            }
        });
    }

    /**
     * A goroutine in the form of a traceback.
     *
     * @param goid the goroutine's number
     * @param state the goroutine's state, or the reason of its wait
     * @param locked whether the goroutine is locked to a thread
     * @param frames the goroutine's frames, innermost first; empty when it has not begun to run
     * @param fn the class of the goroutine's function when it has not begun to run, or of its thread's task; otherwise empty
     * @param labels the goroutine's labels: see {@link Labelled}
     * @param site the place where the goroutine was started; empty when that was not recorded
     * @param thread the goroutine's thread, if the thread has an identity: {@code #31 "orders-0"}; otherwise empty
     */
    public record Goroutine(long goid, String state, boolean locked, List<StackTraceElement> frames, String fn,
            Map<String, String> labels, String site, String thread) {
    }

    /** Returns the number and the name of a thread with an identity; empty for a goroutine without one. */
    private static String thread(@Nullable GStack st) {
        if (st == null || st.isPooled()) {
            return "";
        }
        String name = st.thread.getName();
        return "#" + st.thread.threadId() + (name.isEmpty() ? "" : " " + ThreadName.quoted(name));
    }

    /** Returns the class of a thread's task, or of the function of a goroutine that has not begun to run; otherwise empty. */
    private static String task(@Nullable GStack st, @Nullable Runnable fn) {
        if (st != null) {
            String name = st.isPooled() ? "" : ThreadTask.classOf(st).getName();
            int hidden = name.indexOf('/');
            return hidden < 0 ? name : name.substring(0, hidden); // A lambda's class name ends with an address.
        }
        return fn == null ? "" : Labelled.function(fn).getClass().getName();
    }

    /** Returns whether the slot has a goroutine, and the collector has not freed its stack. */
    private static boolean lives(long gp, int status) {
        return status != GStatus.GDEAD && status != GStatus.GIDLE && !GSlots.isCollected(gp);
    }

    /** Passes the number of every goroutine to {@code to}. Takes no lock. */
    public static void numbers(Scheduler s, LongConsumer to) {
        s.slots.forEach(gp -> {
            int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
            if (lives(gp, status)) {
                to.accept(G.GOID.get(gp));
            }
        });
    }

    /**
     * Passes every goroutine to {@code to}, one at a time. Takes no lock. A running goroutine is shown at a place where it was at some
     * moment.
     */
    public static void list(Scheduler s, Consumer<Goroutine> to) {
        States states = new States(s);
        s.slots.forEach(gp -> {
            Goroutine g = one(s, gp, states);
            if (g != null) {
                to.accept(g);
            }
        });
    }

    /** Returns a goroutine of a scheduler; null when the slot has none. */
    static @Nullable Goroutine one(Scheduler s, long gp, States states) {
        int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
        GStack st = GStack.of(s, gp); // Read before the check whether the goroutine lives, so that the collector cannot free the stack.
        if (!lives(gp, status)) {
            return null;
        }
        boolean system = s.config.debug().system();
        Runnable fn = st == null ? GSlots.fn(gp) : null;
        StackTraceElement[] all = st == null ? NONE : st.thread.getStackTrace();
        List<StackTraceElement> frames = Frames.users(all, system);
        Map<String, String> labels = st == null ? Labelled.of(fn) : st.labels();
        String site = st == null ? Labelled.siteOf(fn) : st.site();
        return new Goroutine(G.GOID.get(gp), states.of(gp, status, st, all), G.LOCKEDM.get(gp) != 0, frames,
                task(st, fn), labels == null ? Map.of() : labels, site == null ? "" : site, thread(st));
    }

    /**
     * Returns the number of goroutines of a scheduler in each state, in the words of a traceback: {@code running}, {@code chan receive},
     * {@code running, locked to thread}. Takes no lock and reads few stacks: see {@link States}.
     */
    public static Map<String, Long> states(Scheduler s) {
        GStack.checkAll(); // A class whose initialiser runs out of stack can never be used.
        return states(s, new States(s));
    }

    static Map<String, Long> states(Scheduler s, States words) {
        Map<String, Long> states = new TreeMap<>();
        s.slots.forEach(gp -> {
            int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
            if (status != GStatus.GDEAD && status != GStatus.GIDLE) {
                String state = words.of(gp, status, GStack.of(s, gp), null);
                states.merge(G.LOCKEDM.get(gp) == 0 ? state : state.concat(LOCKED), 1L, Long::sum);
            }
        });
        return states;
    }

    /** Returns the text of the goroutine that an exception ended. */
    static String ofThrowable(long gp, Throwable t) {
        StringBuilder b = new StringBuilder("goroutine ").append(G.GOID.get(gp)).append(" [running]:\n");
        Scheduler s = (Scheduler) GSlots.owner(gp);
        Frames.append(b, ThrowableText.frames(t), s.config.debug().system());
        createdBy(b, s, gp);
        return b.toString();
    }

    /** Returns a goroutine's number and state. Reads no frames, because the thread dump that calls this may hold the stack. */
    static String label(Scheduler s, long gp, GStack st, int status) {
        return label(gp, status, new States(s).of(gp, status, st, NONE));
    }

    private static String label(long gp, int status, String state) {
        StringBuilder b = new StringBuilder("goroutine ").append(G.GOID.get(gp)).append(" [").append(state);
        long since = G.WAITSINCE.getOpaque(gp);
        long minutes = since == 0 || status != GStatus.GWAITING ? 0 : (System.nanoTime() - since) / NANOS_A_MINUTE;
        if (minutes >= 1) {
            b.append(", ").append(minutes).append(" minutes");
        }
        if (G.LOCKEDM.get(gp) != 0) {
            b.append(LOCKED);
        }
        return b.append(']').toString();
    }

    /** Appends a line with the goroutine that started a goroutine, and with the place, as far as they are known. */
    private static void createdBy(StringBuilder b, Scheduler s, long gp) {
        GStack st = GStack.of(s, gp);
        String place = st == null ? Labelled.siteOf(GSlots.fn(gp)) : st.site();
        String site = place == null ? "" : " at " + place;
        if (G.PARENTGOID.get(gp) != 0) {
            b.append("created by goroutine ").append(G.PARENTGOID.get(gp)).append(site).append('\n');
        } else if (!site.isEmpty()) {
            b.append("created").append(site).append('\n');
        }
    }
}
