// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.struct.Schedt;

/**
 * What the loop leaves to the thread that watches it, as goroutines and Ms cannot do it themselves or have not the time. All of it by
 * that thread alone. When to do what is the business of {@code sysmon.Sysmon}. Where an {@link OutOfMemoryError} comes out of a
 * method, what could not be done is left for its next call.
 */
public final class Upkeep {
    private final Scheduler s;
    private final Checkdead checkdead;
    /** Made while whoever builds the scheduler may be told that there is no memory. */
    private final Deferred trial = Deferred.trial();

    /** Of one scheduler, which may still be being made. */
    public Upkeep(Scheduler s) {
        this.s = s;
        checkdead = new Checkdead(s);
    }

    /** The thread begins as one of the runtime's. */
    public void beginThread() {
        CleanStart.begin();
    }

    /** From here on the thread does what others leave to it; until {@link #close}. */
    public void open() {
        Deferred.begin(trial);
    }

    /** Does what is left; what comes later another scheduler's thread does, or nobody. */
    public void close() {
        Deferred.end();
    }

    /** Whether the scheduler has ended, with nothing left to do. */
    public boolean isOver() {
        return s.isStopped() && !s.leftovers.any();
    }

    /** Whether somebody wants {@link #drain} called now. */
    public boolean pending() {
        return s.mayBeDrained() || Schedt.injectAcquire(s.sched) != 0 || Deferred.pending();
    }

    /** Readies what C code left, does what threads without stack left, and tells whoever closes that no goroutine may be left. */
    public void drain() {
        Inject.drain(s);
        Deferred.drain();
        s.signalDrained();
    }

    /** Parks and ends of stacks that the JDK could not finish. */
    public void leftovers() {
        s.leftovers.look();
    }

    /** Another try to make an M that is wanted, if it is time. */
    public void shortage(long now) {
        s.shortage.look(now);
    }

    /** For the tracer, if it is on: how long the queues are. */
    public void traceQueues() {
        Tracing.queues(s);
    }

    /** Whether an M is wanted and could not be made. */
    public boolean shortageLasts() {
        return s.shortage.lasts();
    }

    /** {@code checkdead}: reports when all goroutines are asleep for good. */
    public void checkdead() {
        checkdead.look();
    }

    /**
     * Notes of a part of the goroutines since when they wait.
     *
     * @param part where to go on: 0 for the first
     * @return the next part, 0 when this was the last
     */
    public int timeWaits(int part, long now) {
        return Traceback.timeWaits(s, part, now);
    }

    /** Follows what others do to the process: its signal handlers and its limits of CPUs. */
    public void follow() {
        Preempt.follow();
        s.updateProcs();
    }

    /** What somebody wants done once a second. */
    public void everySecond() {
        Runnable hook = s.everySecond();
        if (hook != null) {
            hook.run();
        }
    }

    /** {@code schedtrace}: a line on stderr, of a scheduler that has lived for so many nanoseconds. */
    public void trace(long nanos) {
        SchedTrace.print(s, nanos);
    }

    /** Polls the network, and readies whoever it finds. By whoever has set {@code sched.lastpoll}. */
    public void pollNetwork() {
        long list = s.netpoll.poll(s, 0);
        if (list != 0) {
            Inject.injectPolled(s, list);
        }
    }

    /** The thread found a bug. */
    public void broken(Throwable t) {
        Fatal.broken(s, t);
    }
}
