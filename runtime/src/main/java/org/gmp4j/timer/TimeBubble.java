// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.gmp.p;
import org.gmp4j.proc.Bubble;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Park;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * A bubble's clock and its timers, a heap of their own. One thread, the driver, moves the clock: when all goroutines wait it
 * readies the one in {@link #await}, or else sets the clock to the next timer and runs what is due.
 */
public final class TimeBubble extends Bubble {
    private static final Instant START = Instant.ofEpochSecond(946_684_800); // 2000-01-01, UTC
    /** The nanoTime of the start: any above 0. */
    private static final long BEGIN = 1_000_000_000;

    private final TimerHeap heap = new TimerHeap(Mem.alloc(p.layout(), 1));
    private final Thread driver;
    private volatile long now = BEGIN;
    private volatile @Nullable Throwable failure;
    /** Whether the first goroutine has ended: then the clock stands still. Written by it before it is counted out. */
    private volatile boolean mainEnded;
    /** The goroutine in {@link #await}; written by it before it parks, taken by the driver when all wait. */
    private final AtomicLong waiter = new AtomicLong();

    /** A bubble that the calling thread drives. */
    public TimeBubble() {
        driver = Thread.currentThread();
    }

    /** The bubble of the calling goroutine; null for none. */
    public static @Nullable TimeBubble current() {
        GStack st = GStack.current();
        return st == null ? null : (TimeBubble) st.bubble();
    }

    /** What time it is for the caller: the bubble's, or the machine's. */
    public static Instant instant() {
        TimeBubble b = current();
        return b == null ? Instant.now() : b.instantHere();
    }

    Instant instantHere() {
        return START.plusNanos(now - BEGIN);
    }

    /** The nanoTime of its clock. */
    public long now() {
        return now;
    }

    /** What the first goroutine to end with an exception threw; null for none. */
    public @Nullable Throwable failure() {
        return failure;
    }

    @Override
    protected void failed(Throwable t) {
        if (failure == null) {
            failure = t;
        }
        LockSupport.unpark(driver); // Others may run or wait for this one for ever: it is not to wait until all are idle.
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

    /** Before a goroutine parks: there will be room for its {@link #add}, which other goroutines may have taken by then. */
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

    /** Waits until all other goroutines of the bubble wait; false when another is in here already. */
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

    /** By the bubble's first goroutine, as it ends. */
    public void mainEnds() {
        mainEnded = true;
    }

    /** Whether the bubble's first goroutine has ended. */
    public boolean mainEnded() {
        return mainEnded;
    }

    /**
     * Of the driver: lets the goroutines run until none lives, or one has failed, or nothing can happen any more. As in Go, no time passes
     * after the first goroutine has ended: a ticker or a loop of sleeps would go on for ever.
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

    /** Of the driver, after {@link #drive}: whether goroutines are left that wait for ever. */
    public boolean deadlocked() {
        return living() != 0;
    }

    /** Of the driver, at the end: gives memory back. Where goroutines are left, which may run on, they keep it. */
    public void close() {
        if (living() == 0) {
            heap.free();
            Mem.recycle(p.layout(), heap.pp);
        }
    }
}
