// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.Set;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkFrames;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;

/** Samples some goroutines and threads, to find out how often they execute certain code itself rather than the methods that it calls. */
public abstract class CallProfile {
    private final Set<Long> callers;
    private final boolean threads;
    private int ran;
    private int own;

    /**
     * Creates a profile without samples.
     *
     * @param callers the goroutines and threads to be sampled, as {@link StackSearch#holders} returns them
     */
    protected CallProfile(Set<Long> callers) {
        this.callers = callers;
        boolean any = false;
        for (long id : callers) {
            any = any || id > 0;
        }
        threads = any;
    }

    /** Returns whether the code is executing, from the frames of {@link JdkFrames#of}. */
    protected abstract boolean isOwn(StackTraceElement[] frames);

    /**
     * Takes a sample of each caller that is running now. A running goroutine or thread is stopped for a moment. A thread that waits for a
     * monitor does not run.
     */
    public void sample() {
        for (Scheduler s : Scheduler.live()) {
            boolean _ = s.slots.all(gp -> {
                if (GStatus.readgstatus(gp) == GStatus.GRUNNING && callers.contains(-G.GOID.get(gp))) {
                    Stack st = GStack.of(s, gp);
                    if (st != null) {
                        count(JdkFrames.of(st.thread));
                    }
                }
                return true;
            });
        }
        if (threads) {
            for (Thread t : StackSearch.platformThreads()) {
                if (callers.contains(t.threadId()) && t.getState() == Thread.State.RUNNABLE) {
                    count(JdkFrames.of(t));
                }
            }
        }
    }

    /** Counts the frames of a thread. A thread whose innermost method is native may wait there, and such a sample does not count. */
    private void count(StackTraceElement[] frames) {
        if (frames.length > 0 && !frames[0].isNativeMethod()) {
            ran++;
            if (isOwn(frames)) {
                own++;
            }
        }
    }

    /** Returns the number of samples. */
    public int ran() {
        return ran;
    }

    /** Returns the number of samples that found the code executing. */
    public int own() {
        return own;
    }
}
