// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.ffi.Shims;
import org.gmp4j.ffi.gmp.shims_h;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Park;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Struct;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.WaitCancellation;

/**
 * An event that C code fires with {@code gmp_ready} and for which one goroutine waits. It lets a driver, a network card's thread or a
 * callback wake a goroutine without entering the JVM. If C code fires it several times while no goroutine waits, that counts as once.
 * Goroutines of any kind may wait, one at a time; other threads may not wait. Any thread and any signal handler may fire the event. A wait
 * that an interrupt, a context or a limit of time has ended does not reset the event. In a bubble of {@code Synctest} the bubble's clock
 * stands still during a wait, and the machine's clock measures a limit of time.
 *
 * <p>Source: the binary semaphores of Go's network poller. {@code gmp_shims.h} in {@code c-shims/include} declares the C side, and has the
 * whole contract. {@code c-shims/examples/sensor.c} is an example.
 */
public final class NativeEvent implements AutoCloseable {
    private static final LongField WORD = Struct.GMP_EVENT.longField("word");
    private static final LongField SCHED = Struct.GMP_EVENT.longField("sched");
    private static final long NOTHING = 0;
    private static final long FIRED = 1;

    /** Writes the parked goroutine to the word, unless the event has fired. It runs on g0, once the goroutine is parked. */
    private static final Park.Unlock WAIT = new Park.Unlock() {
        @Override
        public boolean unlock(long gp, Object event) {
            return WORD.compareAndSet(((NativeEvent) event).addr, NOTHING, gp);
        }
    };

    private final AtomicBoolean closed = new AtomicBoolean();
    private final long addr;

    /** Makes an event that has not fired. */
    public NativeEvent() {
        Headroom.check(); // Otherwise a stack overflow halfway could lose the struct, or leave the goroutine pinned.
        addr = Mem.alloc(Struct.GMP_EVENT, 1);
    }

    /**
     * Returns the address of {@code gmp_ready}, for C code that is not linked with the runtime's library. The function's type is
     * {@code int32_t (*)(uint64_t event)}.
     */
    public static MemorySegment function() {
        Shims.load();
        return shims_h.gmp_ready$address();
    }

    /** Returns the argument of {@code gmp_ready} for this event, which is valid until {@link #close}. */
    public MemorySegment address() {
        return MemorySegment.ofAddress(addr);
    }

    /**
     * Waits until the event has fired, and resets it. The writes of the firing thread before it fired are visible afterwards.
     *
     * <p>Only a goroutine may wait, no other thread. An interrupt ends the wait of a virtual thread that a {@code Gmp} runs. A cancel of a
     * {@code Task} ends the wait of its goroutine. An interrupt does not end the wait of a goroutine of {@code go}. In a bubble the clock
     * stands still during the wait.
     *
     * @throws IllegalStateException outside a goroutine, or when another goroutine waits
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits
     */
    public void await() {
        boolean _ = await(Limits.DEFAULT, "await");
    }

    /**
     * Like {@link #await}, this waits for the event, but an interrupt of the calling thread ends the wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while it waits; the interrupt status is cleared
     * @throws IllegalStateException as {@link #await}
     */
    public void awaitInterruptibly() throws InterruptedException {
        boolean _ = await(Limits.INTERRUPTIBLY, "awaitInterruptibly");
    }

    /**
     * Like {@link #await}, this waits for the event, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits
     */
    public void awaitUnless(Cancelable ctx) {
        boolean _ = await(Limits.until(ctx), "awaitUnless");
    }

    /**
     * Like {@link #await}, this waits for the event, but for {@code d} at most. If {@code d} is zero or less, it does not wait.
     *
     * @return false when the time was up
     */
    public boolean awaitWithin(Duration d) {
        return await(Limits.within(d), "awaitWithin");
    }

    @SuppressWarnings("NullAway") // A goroutine has a stack.
    private boolean await(Limits limits, String what) {
        if (!Go.inGoroutine()) {
            throw new IllegalStateException("NativeEvent." + what + " was called outside a goroutine");
        }
        limits.check();
        GStack st = GStack.enter();
        try {
            long word = WORD.getAcquire(addr);
            if (word != NOTHING && word != FIRED) {
                throw new IllegalStateException("another goroutine waits for this event");
            }
            if (word == NOTHING) {
                if (limits.expired()) {
                    return false;
                }
                SCHED.setRelease(addr, st.scheduler().sched);
                st.scheduler().waitsForOutside(1); // C code may fire at any time, so this is no deadlock.
                boolean ended;
                try {
                    ended = park(st, limits);
                } finally {
                    st.scheduler().waitsForOutside(-1);
                }
                if (ended) {
                    return false;
                }
            }
            if (!WORD.compareAndSet(addr, FIRED, NOTHING)) {
                throw new IllegalStateException("another goroutine waits for this event");
            }
            return true;
        } finally {
            GStack.exit(st);
        }
    }

    /** Parks until the event fires, or a limit ends the wait. Returns true when the time was up. */
    private boolean park(GStack st, Limits limits) {
        if (limits == Limits.DEFAULT && !WaitCancellation.byDefault(st)) {
            Park.gopark(st, WAIT, this, WaitReason.NATIVE_EVENT, 0);
            return false;
        }
        OfEvent e = new OfEvent(limits);
        try {
            e.beginOutside();
            return e.park(st);
        } finally { // Runs also if memory has run out.
            e.finish();
        }
    }

    /**
     * Ends a wait by an interrupt, a context or a limit of time. It competes with the C code that fires: each takes the goroutine from the
     * word by one atomic operation. This object can take it only once it is parked, because the goroutine's M holds the lock until then.
     */
    private final class OfEvent extends WaitCancellation implements Park.Unlock {
        OfEvent(Limits limits) {
            super(limits, new HeapMutex(LockRank.SEMA));
        }

        private boolean park(GStack st) {
            lock();
            if (!pending()) {
                waits(st.gp());
                Park.gopark(st, this, null, WaitReason.NATIVE_EVENT, 1);
                if (!woken()) {
                    return false;
                }
            } else {
                unlock();
            }
            return timeUp();
        }

        /** Writes the parked goroutine to the word, and releases the lock. It runs on g0. */
        @Override
        public boolean unlock(long gp, Object unused) {
            boolean parked = WORD.compareAndSet(addr, NOTHING, gp);
            unlock();
            return parked;
        }

        @Override
        protected boolean remove(long gp) {
            return WORD.compareAndSet(addr, gp, NOTHING);
        }

        @Override
        protected void ready(long gp) {
            Park.goready(gp);
        }
    }

    /** Frees the event's memory. After that no goroutine may wait for it, and no code may fire it. A second call does nothing. */
    @Override
    public void close() {
        if (!Headroom.enough()) {
            throw Headroom.overflow(); // Nothing has changed, and close may be called again.
        }
        if (!closed.getAndSet(true)) {
            Mem.recycle(Struct.GMP_EVENT, addr);
        }
    }
}
