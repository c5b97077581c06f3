// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.PrimitiveIterator;
import java.util.function.LongConsumer;

import org.gmp4j.proc.GStack;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Sudog;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Chan} of longs. Order, waits, messages and callers are the same, and so is what interrupts and bubbles do. No operation
 * allocates, except a wait with a time limit, and one that returns a {@link Recv} where the compiler cannot remove it. Thread-safe.
 *
 * <p>The buffer is off-heap, 8 bytes a place, from the C library's allocator and not counted as a direct buffer. To make and
 * free one takes about 0.1 µs more than an unbuffered channel. It is given back as soon as the channel is closed and drained. If a
 * channel is only dropped, that is when the collector has found out, so close channels that you make in numbers. When all
 * buffers of the process have more than a quarter of the greatest heap, and twice what they had after the last time, making
 * one calls {@link System#gc}.
 */
@NullMarked
public final class LongChan extends Hchan implements Iterable<Long> {
    /** The buffer's address, 0 for an unbuffered channel. After each access a fence keeps the channel, and with it the memory. */
    private final long buf;
    /** Null for an unbuffered channel. Freed when the channel is closed and nothing is buffered: no access comes after that. */
    private final LongBlock block;

    /**
     * What a receive gave.
     *
     * @param value the element; 0 when the channel was closed and drained
     * @param ok whether there was an element
     */
    public record Recv(long value, boolean ok) {
    }

    /** Takes what a select received. */
    @FunctionalInterface
    public interface Receiver {
        /**
         * Takes it.
         *
         * @param value the element; 0 when the channel was closed and drained
         * @param ok whether there was an element
         */
        void accept(long value, boolean ok);
    }

    @SuppressWarnings("NullAway") // Nobody asks for a buffer where there is no room.
    private LongChan(int capacity) {
        super(checkCapacity(capacity));
        block = capacity == 0 ? null : LongBlock.of(this, capacity);
        buf = capacity == 0 ? 0 : block.address();
    }

    /** An unbuffered channel. */
    public static LongChan make() {
        return make(0);
    }

    /**
     * A channel with room for {@code capacity} elements.
     *
     * @throws IllegalArgumentException "makechan: size out of range" when negative
     * @throws OutOfMemoryError when there is no memory for the buffer; or none for the thread that frees buffers of channels
     *     that were collected, which the first one starts
     */
    public static LongChan make(int capacity) {
        return new LongChan(capacity);
    }

    /**
     * Sends, waiting for room or for a receiver.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws ChanClosedException "send on closed channel", also when it is closed while this waits
     */
    public void send(long v) {
        boolean _ = send(null, v, true);
    }

    /**
     * Sends if that needs no waiting.
     *
     * @return false when it would block
     * @throws ChanClosedException "send on closed channel"
     */
    public boolean trySend(long v) {
        return send(null, v, false);
    }

    /**
     * Sends, waiting for room or for a receiver for at most {@code d}; zero or less is {@link #trySend}.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @return false when the time was up: {@code v} was not and will not be received
     * @throws ChanClosedException "send on closed channel", also when it is closed while this waits
     */
    public boolean sendWithin(long v, Duration d) {
        return send(null, v, Limits.within(d));
    }

    /**
     * Receives, waiting for at most {@code d}; 0 when the time was up or there is no more: {@link #recvOkWithin}
     * tells.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     */
    public long recvWithin(Duration d) {
        Recv r = recvOkWithin(d);
        return r == null ? 0 : r.value;
    }

    /**
     * Receives, waiting for at most {@code d}; null when the time was up.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     */
    public @Nullable Recv recvOkWithin(Duration d) {
        return recv(Limits.within(d));
    }

    /**
     * Receives, waiting for an element; 0 once closed and drained: {@link #recvOk} tells.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     */
    public long recv() {
        GStack st = GStack.enter();
        try {
            long found = lockRecv(true);
            if (found >= 0) {
                return takeAndUnlock(found);
            }
            long how = unlockAndWait(st, found);
            if (how != ENDS) {
                return woken(st, how);
            }
        } finally {
            GStack.exit(st);
        }
        return recv(Limits.DEFAULT).value;
    }

    /**
     * As {@link #recv}, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while this waits; nothing was received, and the interrupt
     *     status is cleared
     */
    public long recvInterruptibly() throws InterruptedException {
        return recv(Limits.INTERRUPTIBLY).value;
    }

    /**
     * As {@link #recv}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits; nothing was received
     */
    public long recvUnless(Cancelable ctx) {
        return recv(Limits.until(ctx)).value;
    }

    /** As {@link #recvUnless}, and tells whether there was an element. */
    public Recv recvOkUnless(Cancelable ctx) {
        return recv(Limits.until(ctx));
    }

    /** As {@link #recvInterruptibly}, and tells whether there was an element. */
    public Recv recvOkInterruptibly() throws InterruptedException {
        return recv(Limits.INTERRUPTIBLY);
    }

    /**
     * As {@link #send}, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while this waits; nothing was sent, and the interrupt status
     *     is cleared
     * @throws ChanClosedException "send on closed channel"
     */
    public void sendInterruptibly(long v) throws InterruptedException {
        boolean _ = send(null, v, Limits.INTERRUPTIBLY);
    }

    /**
     * As {@link #send}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits; nothing was sent
     * @throws ChanClosedException "send on closed channel"
     */
    public void sendUnless(Cancelable ctx, long v) {
        boolean _ = send(null, v, Limits.until(ctx));
    }

    /**
     * Calls {@code each} with every element until the channel is closed and drained, as Go's range does. Boxes
     * nothing.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     */
    public void forEachLong(LongConsumer each) {
        Objects.requireNonNull(each, "each");
        for (Recv r = recvOk(); r.ok; r = recvOk()) {
            each.accept(r.value);
        }
    }

    /** With limits; null when the time was up, which only those ask who set one. */
    @SuppressWarnings("NullAway")
    private Recv recv(Limits limits) {
        limits.check();
        boolean ok = false;
        long v = 0;
        GStack st = GStack.enter();
        try {
            long how = lockRecv(false);
            if (how >= 0) {
                ok = true;
                v = takeAndUnlock(how);
            } else {
                lock.unlock();
            }
            if (how == BLOCKS) {
                if (limits.expired()) {
                    return null;
                }
                ChanEnding e = new ChanEnding(this, recvq, limits);
                e.begin();
                try {
                    how = lockRecv(true);
                    if (how >= 0) {
                        ok = true;
                        v = takeAndUnlock(how);
                    } else {
                        how = e.unlockAndWait(st, how);
                        if (how == BLOCKS) {
                            return null;
                        }
                        ok = ok(how);
                        v = woken(st, how);
                    }
                } finally {
                    e.finish();
                }
            }
        } finally {
            GStack.exit(st);
        }
        return new Recv(v, ok);
    }

    /** Receives if that needs no waiting; 0 when it would block or is closed: {@link #tryRecvOk} tells. */
    public long tryRecv() {
        if (lookRecv() < 0) {
            return 0;
        }
        GStack st = GStack.enter();
        try {
            long found = lockRecv(false);
            if (found >= 0) {
                return takeAndUnlock(found);
            }
            lock.unlock();
            return 0;
        } finally {
            GStack.exit(st);
        }
    }

    /**
     * Receives, waiting for an element, and tells whether there was one.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     */
    public Recv recvOk() {
        boolean ok = true;
        long v = 0;
        long how;
        GStack st = GStack.enter();
        try {
            how = lockRecv(true);
            if (how >= 0) {
                v = takeAndUnlock(how);
            } else {
                how = unlockAndWait(st, how);
                if (how != ENDS) {
                    ok = ok(how);
                    v = woken(st, how);
                }
            }
        } finally {
            GStack.exit(st);
        }
        return how == ENDS ? recv(Limits.DEFAULT) : new Recv(v, ok);
    }

    /** Receives if that needs no waiting; null when it would block. */
    public @Nullable Recv tryRecvOk() {
        long found = lookRecv();
        long v = 0;
        if (found >= 0) {
            GStack st = GStack.enter();
            try {
                found = lockRecv(false);
                if (found >= 0) {
                    v = takeAndUnlock(found);
                } else {
                    lock.unlock();
                }
            } finally {
                GStack.exit(st);
            }
        }
        return found == BLOCKS ? null : new Recv(v, found >= 0);
    }

    /** Under the lock, which it gives back: the element that {@link #lockRecv} found. */
    private long takeAndUnlock(long sender) {
        long v = take(sender);
        unlockTaken(sender);
        return v;
    }

    /** What a sudog got that has waited; 0 for none, or when a close woke it. */
    private long woken(@Nullable GStack st, long sg) {
        if (sg == CLOSED) {
            return 0;
        }
        long v = Sudog.LONG_ELEM.get(sg);
        Waiting.release(st, sg);
        return v;
    }

    /** The address of a place in the buffer. */
    private long place(int i) {
        return buf + (long) i * Long.BYTES;
    }

    /** Under the lock. */
    private long take(long sender) {
        if (!buffered()) {
            return Sudog.LONG_ELEM.get(sender);
        }
        int i = place();
        long v = Mem.LONG.get(place(i));
        if (sender != 0) {
            Mem.LONG.set(place(i), Sudog.LONG_ELEM.get(sender)); // It was full: this place is free now.
        }
        Reference.reachabilityFence(this);
        took(sender);
        if (isClosed() && !buffered()) {
            block.free();
        }
        return v;
    }

    @Override
    public void close() {
        GStack.checkAll(); // Once closed its buffer must be looked after.
        super.close();
        if (block != null) {
            GStack st = GStack.enterChecked();
            lock.lock();
            boolean drained = !buffered();
            lock.unlock();
            GStack.exit(st);
            if (drained) {
                block.free();
            }
        }
    }

    @Override
    void take(long sender, Scase k) {
        k.longElem = take(sender);
    }

    @Override
    void takeWoken(long sg, Scase k) {
        k.longElem = Sudog.LONG_ELEM.get(sg);
    }

    @Override
    void setElem(long sg, @Nullable Object unused, long v) {
        Sudog.LONG_ELEM.set(sg, v);
    }

    @Override
    void setBuf(int i, @Nullable Object unused, long v) {
        Mem.LONG.set(place(i), v);
        Reference.reachabilityFence(this);
    }

    /** Receives until the channel is closed and drained, as Go's range does; {@code nextLong} boxes nothing. */
    @Override
    public PrimitiveIterator.OfLong iterator() {
        return new PrimitiveIterator.OfLong() {
            private long next;
            private boolean there;

            @Override
            public boolean hasNext() {
                if (!there) {
                    Recv r = recvOk();
                    next = r.value;
                    there = r.ok;
                }
                return there;
            }

            @Override
            public long nextLong() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                there = false;
                return next;
            }
        };
    }
}
