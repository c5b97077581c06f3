// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.util.Arrays;

import org.gmp4j.queue.Idle;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Park;
import org.gmp4j.sched.Threads;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.base.Timers;
import org.gmp4j.stack.Stack;
import org.gmp4j.stack.Timeout;
import org.gmp4j.struct.G;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * The timers of a scheduler: a {@link TimerHeap} for each P, with sleeping goroutines ({@link #sleep}) and alarms ({@link RuntimeTimer}).
 *
 * <p>The M that sleeps in the poller misses no timer. A thread that adds the entry that is due first publishes {@code timer0When}. Then it
 * wakes the M in the poller, or, if no M sleeps there, another M ({@code wakeNetPoller}). A spinner is enough, because it checks the timers
 * when it stops spinning. Before an M sleeps in the poller, it gives its P up and stops spinning. Then it reads all {@code timer0When}.
 * Then it stores in {@code lastpoll} that it sleeps, and in {@code pollUntil} the time at which its sleep ends. With the fences of
 * {@code Wakep} the M sees the new entry, or the other thread sees that the M sleeps, or that a P is idle and no M spins. When a goroutine
 * goes to sleep, the poller is woken only once the goroutine's M has found another goroutine to run. Usually that M finds none, and sleeps
 * in the poller itself.
 */
public final class TimerHeaps implements Timers {
    /** The heaps, by the id of the P. Written, as a new array, by the thread that holds WORLDSEMA. */
    private volatile TimerHeap[] heaps = new TimerHeap[0];

    /** The heap of a P. */
    private static final class OfP extends TimerHeap {
        OfP(long pp) {
            super(pp);
        }

        /**
         * Sets the P's timer bit, because the P may have become idle while the heap was empty, and wakes the poller. Called by an M that
         * may hold another P. Sysmon, which is not an M, does this by itself ({@code sched.upkeep.ShortageRetry}).
         */
        @Override
        void cameBack(long when) {
            Machine m = Machine.current();
            if (when != 0 && m != null) {
                Scheduler s = m.s;
                Idle.timerPutBack(s.sched, pp);
                Threads.wakeNetPoller(s, when);
            }
        }
    }

    /** Adds a sleeping G. Called on g0 with the G parked, because a timer may ready it only after it has parked. */
    private static final Park.Unlock START = new Park.Unlock() {
        @Override
        public boolean unlock(long gp, Object unused) {
            Machine m = Machine.current();
            long when = G.SLEEPWHEN.get(gp);
            TimerHeap h = of(m);
            h.lock();
            h.push(when, gp);
            if (TimerHeaps.unlock(h, when)) {
                Threads.wakeNetPollerLater(m, when);
            }
            return true;
        }
    };

    /** Adds a sleeping G to the heap of its bubble. Called on g0 with the G parked. */
    private static final Park.Unlock START_IN_BUBBLE = new Park.Unlock() {
        @Override
        public boolean unlock(long gp, Object bubble) {
            ((TimeBubble) bubble).add(G.SLEEPWHEN.get(gp), gp);
            return true;
        }
    };

    /** Makes the timers of a new scheduler, which has no Ps yet. */
    public TimerHeaps() {
    }

    /** Parks the calling goroutine for {@code nanos} nanoseconds, more than 0. */
    public static void sleep(GStack st, long nanos) {
        TimeBubble b = (TimeBubble) st.bubble();
        G.SLEEPWHEN.set(st.gp(), RuntimeTimer.in(b == null ? System.nanoTime() : b.now(), nanos));
        GStack _ = GStack.enter();
        try {
            reserve(st, b);
            Park.gopark(st, b == null ? START : START_IN_BUBBLE, b, WaitReason.SLEEP, 0);
        } finally {
            GStack.exit(st);
        }
    }

    /**
     * Makes room for a sleep before the goroutine parks, because on g0 it is too late to fail for lack of memory. Until the sleep is added
     * no other goroutine adds to the heap of this P, and {@link #addAside} leaves the room free.
     */
    private static void reserve(GStack st, @Nullable TimeBubble b) {
        if (b != null) {
            b.reserve();
            return;
        }
        TimerHeap h = of((Machine) st.host);
        if (h.full()) {
            h.lock();
            try {
                h.reserve(1);
            } finally {
                h.unlock();
            }
        }
    }

    /** Adds an alarm to the heap of the caller's P, or to {@link OutsideTimers} if the caller has none. Called under the timer's lock. */
    static void add(Alarm a) {
        Machine m = Machine.current();
        if (m == null || m.pp() == 0) {
            OutsideTimers.add(a);
            return;
        }
        if (push(of(m), a)) {
            Threads.wakeNetPoller(m.s, a.when);
        }
    }

    /** Adds an alarm for a goroutine that the M is parking, to the heap of the M's P if it has one. Called on g0. */
    static void addParking(Scheduler s, Alarm a) {
        Machine m = Machine.current();
        if (m == null || m.pp() == 0) {
            addAside(s, a);
            return;
        }
        if (push(of(m), a)) {
            Threads.wakeNetPollerLater(m, a.when);
        }
    }

    /**
     * Adds an alarm to the heap of the first P, which always exists, and may be idle. Called by sysmon, and by an M without a P, for a
     * goroutine that is being parked.
     */
    private static void addAside(Scheduler s, Alarm a) {
        long pp = Idle.allp(s.sched, 0);
        TimerHeap h = ((TimerHeaps) s.timers()).heap(pp);
        h.lock();
        try {
            h.pushAside(a);
        } finally {
            h.unlock();
        }
        Idle.timerPutBack(s.sched, pp); // Follows the push, as timerPutBack requires.
        Threads.wakeNetPoller(s, a.when);
    }

    @Override
    public Timeout timeout(Stack st) {
        return new ParkTimer((GStack) st);
    }

    /** Adds an alarm to a heap. Returns whether the alarm is due first, so that the poller must be woken. */
    private static boolean push(TimerHeap h, Alarm a) {
        h.lock();
        try {
            h.push(a);
        } catch (Throwable e) {
            h.unlock();
            throw e;
        }
        return unlock(h, a.when);
    }

    /** Releases the lock after an entry was added. Returns whether the entry is due first, so that the poller must be woken. */
    private static boolean unlock(TimerHeap h, long when) {
        boolean first = P.TIMER0WHEN.getAcquire(h.pp) == when;
        h.unlock();
        return first;
    }

    private static TimerHeap of(Machine m) {
        return ((TimerHeaps) m.s.timers()).heap(m.pp());
    }

    private TimerHeap heap(long pp) {
        return heaps[P.ID.get(pp)];
    }

    @Override
    public void added(long[] pps) {
        TimerHeap[] grown = Arrays.copyOf(heaps, P.ID.get(pps[pps.length - 1]) + 1);
        for (long pp : pps) {
            grown[P.ID.get(pp)] = new OfP(pp);
        }
        heaps = grown;
    }

    @Override
    public void prepareMove(long from, long to, int before) {
        heap(from).prepareMove(heap(to), before);
    }

    @Override
    public boolean check(long mine, long pp) {
        long next = P.TIMER0WHEN.getAcquire(pp);
        long now;
        int ran = 0;
        if (next != 0 && (now = System.nanoTime()) >= next) {
            ran = heap(pp).run(now);
            PStat.NTIMER.addOpaque(mine, ran);
        }
        return ran > 0;
    }

    @Override
    public long next(long pp) {
        return heap(pp).next();
    }

    @Override
    public boolean pending(long pp) {
        return heap(pp).pending();
    }

    @Override
    public void move(long from, long to) {
        if (to == 0) {
            if (P.TIMERSLEN.getOpaque(from) != 0) {
                OutsideTimers.takeOver(heap(from));
            } else { // The thread of OutsideTimers is not needed for an empty heap.
                heap(from).free();
            }
        } else {
            heap(from).moveTo(heap(to));
        }
    }
}
