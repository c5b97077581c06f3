// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.PrimitiveIterator;
import java.util.function.LongConsumer;

import org.gmp4j.chan.ChanCancellation;
import org.gmp4j.chan.Hchan;
import org.gmp4j.chan.LongBlock;
import org.gmp4j.chan.Scase;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Sudog;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Chan} of longs. It is like a {@code Chan} in all respects: the order of elements, waits, exceptions and their messages, the
 * threads that may call it, and the effects of interrupts and bubbles. An operation allocates only for a wait that a time limit, a context
 * or an interrupt may end, and for a {@link Recv} that the JIT compiler does not remove. Thread-safe.
 *
 * <p>The buffer is off-heap, with 8 bytes for each element. It comes from the C library's allocator and does not count as a direct buffer.
 * The buffer is freed as soon as the channel is closed and drained. The buffer of a channel that is never closed is freed only when the
 * channel is collected, so close channels that you make in large numbers. When the buffers of the process together exceed a limit, {@link
 * #make(int)} calls {@link System#gc}. The limit is the largest of 16 MiB, a quarter of the maximum heap size, and twice the lowest total
 * since the last such call.
 */
public final class LongChan extends Hchan implements Iterable<Long>, AutoCloseable {
    /**
     * The buffer's address, 0 for an unbuffered channel. A reachability fence after each access keeps the channel, and so the memory, alive
     * during the access.
     */
    private final long buf;
    /** The buffer; null for an unbuffered channel. It is freed when the channel is closed and drained: no access follows. */
    private final LongBlock block;

    /**
     * The result of a receive.
     *
     * @param value the element; 0 when the channel was closed and drained
     * @param ok whether there was an element
     */
    public record Recv(long value, boolean ok) {
    }

    /** The action of {@link Select#recvLongOk}. It gets the element, and whether there was one. */
    @FunctionalInterface
    public interface Receiver {
        /**
         * Takes the result of the receive.
         *
         * @param value the element; 0 when the channel was closed and drained
         * @param ok whether there was an element
         */
        void accept(long value, boolean ok);
    }

    @SuppressWarnings("NullAway") // The buffer is not used if the capacity is 0.
    private LongChan(int capacity) {
        super(checkCapacity(capacity));
        block = capacity == 0 ? null : LongBlock.of(this, capacity);
        buf = capacity == 0 ? 0 : block.address();
    }

    /** Makes an unbuffered channel. */
    public static LongChan make() {
        return make(0);
    }

    /**
     * Makes a channel with a buffer for {@code capacity} elements.
     *
     * @throws IllegalArgumentException "makechan: size out of range" when {@code capacity} is negative
     * @throws OutOfMemoryError when there is no memory for the buffer, or the thread that frees the buffers of collected channels cannot be
     *     started (the first buffered channel starts it)
     */
    public static LongChan make(int capacity) {
        return new LongChan(capacity);
    }

    /**
     * Sends {@code v}, and waits for room in the buffer or for a receiver.
     *
     * @throws ChanClosedException "send on closed channel", also when the channel is closed while this waits
     */
    public void send(long v) {
        boolean _ = send(null, v, true);
    }

    /**
     * Sends {@code v} if that needs no wait.
     *
     * @return false when the send would have to wait
     * @throws ChanClosedException "send on closed channel"
     */
    public boolean trySend(long v) {
        return send(null, v, false);
    }

    /**
     * Sends {@code v}, and waits for room in the buffer or for a receiver for at most {@code d}. If {@code d} is zero or less, it does not
     * wait, like {@link #trySend}.
     *
     * @return false when the time was up: {@code v} was not and will not be received
     * @throws ChanClosedException "send on closed channel", also when the channel is closed while this waits
     */
    public boolean sendWithin(long v, Duration d) {
        return send(null, v, Limits.within(d));
    }

    /**
     * Waits for an element for at most {@code d} and returns it. Returns 0 when the time was up, or the channel is closed and drained.
     * {@link #recvOkWithin} distinguishes these cases from an element 0.
     */
    public long recvWithin(Duration d) {
        Recv r = recvOkWithin(d);
        return r == null ? 0 : r.value;
    }

    /**
     * Waits for an element for at most {@code d} and returns it in a {@code Recv}, which also says whether there was one. There is none
     * when the channel is closed and drained. Returns null when the time was up.
     */
    public @Nullable Recv recvOkWithin(Duration d) {
        return recv(Limits.within(d));
    }

    /**
     * Waits for an element and returns it, or returns 0 when the channel is closed and drained. {@link #recvOk} distinguishes that from an
     * element 0.
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
     * Like {@link #recv}, this waits for an element, but an interrupt of the calling thread ends the wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while this waits; nothing was received, and the
     *     interrupt status is cleared
     */
    public long recvInterruptibly() throws InterruptedException {
        return recv(Limits.INTERRUPTIBLY).value;
    }

    /**
     * Like {@link #recv}, this waits for an element, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits; nothing was received
     */
    public long recvUnless(Cancelable ctx) {
        return recv(Limits.until(ctx)).value;
    }

    /** Like {@link #recvUnless}, this waits for an element. The result also says whether there was one. */
    public Recv recvOkUnless(Cancelable ctx) {
        return recv(Limits.until(ctx));
    }

    /** Like {@link #recvInterruptibly}, this waits for an element. The result also says whether there was one. */
    public Recv recvOkInterruptibly() throws InterruptedException {
        return recv(Limits.INTERRUPTIBLY);
    }

    /**
     * Like {@link #send}, this sends {@code v} and waits, but an interrupt of the calling thread ends the wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while this waits; nothing was sent, and the interrupt
     *     status is cleared
     * @throws ChanClosedException "send on closed channel", also when the channel is closed while this waits
     */
    public void sendInterruptibly(long v) throws InterruptedException {
        boolean _ = send(null, v, Limits.INTERRUPTIBLY);
    }

    /**
     * Like {@link #send}, this sends {@code v} and waits, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits; nothing was sent
     * @throws ChanClosedException "send on closed channel", also when the channel is closed while this waits
     */
    public void sendUnless(Cancelable ctx, long v) {
        boolean _ = send(null, v, Limits.until(ctx));
    }

    /**
     * Receives and calls {@code each} with every element, until the channel is closed and drained, as Go's range does. It boxes no element.
     */
    public void forEachLong(LongConsumer each) {
        Objects.requireNonNull(each, "each");
        for (Recv r = recvOk(); r.ok; r = recvOk()) {
            each.accept(r.value);
        }
    }

    /** Receives with limits. Returns null when the time was up. */
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
                ChanCancellation e = ChanCancellation.ofReceive(this, limits);
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

    /**
     * Receives an element if that needs no wait. Returns 0 when it would have to wait, or the channel is closed and drained.
     * {@link #tryRecvOk} distinguishes these cases from an element 0.
     */
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
     * Waits for an element and returns it in a {@code Recv}, which also says whether there was one. There is none when the channel is
     * closed and drained.
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

    /**
     * Receives if that needs no wait. Returns the element, and whether there was one, in a {@code Recv}. Returns null when it would have to
     * wait.
     */
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

    /** Removes and returns the element that {@link #lockRecv} found. The caller holds the lock, which this method releases. */
    private long takeAndUnlock(long sender) {
        long v = take(sender);
        unlockTaken(sender);
        return v;
    }

    /**
     * Returns the element that a woken receiver got, and releases its sudog {@code sg}. Returns 0 when a close ended the wait, or when
     * {@code sg} is CLOSED: there was no wait.
     */
    private long woken(@Nullable GStack st, long sg) {
        if (sg == CLOSED) {
            return 0;
        }
        long v = Sudog.LONG_ELEM.get(sg);
        Waiting.release(st, sg);
        return v;
    }

    /** Returns the address of a place in the buffer. */
    private long place(int i) {
        return buf + (long) i * Long.BYTES;
    }

    /**
     * Removes and returns the first element, and moves the element of {@code sender}, if any, into the buffer. If no element is buffered,
     * returns the element of {@code sender}. The caller holds the lock.
     */
    private long take(long sender) {
        if (!buffered()) {
            return Sudog.LONG_ELEM.get(sender);
        }
        int i = place();
        long v = Mem.LONG.get(place(i));
        if (sender != 0) {
            Mem.LONG.set(place(i), Sudog.LONG_ELEM.get(sender)); // The buffer was full, so this place is the buffer's new end.
        }
        Reference.reachabilityFence(this);
        took(sender);
        if (isClosed() && !buffered()) {
            block.free();
        }
        return v;
    }

    /**
     * Closes the channel. Receivers get the buffered elements and then none; waiting senders fail.
     *
     * @throws ChanClosedException "close of closed channel"
     */
    @Override
    public void close() {
        GStack.checkAll(); // One check for all sections: once the channel is closed, the buffer must be freed.
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

    /** Returns the number of buffered elements. */
    @Override
    public int len() { // Declared here as well, for reflective calls: see Chan.
        return super.len();
    }

    /** Returns the capacity of the buffer in elements. */
    @Override
    public int cap() {
        return super.cap();
    }

    @Override
    protected IllegalStateException closedException(String what) {
        return new ChanClosedException(what);
    }

    @Override
    protected void take(long sender, Scase k) {
        k.longElem = take(sender);
    }

    @Override
    protected void takeWoken(long sg, Scase k) {
        k.longElem = Sudog.LONG_ELEM.get(sg);
    }

    @Override
    protected void setElem(long sg, @Nullable Object unused, long v) {
        Sudog.LONG_ELEM.set(sg, v);
    }

    @Override
    protected void setBuf(int i, @Nullable Object unused, long v) {
        Mem.LONG.set(place(i), v);
        Reference.reachabilityFence(this);
    }

    /** Returns an iterator that receives until the channel is closed and drained, as Go's range does. {@code nextLong} boxes no element. */
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
