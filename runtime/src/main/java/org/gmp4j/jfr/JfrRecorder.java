// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.jfr;

import java.util.List;

import org.gmp4j.jfr.Events.GoroutinePreemption;
import org.gmp4j.jfr.Events.GoroutineStall;
import org.gmp4j.jfr.Events.GoroutineStray;
import org.gmp4j.jfr.Events.GoroutineWait;
import org.gmp4j.jfr.Events.SyscallRetaken;
import org.gmp4j.jfr.Events.ThreadBegin;
import org.gmp4j.jfr.Events.ThreadEnd;
import org.gmp4j.jfr.Events.ThreadEvent;
import org.gmp4j.jfr.Events.UnannouncedTaking;
import org.gmp4j.jfr.Events.WorldStop;
import org.gmp4j.print.Frames;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Recorder;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.M;
import org.jspecify.annotations.Nullable;

/** Writes events to JFR. {@link Recorder} says which threads call its methods. */
final class JfrRecorder extends Recorder {
    /** The least time, ns, between two readings of other threads' stacks. Each reading needs a handshake with the thread. */
    private static final long STACK_EVERY = 10_000_000;

    private volatile long lastStack = System.nanoTime() - STACK_EVERY;

    @Override
    protected @Nullable Object waits() {
        GoroutineWait e = new GoroutineWait();
        if (!e.isEnabled()) {
            return null;
        }
        e.begin();
        return e;
    }

    @Override
    protected void waited(Object event, Scheduler s, long goid, String reason) {
        GoroutineWait e = (GoroutineWait) event;
        e.end();
        if (e.shouldCommit()) {
            e.scheduler = s.label();
            e.goroutine = goid;
            e.reason = reason;
            e.commit();
        }
    }

    @Override
    protected void preempted(Scheduler s, long goid, boolean forStop) {
        GoroutinePreemption e = new GoroutinePreemption();
        if (e.isEnabled()) {
            e.scheduler = s.label();
            e.goroutine = goid;
            e.forStop = forStop;
            e.commit();
        }
    }

    @Override
    protected @Nullable Object worldStops() {
        WorldStop e = new WorldStop();
        if (!e.isEnabled()) {
            return null;
        }
        e.begin();
        return e;
    }

    @Override
    protected void worldStarts(Object event, Scheduler s, long stopping) {
        WorldStop e = (WorldStop) event;
        e.end();
        if (e.shouldCommit()) {
            e.scheduler = s.label();
            e.stopping = stopping;
            e.commit();
        }
    }

    @Override
    protected void took(Scheduler s, int p, Taken how, long gp, long goid) {
        switch (how) {
            case SYSCALL -> {
                SyscallRetaken e = new SyscallRetaken();
                if (e.isEnabled()) {
                    e.scheduler = s.label();
                    e.processor = p;
                    e.commit();
                }
            }
            case BLOCKED -> took(new GoroutineStall(), s, p, gp, goid);
            case RAN -> took(new GoroutineStray(), s, p, gp, goid);
        }
    }

    private void took(UnannouncedTaking e, Scheduler s, int p, long gp, long goid) {
        if (e.isEnabled()) {
            e.scheduler = s.label();
            e.goroutine = goid;
            e.processor = p;
            e.where = where(gp, goid);
            e.commit();
        }
    }

    /**
     * Returns the innermost frame of a goroutine's stack outside of the runtime, and if possible outside of java.base. Returns null if
     * there is no such frame, if the last reading was too recent, or if the goroutine has ended.
     */
    private @Nullable String where(long gp, long goid) {
        long now = System.nanoTime();
        Stack st = gp == 0 ? null : GSlots.stack(gp);
        if (now - lastStack < STACK_EVERY || st == null) {
            return null;
        }
        lastStack = now;
        StackTraceElement[] frames = st.thread.getStackTrace();
        if (G.GOID.get(gp) != goid) {
            return null;
        }
        List<StackTraceElement> users = Frames.users(frames, false);
        for (StackTraceElement f : users) {
            if (!"java.base".equals(f.getModuleName())) {
                return f.toString();
            }
        }
        return users.isEmpty() ? null : users.getFirst().toString();
    }

    @Override
    protected void thread(Machine m, boolean begins) {
        ThreadEvent e = begins ? new ThreadBegin() : new ThreadEnd();
        if (e.isEnabled()) {
            e.scheduler = m.s.label();
            e.m = M.ID.get(m.mp);
            e.commit();
        }
    }
}
