// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

import org.gmp4j.print.Frames;
import org.gmp4j.print.ThrowableText;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.HiddenStacks;
import org.gmp4j.proc.Labelled;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/** Goroutines in Go's traceback form: a header with state and wait reason, then the frames. */
public final class Traceback {
    private static final long NANOS_A_MINUTE = 60_000_000_000L;
    private static final String LOCKED = ", locked to thread";

    private Traceback() {
    }

    /**
     * Returns every goroutine of a scheduler. Takes no lock. A goroutine that runs meanwhile is shown at a place where it was at some
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
        s.slots.forEach(gp -> {
            int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
            Stack st = HiddenStacks.of(s, gp); // Before the check: a stack found here is not collected meanwhile.
            if (lives(gp, status)) {
                StringBuilder b = new StringBuilder();
                header(b, gp, status);
                if (st == null) {
                    Runnable fn = GSlots.fn(gp);
                    b.append("\t(not started) ").append(fn == null ? "" : Labelled.function(fn).getClass().getName()).append('\n');
                } else {
                    Frames.append(b, st.thread.getStackTrace(), system);
                }
                createdBy(b, gp, site(s, gp));
                to.accept(b.toString());
            }
        });
    }

    /**
     * A goroutine in the form of a traceback.
     *
     * @param goid its number
     * @param state its state, or the reason of its wait
     * @param locked whether it is locked to a thread
     * @param frames its frames, innermost first; empty when it has not begun
     * @param fn the class of its function when it has not begun, else empty
     * @param labels its labels, see {@link Labelled}
     * @param site the place where it was started; empty when that was not recorded
     */
    public record Goroutine(long goid, String state, boolean locked, List<StackTraceElement> frames, String fn,
            Map<String, String> labels, String site) {
    }

    /** Returns whether the slot has a goroutine that the collector has not freed. */
    private static boolean lives(long gp, int status) {
        return status != GStatus.GDEAD && status != GStatus.GIDLE && !GSlots.isCollected(gp);
    }

    /** Passes every leaked goroutine to {@code to}, one at a time; see {@link LeakSearch}. */
    public static void leaked(Scheduler s, Consumer<Goroutine> to) {
        LeakSearch.each(s, to);
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

    /** Passes every goroutine to {@code to}, one at a time. Takes no lock. A running goroutine shows a place where it was. */
    public static void list(Scheduler s, Consumer<Goroutine> to) {
        s.slots.forEach(gp -> {
            Goroutine g = one(s, gp);
            if (g != null) {
                to.accept(g);
            }
        });
    }

    /** Returns a goroutine of a scheduler; null when the slot has none. */
    static @Nullable Goroutine one(Scheduler s, long gp) {
        int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
        GStack st = HiddenStacks.of(s, gp); // Read before the check whether the goroutine lives, as in each.
        if (!lives(gp, status)) {
            return null;
        }
        boolean system = s.config.debug().system();
        Runnable fn = st == null ? GSlots.fn(gp) : null;
        StackTraceElement[] all = st == null ? new StackTraceElement[0] : st.thread.getStackTrace();
        List<StackTraceElement> frames = Frames.users(all, system);
        Map<String, String> labels = st == null ? Labelled.of(fn) : st.labels();
        String site = st == null ? Labelled.siteOf(fn) : st.site();
        return new Goroutine(G.GOID.get(gp), state(gp, status), G.LOCKEDM.get(gp) != 0, frames,
                fn == null ? "" : Labelled.function(fn).getClass().getName(), labels == null ? Map.of() : labels, site == null ? "" : site);
    }

    /**
     * Returns the number of goroutines of a scheduler in each state, by the words of a traceback: {@code running}, {@code chan
     * receive}, {@code running, locked to thread}. Takes no lock and reads no stack.
     */
    public static Map<String, Long> states(Scheduler s) {
        Map<String, Long> states = new TreeMap<>();
        s.slots.forEach(gp -> {
            int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
            if (status != GStatus.GDEAD && status != GStatus.GIDLE) {
                String state = state(gp, status);
                states.merge(G.LOCKEDM.get(gp) == 0 ? state : state.concat(LOCKED), 1L, Long::sum);
            }
        });
        return states;
    }

    /** Returns the text of the goroutine that an exception ended. */
    static String ofThrowable(long gp, Throwable t) {
        StringBuilder b = new StringBuilder("goroutine ").append(G.GOID.get(gp)).append(" [running]:\n");
        Frames.append(b, ThrowableText.frames(t), ((Scheduler) GSlots.owner(gp)).config.debug().system());
        createdBy(b, gp, site((Scheduler) GSlots.owner(gp), gp));
        return b.toString();
    }

    private static void header(StringBuilder b, long gp, int status) {
        b.append(label(gp, status)).append(":\n");
    }

    /** Returns a goroutine's number with its state and wait reason. */
    static String label(long gp, int status) {
        StringBuilder b = new StringBuilder("goroutine ").append(G.GOID.get(gp)).append(" [").append(state(gp, status));
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

    private static String state(long gp, int status) {
        return switch (status) {
            case GStatus.GRUNNABLE -> "runnable";
            case GStatus.GRUNNING -> "running";
            case GStatus.GSYSCALL -> "syscall";
            case GStatus.GWAITING -> WaitReason.of(G.WAITREASON.getOpaque(gp)).text();
            case GStatus.GPREEMPTED -> "preempted";
            default -> GStatus.name(status);
        };
    }

    /** Returns the place where a goroutine was started, empty when that was not recorded. */
    private static String site(Scheduler s, long gp) {
        GStack st = HiddenStacks.of(s, gp);
        String site = st == null ? Labelled.siteOf(GSlots.fn(gp)) : st.site();
        return site == null ? "" : " at " + site;
    }

    private static void createdBy(StringBuilder b, long gp, String site) {
        if (G.PARENTGOID.get(gp) != 0) {
            b.append("created by goroutine ").append(G.PARENTGOID.get(gp)).append(site).append('\n');
        } else if (!site.isEmpty()) {
            b.append("created").append(site).append('\n');
        }
    }
}
