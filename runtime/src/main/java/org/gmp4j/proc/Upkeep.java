// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.function.LongConsumer;

import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.Schedt;

/**
 * What the loop leaves to sysmon, because goroutines and Ms cannot do it themselves or do not have the time. Only sysmon's thread calls
 * this; {@code sysmon.Sysmon} decides when. If an {@link OutOfMemoryError} comes out of a method, its next call does what is left.
 */
public final class Upkeep {
    private final Scheduler s;
    private final Checkdead checkdead;
    /** Made here, where the caller that builds the scheduler can still be told that there is no memory. */
    private final Deferred.Drainer drainer;

    /** For one scheduler, which may not be complete yet. */
    public Upkeep(Scheduler s) {
        this.s = s;
        checkdead = new Checkdead(s);
        drainer = new Deferred.Drainer(s);
    }

    /** The thread begins as one of the runtime's. */
    public void beginThread() {
        CleanStart.begin();
        s.realtime.begin(1); // Or it could stop no goroutine.
    }

    /** From here until {@link #close} the thread does the work of {@link Deferred}. */
    public void open() {
        Deferred.begin(drainer);
    }

    /** Does the work that is left; what comes later is done by another scheduler's sysmon, or refused if there is none. */
    public void close() {
        Deferred.end(drainer);
    }

    /** Whether the scheduler has ended, with nothing left to do. */
    public boolean isOver() {
        return s.isStopped() && !s.leftovers.any();
    }

    /** Whether {@link #drain} is wanted now. */
    public boolean pending() {
        return s.mayBeDrained() || Schedt.INJECT.getAcquire(s.sched) != 0 || Deferred.pending() || s.mayBeDead;
    }

    /** Readies goroutines for C code, does the work of {@link Deferred}, and tells a closing thread that no goroutine may be left. */
    public void drain() {
        Inject.drain(s);
        Deferred.drain();
        s.signalDrained();
    }

    /** Tries again what is in {@link Leftovers}. */
    public void leftovers() {
        s.leftovers.look();
    }

    /** Whether {@link #leftovers} left any. */
    public boolean anyLeftovers() {
        return s.leftovers.any();
    }

    /** Frees what virtual threads had that the collector has taken: {@link Collected}. */
    public void collected() {
        s.collected.look();
    }

    /** Whether {@link #collected} left any. */
    public boolean anyCollected() {
        return s.collected.any();
    }

    /** Tries again to make an M that is needed, if it is time. */
    public void shortage(long now) {
        s.shortage.look(now);
    }

    /** For the tracer, if it is on: how long the queues are. */
    public void traceQueues() {
        Tracing.queues(s);
    }

    /** Whether an M is needed and could not be made. */
    public boolean shortageLasts() {
        return s.shortage.lasts();
    }

    /** {@code checkdead}: reports when all goroutines are asleep for good. */
    public void checkdead(long now) {
        checkdead.look(now);
    }

    /** Whether {@link #checkdead} has to look again though nothing runs: a thread that holds the report back may end, without a ring. */
    public boolean deadlockIsHeldBack() {
        return checkdead.isHeldBack();
    }

    /** Nanoseconds until it looks again whether a bystander still holds a deadlock back; 0 or less when none did at the last look. */
    public long bystanderLookIn(long now) {
        return s.heldUntil - now;
    }

    /**
     * Writes the present time to goroutines that wait and were not seen waiting before; for the minutes in the header of a traceback.
     * Now and then, because to read the clock in each park would cost more than the park's stores. A goroutine that
     * parks clears the time of its last wait. A time that is written late, when the goroutine waits again, is wrong by no more than
     * this look took.
     *
     * @param part which goroutines: 0, then what this returned, until that is 0
     * @return the next part; 0 when this was the last
     */
    public int timeWaits(int part, long now) {
        return s.slots.forEachIn(part, new Since(now | 1)); // Not 0, which is for none.
    }

    /** Writes the time to one goroutine, if it waits and has none. (Not a lambda: sysmon would link that, maybe without memory.) */
    private record Since(long now) implements LongConsumer {
        @Override
        public void accept(long gp) {
            if (GStatus.readgstatus(gp) == GStatus.GWAITING && G.WAITSINCE.getOpaque(gp) == 0) {
                G.WAITSINCE.setOpaque(gp, now);
            }
        }
    }

    /** Follows what others do to the process: its signal handlers and its limits of CPUs. */
    public void follow() {
        Preempt.follow();
        s.updateProcs();
    }

    /** Calls what {@link Scheduler#setEverySecond} has set. */
    public void everySecond() {
        Runnable hook = s.everySecond();
        if (hook != null) {
            hook.run();
        }
    }

    /** Wakes an M that goes to the poller, if a goroutine waits for the network or a timer, and no M is there. */
    public void watchPoller() {
        Wakep.wakepForWork(s);
    }

    /** Polls the network, and readies the goroutines that it finds. The caller has taken {@code sched.lastpoll}. */
    public void pollNetwork() {
        long list = Inject.look(s);
        if (list != 0) {
            Inject.injectPolled(s, list);
        }
    }
}
