// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import org.gmp4j.config.DebugVars;
import org.gmp4j.print.Stderr;
import org.gmp4j.print.ThreadName;
import org.gmp4j.print.ThrowableText;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.Throw;
import org.jspecify.annotations.Nullable;

/**
 * The stall detector. A stall is a goroutine that kept its P while work waited for that P, until sysmon took the P. The goroutine was
 * blocked in the kernel, or ran without reaching a preemption point. Stalls are always counted. {@code GMPDEBUG=stall=N} prints at most one
 * every N milliseconds, with its stack. A callback gets the stalls that are printed, or at most one a second if {@code stall} is not set.
 * Any thread may call the public methods.
 */
public final class Stalls {
    private static final long DEFAULT_RATE_NANOS = 1_000_000_000;

    /**
     * One stall.
     *
     * @param goid the id of the goroutine
     * @param running true if the goroutine ran, false if its thread slept in the kernel
     * @param stack the goroutine's stack soon after the P was taken, innermost frame first
     */
    public record Stall(long goid, boolean running, StackTraceElement[] stack) {
    }

    private final AtomicLong blocked = new AtomicLong();
    private final AtomicLong ran = new AtomicLong();
    private final long printRate;
    private volatile @Nullable Consumer<Stall> callback;
    private volatile @Nullable Runnable recorder;
    private long last;

    Stalls(DebugVars debug) {
        printRate = debug.stall() * 1_000_000L;
    }

    /** Returns the stall detector of {@code s}, whose monitor is a {@link Sysmon}. */
    public static Stalls of(Scheduler s) {
        return ((Sysmon) s.monitor()).stalls;
    }

    /** Sets the callback, or removes it if {@code c} is null. The callback runs on sysmon's thread, so it must be quick. */
    public void setCallback(@Nullable Consumer<Stall> c) {
        callback = c;
    }

    /** Sets the task that sysmon runs at each stall. The task must only record that there was a stall. */
    public synchronized void setRecorder(Runnable r) {
        recorder = r;
    }

    /** Removes the task that was set by {@link #setRecorder}, if it is {@code r}. */
    public synchronized void dropRecorder(Runnable r) {
        if (recorder == r) {
            recorder = null;
        }
    }

    /** Returns how many times a P was taken from a goroutine that slept in the kernel. */
    public long blocked() {
        return blocked.get();
    }

    /** Returns how many times a P was taken from a goroutine that ran past its quantum and reached no preemption point. */
    public long ran() {
        return ran.get();
    }

    /** Counts and reports that the P of this request was taken from its goroutine. Sysmon calls it. */
    void add(WatchedP r) {
        long _ = (r.running ? ran : blocked).incrementAndGet();
        Runnable notice = recorder;
        if (notice != null) {
            notice.run();
        }
        Consumer<Stall> c = callback;
        long now = System.nanoTime();
        if (printRate == 0 && c == null || last != 0 && now - last < (printRate == 0 ? DEFAULT_RATE_NANOS : printRate)) {
            return;
        }
        Stack st = r.gp == 0 ? null : GSlots.stack(r.gp);
        if (st == null || G.GOID.get(r.gp) != r.goid) {
            return; // The goroutine has ended.
        }
        last = now;
        try {
            tell(r, c, st);
        } catch (OutOfMemoryError e) {
            return; // The stall counts, but is not reported.
        }
    }

    private void tell(WatchedP r, @Nullable Consumer<Stall> c, Stack st) {
        Stall stall = new Stall(r.goid, r.running, st.thread.getStackTrace());
        if (c != null) {
            try {
                c.accept(stall);
            } catch (Throw t) {
                throw t; // The callback called the runtime, which found the scheduler corrupt.
            } catch (Throwable t) {
                callback = null;
                Stderr.tryPrint("gmp4j: the stall callback threw ", ThrowableText.line(t), " and is off");
            }
        }
        if (printRate > 0) {
            StringBuilder b = new StringBuilder("STALL goroutine ").append(stall.goid);
            String name = st.thread.getName();
            if (!name.isEmpty()) {
                b.append(' ').append(ThreadName.quoted(name));
            }
            b.append(r.running ? " ran past its quantum without a point:\n" : " blocked its thread:\n");
            for (StackTraceElement e : stall.stack) {
                b.append('\t').append(e).append('\n');
            }
            Stderr.print(b.toString());
        }
    }
}
