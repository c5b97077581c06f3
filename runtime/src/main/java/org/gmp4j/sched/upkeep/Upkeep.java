// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.upkeep;

import java.util.function.LongConsumer;

import org.gmp4j.sched.Inject;
import org.gmp4j.sched.Shortage;
import org.gmp4j.sched.Tracing;
import org.gmp4j.sched.Wakep;
import org.gmp4j.sched.base.CleanStart;
import org.gmp4j.sched.base.Collected;
import org.gmp4j.sched.base.Deferred;
import org.gmp4j.sched.base.PreemptSignal;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.base.UnfinishedSwitches;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.Schedt;

/**
 * The work that the scheduling loop leaves to sysmon, because goroutines and Ms cannot do it or have no time for it. Only sysmon's thread
 * calls these methods; {@code sysmon.Sysmon} decides when. If a method throws an {@link OutOfMemoryError}, its next call does the rest.
 */
public final class Upkeep {
    private final Scheduler s;
    private final DeadlockSearch deadlocks;
    private final ShortageRetry shortage;
    /** Made with the scheduler, so that an OutOfMemoryError reaches the caller that makes the scheduler. */
    private final Deferred.Drainer drainer;
    private final Since since = new Since();

    /** Makes the upkeep of one scheduler, which may not be complete yet. */
    public Upkeep(Scheduler s) {
        this.s = s;
        deadlocks = new DeadlockSearch(s);
        shortage = new ShortageRetry(s);
        drainer = new Deferred.Drainer(s);
    }

    /** Prepares the calling thread, sysmon's: sets its CPUs, scheduling policy and signal mask ({@link CleanStart#begin}). */
    public void beginThread() {
        CleanStart.begin();
        s.realtime.begin(1); // One above the Ms. At their priority sysmon might get no CPU while they run, and could preempt no goroutine.
    }

    /** Makes sysmon's thread do the work of {@link Deferred} until {@link #close}. */
    public void open() {
        Deferred.begin(drainer);
    }

    /**
     * Does the work that {@link Deferred} still has. Later work is done by another scheduler's sysmon, or is refused if no other scheduler
     * lives.
     */
    public void close() {
        Deferred.end(drainer);
    }

    /** Returns whether the scheduler has ended and no work is left. */
    public boolean isOver() {
        return s.isStopped() && !s.leftovers.any();
    }

    /** Returns whether {@link #drain} or {@link #checkdead} has work now. */
    public boolean pending() {
        return s.mayBeDrained() || Schedt.INJECT.getAcquire(s.sched) != 0 || Deferred.pending() || s.mayBeDead;
    }

    /**
     * Readies the goroutines that C code has put on sched.inject, and does the work of {@link Deferred}. If the last goroutine may have
     * ended, wakes the threads that wait for its end.
     */
    public void drain() {
        Inject.drain(s);
        Deferred.drain();
        s.signalDrained();
    }

    /** Tries again to complete the parks, and the ends of threads, that {@link UnfinishedSwitches} lists. */
    public void leftovers() {
        s.leftovers.look();
    }

    /** Returns whether the list of {@link UnfinishedSwitches} is not empty. */
    public boolean anyLeftovers() {
        return s.leftovers.any();
    }

    /** Frees the slots of virtual threads that the collector has taken: {@link Collected}. */
    public void collected() {
        s.collected.look();
    }

    /** Returns whether slots were left to be freed after the last call of {@link #collected}. */
    public boolean anyCollected() {
        return s.collected.any();
    }

    /** Tries again to make an M that is needed, if it is time. */
    public void shortage(long now) {
        shortage.look(now);
    }

    /** Traces the lengths of the queues, if the tracer is on. */
    public void traceQueues() {
        Tracing.queues(s);
    }

    /** Returns whether an M is needed and could not be made. */
    public boolean shortageLasts() {
        return Shortage.lasts(s);
    }

    /** {@code checkdead}: reports when all goroutines are asleep for good. */
    public void checkdead(long now) {
        deadlocks.look(now);
    }

    /**
     * Returns whether {@link #checkdead} must be called again although nothing runs. That is so while a report is held back, because code
     * outside of all schedulers could ready a goroutine. The end of such code does not wake sysmon.
     */
    public boolean deadlockIsHeldBack() {
        return deadlocks.isHeldBack();
    }

    /**
     * Returns the time in ns until the next search for code outside of all schedulers ({@code stack.Bystanders}); 0 or less when it is due,
     * or no report is held back.
     */
    public long bystanderLookIn(long now) {
        return s.heldUntil - now;
    }

    /**
     * Writes the present time to goroutines that wait and have no such time yet, for the minutes in the header of a traceback. Sysmon does
     * this now and then, because a read of the clock in each park would cost more than the park's stores. A goroutine that parks clears the
     * time of its last wait. If the goroutine wakes and parks again after this call has found it waiting, and before this call stores the
     * time, the new wait gets a time that is too early. The error is at most the duration of this call.
     *
     * @param part the part of the goroutines to treat: 0 at first, then the last result, until the result is 0
     * @return the next part; 0 when this was the last
     */
    public int timeWaits(int part, long now) {
        since.now = now | 1; // This is never 0, which stands for no time.
        return s.slots.forEachIn(part, since);
    }

    /** Writes the time to one goroutine, if it waits and has none. An object of this class is made early, while there is memory. */
    private static final class Since implements LongConsumer {
        private long now;

        @Override
        public void accept(long gp) {
            if (GStatus.readgstatus(gp) == GStatus.GWAITING && G.WAITSINCE.getOpaque(gp) == 0) {
                G.WAITSINCE.setOpaque(gp, now);
            }
        }
    }

    /** Adapts to changes of the process's signal handlers and of its limits of CPUs. */
    public void follow() {
        PreemptSignal.follow();
        ProcsUpdate.update(s);
    }

    /** Calls the hook of {@link Scheduler#setEverySecond}, if there is one. */
    public void everySecond() {
        Runnable hook = s.everySecond();
        if (hook != null) {
            hook.run();
        }
    }

    /** If a goroutine waits for the network or a timer, and no M is in the poller, wakes an M, which then goes to the poller. */
    public void watchPoller() {
        Wakep.wakepForEvents(s);
    }

    /** Polls the network, and readies the goroutines that it finds. The caller has set {@code sched.lastpoll} to the present time. */
    public void pollNetwork() {
        long list = s.netpoll.poll(s, 0);
        if (list != 0) {
            Inject.injectPolled(s, list);
        }
    }
}
