// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.Set;

import org.gmp4j.ffi.OsThread;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkFrames;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;

/** Samples given goroutines and threads, and counts how often they execute certain code itself and not a method that this code calls. */
public abstract class CallProfile {
    private final Set<Long> callers;
    private final boolean threads;
    private int ran;
    private int own;

    /**
     * Creates a profile without samples.
     *
     * @param callers the goroutines and threads to sample, by {@link StackSearch.Call#holder()}
     */
    protected CallProfile(Set<Long> callers) {
        this.callers = callers;
        boolean any = false;
        for (long id : callers) {
            any = any || id > 0;
        }
        threads = any;
    }

    /** Returns whether a thread with these frames, which are not empty, executes the code. The frames are from {@link JdkFrames#of}. */
    protected abstract boolean isOwn(StackTraceElement[] frames);

    /**
     * Takes a sample of each caller that is running now. A running goroutine or thread is stopped for a moment. A thread that waits for a
     * monitor does not run.
     */
    public void sample() {
        for (Scheduler s : Scheduler.live()) {
            for (Machine m : s.machines()) {
                long gp = M.CURG.getOpaque(m.mp);
                if (gp != 0 && callers.contains(-G.GOID.get(gp)) && runs(m, gp)) {
                    Stack st = GStack.of(s, gp);
                    if (st != null) {
                        count(JdkFrames.of(st.thread));
                    }
                }
            }
        }
        if (threads) {
            for (Thread t : StackSearch.platformThreads()) {
                if (callers.contains(t.threadId()) && t.getState() == Thread.State.RUNNABLE) {
                    count(JdkFrames.of(t));
                }
            }
        }
    }

    /** Returns whether an M's goroutine runs with a P, or without a P on a thread that has a CPU or waits for a CPU. */
    private static boolean runs(Machine m, long gp) {
        return GStatus.readgstatus(gp) == GStatus.GRUNNING || m.astray() && OsThread.state((int) M.PROCID.getOpaque(m.mp)) == 'R';
    }

    /** Counts a sample. A thread whose innermost method is native may wait there, so its sample does not count. */
    private void count(StackTraceElement[] frames) {
        if (frames.length > 0 && !frames[0].isNativeMethod()) {
            ran++;
            if (isOwn(frames)) {
                own++;
            }
        }
    }

    /** Returns the number of samples that count. */
    public int ran() {
        return ran;
    }

    /** Returns the number of samples that found the code executing. */
    public int own() {
        return own;
    }
}
