package org.gmp4j.timer;

import org.gmp4j.ffi.Memory;
import org.gmp4j.lock.LockRank;
import org.gmp4j.lock.RuntimeMutex;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Machine;
import org.gmp4j.proc.Park;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.proc.Timers;
import org.gmp4j.proc.WaitReason;
import org.gmp4j.struct.G;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;

/**
 * Sleeping goroutines: a 4-ary heap a P, off-heap, of (when, G) pairs ordered by when, under the P's timersLock.
 *
 * <p>{@code timer0When} repeats the first when for those who look without the lock: written under it with release, read
 * with acquire; 0 for an empty heap. A reader that misses an earlier timer just added is covered by the adder, who tells
 * the poller ({@code wakeNetPoller}) after the write.
 */
public final class SleepTimers implements Timers {
    private static final int ENTRY = 2 * Long.BYTES;
    private static final int ARY = 4;
    private static final int FIRST_CAPACITY = 64;

    /** Called on g0, the G parked: only now may a timer wake it. */
    private static final Park.Unlock START = (gp, unused) -> {
        Machine m = Machine.current();
        add(m.s, m.attachedP(), G.sleepWhen(gp), gp);
        return true;
    };

    /** The timers of a scheduler. */
    public SleepTimers() {
    }

    /** Parks the calling goroutine for {@code nanos} nanoseconds, more than 0. */
    public static void sleep(GStack st, long nanos) {
        long when = System.nanoTime() + nanos;
        G.setSleepWhen(st.gp(), when < 0 ? Long.MAX_VALUE : when);
        GStack unused = GStack.enter();
        Park.gopark(st, START, null, WaitReason.SLEEP, 0);
        GStack.exit(st);
    }

    private static void add(Scheduler s, long pp, long when, long gp) {
        long lock = P.timersLockAddress(pp);
        RuntimeMutex.lock(lock, LockRank.TIMERS);
        push(pp, when, gp);
        boolean first = P.timer0WhenAcquire(pp) == when;
        RuntimeMutex.unlock(lock, LockRank.TIMERS);
        if (first) {
            s.wakeNetPoller(when);
        }
    }

    /** Under the lock. */
    private static void push(long pp, long when, long gp) {
        int n = P.timersLenOpaque(pp);
        if (n == P.timersCap(pp)) {
            grow(pp, n);
        }
        P.setTimersLenOpaque(pp, n + 1);
        siftUp(P.timers(pp), n, when, gp);
        P.setTimer0WhenRelease(pp, when(P.timers(pp), 0));
    }

    private static void grow(long pp, int n) {
        int cap = Math.max(FIRST_CAPACITY, n * 2);
        long heap = Memory.map((long) cap * ENTRY);
        long old = P.timers(pp);
        if (n > 0) {
            Memory.ALL.asSlice(heap, (long) n * ENTRY).copyFrom(Memory.ALL.asSlice(old, (long) n * ENTRY));
            Memory.unmap(old, (long) P.timersCap(pp) * ENTRY);
        }
        P.setTimers(pp, heap);
        P.setTimersCap(pp, cap);
    }

    private static long when(long heap, int i) {
        return (long) Mem.LONG.get(heap + (long) i * ENTRY);
    }

    private static long what(long heap, int i) {
        return (long) Mem.LONG.get(heap + (long) i * ENTRY + Long.BYTES);
    }

    private static void put(long heap, int i, long when, long gp) {
        Mem.LONG.set(heap + (long) i * ENTRY, when);
        Mem.LONG.set(heap + (long) i * ENTRY + Long.BYTES, gp);
    }

    private static void siftUp(long heap, int i, long when, long gp) {
        while (i > 0) {
            int parent = (i - 1) / ARY;
            if (when(heap, parent) <= when) {
                break;
            }
            put(heap, i, when(heap, parent), what(heap, parent));
            i = parent;
        }
        put(heap, i, when, gp);
    }

    private static void siftDown(long heap, int n, long when, long gp) {
        int i = 0;
        for (;;) {
            int child = i * ARY + 1;
            if (child >= n) {
                break;
            }
            int least = child;
            for (int c = child + 1; c < Math.min(child + ARY, n); c++) {
                if (when(heap, c) < when(heap, least)) {
                    least = c;
                }
            }
            if (when(heap, least) >= when) {
                break;
            }
            put(heap, i, when(heap, least), what(heap, least));
            i = least;
        }
        put(heap, i, when, gp);
    }

    /** Takes the first G; under the lock. */
    private static long pop(long pp) {
        long heap = P.timers(pp);
        int n = P.timersLenOpaque(pp) - 1;
        long gp = what(heap, 0);
        P.setTimersLenOpaque(pp, n);
        if (n > 0) {
            siftDown(heap, n, when(heap, n), what(heap, n));
        }
        P.setTimer0WhenRelease(pp, n == 0 ? 0 : when(heap, 0));
        return gp;
    }

    @Override
    public long check(Machine m, long pp) {
        m.setRanTimer(false);
        long next = P.timer0WhenAcquire(pp);
        if (next == 0) {
            return 0;
        }
        long now = System.nanoTime();
        if (now < next) {
            return next;
        }
        long lock = P.timersLockAddress(pp);
        RuntimeMutex.lock(lock, LockRank.TIMERS);
        next = P.timer0WhenAcquire(pp);
        while (next != 0 && next <= now) {
            Park.goready(pop(pp)); // Takes sched.lock at most, which ranks higher.
            m.setRanTimer(true);
            next = P.timer0WhenAcquire(pp);
        }
        RuntimeMutex.unlock(lock, LockRank.TIMERS);
        return next;
    }

    @Override
    public void move(long from, long to) {
        int n = P.timersLenOpaque(from);
        long heap = P.timers(from);
        for (int i = 0; i < n; i++) {
            push(to, when(heap, i), what(heap, i)); // The world is stopped: nobody else looks.
        }
        if (heap != 0) {
            Memory.unmap(heap, (long) P.timersCap(from) * ENTRY);
        }
        P.setTimersLenOpaque(from, 0);
        P.setTimersCap(from, 0);
        P.setTimers(from, 0);
        P.setTimer0WhenRelease(from, 0);
    }
}
