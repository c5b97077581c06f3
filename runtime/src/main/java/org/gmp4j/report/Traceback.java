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
     * Every goroutine of a scheduler. Takes no lock; a goroutine that runs meanwhile is shown where it was at some moment.
     */
    public static String all(Scheduler s) {
        StringBuilder all = new StringBuilder();
        each(s, text -> all.append(text).append('\n'));
        return all.toString();
    }

    /** The same, one at a time. */
    static void each(Scheduler s, Consumer<String> to) {
        boolean system = s.config.debug().system();
        s.slots.forEach(gp -> {
            int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
            Stack st = HiddenStacks.of(s, gp); // Before the look whether it lives: what was found here is not collected meanwhile.
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
     * A goroutine as a traceback shows it.
     *
     * @param goid its number
     * @param state its state, or what it waits for
     * @param locked whether it is locked to a thread
     * @param frames innermost first; empty when it has not begun
     * @param fn the class of its function when it has not begun, else empty
     * @param labels as {@link Labelled} has them
     * @param site where it was started; empty when that was not noted
     */
    public record Goroutine(long goid, String state, boolean locked, List<StackTraceElement> frames, String fn,
            Map<String, String> labels, String site) {
    }

    /** Whether there is a goroutine in the slot, and the collector has not taken it. */
    private static boolean lives(long gp, int status) {
        return status != GStatus.GDEAD && status != GStatus.GIDLE && !GSlots.isCollected(gp);
    }

    /** Every goroutine that nothing alive can wake, one at a time; see {@link LeakSearch}. */
    public static void leaked(Scheduler s, Consumer<Goroutine> to) {
        LeakSearch.each(s, to);
    }

    /** The number of every goroutine. */
    public static void numbers(Scheduler s, LongConsumer to) {
        s.slots.forEach(gp -> {
            int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
            if (lives(gp, status)) {
                to.accept(G.GOID.get(gp));
            }
        });
    }

    /** Every goroutine, one at a time; takes no lock. One that runs shows where it was. */
    public static void list(Scheduler s, Consumer<Goroutine> to) {
        s.slots.forEach(gp -> {
            Goroutine g = one(s, gp);
            if (g != null) {
                to.accept(g);
            }
        });
    }

    /** One of a scheduler's; null when none has the slot. */
    static @Nullable Goroutine one(Scheduler s, long gp) {
        int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
        GStack st = HiddenStacks.of(s, gp); // As in each.
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
     * How many goroutines of a scheduler are in each state, by the words of a traceback: {@code running}, {@code chan receive},
     * {@code running, locked to thread}. Takes no lock and looks at no stack.
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

    /** The goroutine that an exception ended. */
    static String ofThrowable(long gp, Throwable t) {
        StringBuilder b = new StringBuilder("goroutine ").append(G.GOID.get(gp)).append(" [running]:\n");
        Frames.append(b, ThrowableText.frames(t), ((Scheduler) GSlots.owner(gp)).config.debug().system());
        createdBy(b, gp, site((Scheduler) GSlots.owner(gp), gp));
        return b.toString();
    }

    private static void header(StringBuilder b, long gp, int status) {
        b.append(label(gp, status)).append(":\n");
    }

    /** A goroutine's number, with its state and wait reason. */
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

    /** Where it was started, empty when that was not noted. */
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
