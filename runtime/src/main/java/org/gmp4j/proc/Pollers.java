package org.gmp4j.proc;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.gmp4j.stack.JdkPollers;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.Schedt;

/**
 * The JDK's socket pollers that one scheduler runs. One that a goroutine starts runs on its scheduler, as a
 * {@link GStack#system} goroutine: a socket's event then readies the goroutine on the P that saw it. They serve the whole
 * process ({@link JdkPollers}), so when the scheduler closes they go to the JDK's own: {@link GStack#handOver}.
 */
final class Pollers {
    /** What {@link #handOver} gives a poller that runs just then, at least, nanoseconds: it does for microseconds. */
    private static final long GRACE = 200_000_000;

    private final Scheduler s;
    private final Queue<GStack> all = new ConcurrentLinkedQueue<>();
    /**
     * Whether pollers are to go to the JDK's scheduler instead of being readied. Never cleared. {@link #handOver} sets it
     * and then tries each poller; one that is not parked just then reads it when it is next readied, which is a call of
     * {@link GStack#execute} later than the write, or is found by the next try.
     */
    private volatile boolean leave;

    Pollers(Scheduler s) {
        this.s = s;
    }

    /** A goroutine starts a poller. */
    void adopt(Thread vt, Runnable task) {
        if (!Preempt.possible()) { // A goroutine that does not yield would keep all sockets of the process waiting.
            JdkThreads.leaveToJdk(vt, task);
            return;
        }
        GStack st = new GStack(s, vt);
        all.add(st);
        try {
            Newproc.adopt(s, st);
        } catch (Throwable t) {
            boolean unused = all.remove(st);
            throw t;
        }
    }

    /** A poller failed: from its M, about to count it out, though it was never counted. */
    void ended(GStack st) {
        boolean unused = all.remove(st);
        long ignored = Schedt.addNspawnextern(s.sched, 1);
    }

    /** Whether they leave. */
    boolean leave() {
        return leave;
    }

    /**
     * No goroutine lives, so none waits for a socket or can start a poller; other threads of the process may wait. Gives
     * all to the JDK.
     *
     * @param nanos how long to wait for those that run just then; 0.2 s at least
     * @return false when one did not park or yield in that time
     */
    boolean handOver(long nanos) throws InterruptedException {
        long start = System.nanoTime();
        leave = true;
        for (GStack st : all) {
            while (!st.handOver() && all.contains(st)) { // It runs, or is about to: its next park, or yield, is soon.
                if (System.nanoTime() - start >= Math.max(nanos, GRACE)) {
                    return false;
                }
                Thread.sleep(1);
            }
        }
        return true;
    }
}
