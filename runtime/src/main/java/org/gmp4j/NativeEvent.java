// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.ffi.Shims;
import org.gmp4j.ffi.gmp.gmp_event;
import org.gmp4j.ffi.gmp.shims_h;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Park;
import org.gmp4j.proc.WaitReason;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.Mem;

/**
 * An event that C code fires with {@code gmp_ready} and one goroutine waits for: how a driver, a network card's thread or a
 * callback wakes a goroutine without entering the JVM. Fires that nobody waited for count as one. One goroutine waits at a
 * time; firing is safe from any thread and from signal handlers.
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
    private static final Park.Unlock WAIT = (gp, event) ->
            WORD.compareAndSet(((NativeEvent) event).addr, NOTHING, gp);

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
     * @throws IllegalStateException outside a goroutine, or when another goroutine waits
     */
    public void await() {
        GStack st = GStack.enter();
        if (st == null) {
            throw new IllegalStateException("NativeEvent.await was called outside a goroutine");
        }
        try {
            long word = WORD.getAcquire(addr);
            if (word != NOTHING && word != FIRED) {
                throw new IllegalStateException("another goroutine waits for this event");
            }
            if (word == NOTHING) {
                SCHED.setRelease(addr, st.scheduler().sched);
                st.scheduler().waitsForOutside(1); // C code may fire any time: no deadlock.
                Park.gopark(st, WAIT, this, WaitReason.NATIVE_EVENT, 0);
                st.scheduler().waitsForOutside(-1);
            }
            if (!WORD.compareAndSet(addr, FIRED, NOTHING)) {
                throw new IllegalStateException("another goroutine waits for this event");
            }
        } finally {
            GStack.exit(st);
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
