// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import org.gmp4j.ffi.Shims;
import org.gmp4j.ffi.gmp.gmp_event;
import org.gmp4j.ffi.gmp.shims_h;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.Bubble;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Park;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Ending;
import org.gmp4j.wait.Limits;

/**
 * An event that C code fires with {@code gmp_ready} and one goroutine waits for. So a driver, a network card's thread or a callback
 * wakes a goroutine without entering the JVM. Fires that come while nothing waits count as one. One goroutine, of any kind, waits at a
 * time, and no other thread may. Firing is safe from any thread and from signal handlers. A wait that is ended, by an interrupt, a
 * context or a limit of time, has taken no fire. In a bubble of {@code Synctest} a wait holds its clock, and a limit
 * of time goes by the machine's.
 *
 * <p>Source: the binary semaphores of Go's network poller. The C side, with the whole contract: {@code gmp_shims.h} in
 * {@code c-shims/include}; an example: {@code c-shims/examples/sensor.c}.
 */
public final class NativeEvent implements AutoCloseable {
    private static final LongField WORD = Mem.longField(gmp_event.layout(), "word");
    private static final LongField SCHED = Mem.longField(gmp_event.layout(), "sched");
    private static final long NOTHING = 0;
    private static final long FIRED = 1;

    /** On g0, the goroutine parked: leaves it in the word, unless the event has fired. */
    private static final Park.Unlock WAIT = new Park.Unlock() { // No lambda: with no memory to link it the class would be lost.
        @Override
        public boolean unlock(long gp, Object event) {
            return WORD.compareAndSet(((NativeEvent) event).addr, NOTHING, gp);
        }
    };

    private final AtomicBoolean closed = new AtomicBoolean();
    private final long addr;

    /** An event that has not fired. */
    public NativeEvent() {
        Headroom.check(); // Or an overflow halfway would lose the struct, or leave the goroutine pinned.
        addr = Mem.alloc(gmp_event.layout(), 1);
    }

    /**
     * The address of {@code gmp_ready}, for C code that is not linked with the runtime's library:
     * {@code int32_t (*)(uint64_t event)}.
     */
    public static MemorySegment function() {
        Shims.load();
        return shims_h.gmp_ready$address();
    }

    /** What to hand to {@code gmp_ready}; valid until {@link #close}. */
    public MemorySegment address() {
        return MemorySegment.ofAddress(addr);
    }

    /**
     * Waits until the event has fired, and resets it. What the firing thread wrote before is visible afterwards.
     *
     * <p>No thread but a goroutine may wait. An interrupt ends the wait of a virtual thread that a {@code Gmp} runs,
     * and of a cancelled {@code Task}; that of others goes on. In a bubble the wait holds the clock.
     *
     * @throws IllegalStateException outside a goroutine, or when another goroutine waits
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits
     */
    public void await() {
        boolean _ = await(Limits.DEFAULT, "await");
    }

    /**
     * As {@link #await}, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while it waits; the interrupt status is cleared
     * @throws IllegalStateException as {@link #await}
     */
    public void awaitInterruptibly() throws InterruptedException {
        boolean _ = await(Limits.INTERRUPTIBLY, "awaitInterruptibly");
    }

    /**
     * As {@link #await}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits
     */
    public void awaitUnless(Cancelable ctx) {
        boolean _ = await(Limits.until(ctx), "awaitUnless");
    }

    /**
     * As {@link #await}, for {@code d} at most; zero or less only looks.
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
                st.scheduler().waitsForOutside(1); // C code may fire any time: no deadlock.
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

    /** No lambda: see HACKING, on errors that come from anywhere. */
    private record Begun(Ending e) implements Supplier<Ending> {
        @Override
        public Ending get() {
            e.begin();
            return e;
        }
    }

    /** Parks until it fires, or a limit ends that; true when the time was up. */
    private boolean park(GStack st, Limits limits) {
        if (limits == Limits.DEFAULT && !Ending.byDefault(st)) {
            Park.gopark(st, WAIT, this, WaitReason.NATIVE_EVENT, 0);
            return false;
        }
        OfEvent e = new OfEvent(limits);
        try {
            if (limits.timed() && Bubble.current() != null) {
                Object _ = Bubble.outside(new Begun(e)); // By the machine's clock, since that of the bubble stands still.
            } else {
                e.begin();
            }
            e.lock();
            if (!e.pending()) {
                e.waits(st.gp());
                Park.gopark(st, e, null, WaitReason.NATIVE_EVENT, 1);
                if (!e.woken()) {
                    return false;
                }
            } else {
                e.unlock();
            }
            return e.timeUp();
        } finally { // There may be no memory.
            e.finish();
        }
    }

    /**
     * What ends a wait. A fire and an end race for the goroutine in the word, by one atomic operation each. An end comes to that
     * only when the goroutine is parked, since its M gives the lock back then.
     */
    private final class OfEvent extends Ending implements Park.Unlock {
        private final HeapMutex lock = new HeapMutex(LockRank.SEMA);

        OfEvent(Limits limits) {
            super(limits);
        }

        /** On g0, the goroutine parked. */
        @Override
        public boolean unlock(long gp, Object unused) {
            boolean parked = WORD.compareAndSet(addr, NOTHING, gp);
            lock.unlock();
            return parked;
        }

        @Override
        protected void lock() {
            lock.lock();
        }

        @Override
        protected void unlock() {
            lock.unlock();
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

    /** Gives the event's memory back. Nothing may wait for it or fire it any more. */
    @Override
    public void close() {
        if (!Headroom.enough()) {
            throw Headroom.overflow(); // It may be closed again.
        }
        if (!closed.getAndSet(true)) {
            Mem.recycle(gmp_event.layout(), addr);
        }
    }
}
