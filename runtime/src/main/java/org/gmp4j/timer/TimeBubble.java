// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.sched.Bubble;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Park;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Struct;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * A bubble with its clock and its timers, which have a heap of their own. One thread, the driver, moves the clock. When all goroutines
 * wait, it readies the goroutine in {@link #await}. If no goroutine is in that method, it sets the clock to the next timer and runs the
 * timers that are due.
 */
public final class TimeBubble extends Bubble {
    private static final Instant START = Instant.ofEpochSecond(946_684_800); // 2000-01-01, UTC
    /** The nanoTime of the start: an arbitrary value above 0. */
    private static final long BEGIN = 1_000_000_000;

    private final TimerHeap heap = new TimerHeap(Mem.alloc(Struct.P, 1));
    private final Thread driver;
    private volatile long now = BEGIN;
    private volatile @Nullable Throwable failure;
    /** Whether the first goroutine has ended; then the clock stands still. Written by that goroutine while it counts as running. */
    private volatile boolean mainEnded;
    /** The goroutine in {@link #await}, or 0. That goroutine writes it before it parks. The driver clears it when all goroutines wait. */
    private final AtomicLong waiter = new AtomicLong();

    /** Makes a bubble. The calling thread is its driver. */
    public TimeBubble() {
        driver = Thread.currentThread();
    }

    /** Returns the bubble of the calling goroutine, or null for none. */
    public static @Nullable TimeBubble current() {
        GStack st = GStack.current();
        return st == null ? null : (TimeBubble) st.bubble();
    }

    /** Returns the time by the caller's clock: its bubble's, or the machine's. */
    public static Instant instant() {
        TimeBubble b = current();
        return b == null ? Instant.now() : b.instantHere();
    }

    Instant instantHere() {
        return START.plusNanos(now - BEGIN);
    }

    /** Returns the nanoTime by the bubble's clock. */
    public long now() {
        return now;
    }

    /** Returns the exception of the first goroutine that ended with one, or null for none. */
    public @Nullable Throwable failure() {
        return failure;
    }

    @Override
    protected void failed(Throwable t) {
        if (failure == null) {
            failure = t;
        }
        LockSupport.unpark(driver); // Other goroutines may still run, but they may never end, or may wait for this one for ever.
    }

    @Override
    protected void idle() {
        LockSupport.unpark(driver);
    }

    void add(Alarm a) {
        heap.lock();
        try {
            heap.push(a);
        } finally {
            heap.unlock();
        }
    }

    /**
     * Makes room for the sleeps of all goroutines, because other goroutines may add their sleeps before the caller adds its own. Called
     * before the caller parks.
     */
    void reserve() {
        heap.lock();
        try {
            heap.reserve(living() + 1);
        } finally {
            heap.unlock();
        }
    }

    void add(long when, long gp) {
        heap.lock();
        heap.push(when, gp); // There is room for it: see reserve.
        heap.unlock();
    }

    /** Waits until all other goroutines of the bubble wait. Returns false at once when another goroutine is in this method. */
    @SuppressWarnings("NullAway") // A goroutine has a stack.
    public boolean await() {
        GStack st = GStack.enter();
        boolean alone = waiter.compareAndSet(0, st.gp());
        if (alone) {
            Park.gopark(st, null, null, WaitReason.SYNCTEST_WAIT, 0);
        }
        GStack.exit(st);
        return alone;
    }

    /** Records the end of the bubble's first goroutine. Called by that goroutine. */
    public void mainEnds() {
        mainEnded = true;
    }

    /** Returns whether the bubble's first goroutine has ended. */
    public boolean mainEnded() {
        return mainEnded;
    }

    /**
     * Lets the goroutines run until none lives, or one has failed, or all wait and no timer can ready any. Called by the driver. As in Go,
     * no time passes after the first goroutine has ended, because a ticker or a loop of sleeps would go on for ever.
     */
    public void drive() {
        for (;;) {
            while (!isIdle() && failure == null) {
                LockSupport.park();
            }
            if (living() == 0 || failure != null) {
                return;
            }
            long gp = waiter.get();
            if (gp != 0) {
                waiter.set(0);
                Park.goready(gp);
                continue;
            }
            long next = mainEnded ? 0 : heap.next();
            if (next == 0) {
                return;
            }
            now = Math.max(now, next);
            int _ = heap.run(now);
        }
    }

    /** Returns whether goroutines are left that wait for ever. Called by the driver after {@link #drive}. */
    public boolean deadlocked() {
        return living() != 0;
    }

    /** Frees the memory, unless goroutines are left, which may still use it. Called by the driver at the end. */
    public void close() {
        if (living() == 0) {
            heap.free();
            Mem.recycle(Struct.P, heap.pp);
        }
    }
}
