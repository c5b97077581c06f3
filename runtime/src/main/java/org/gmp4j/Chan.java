// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.Iterator;
import java.util.Objects;

import org.gmp4j.chan.ChanCancellation;
import org.gmp4j.chan.Hchan;
import org.gmp4j.chan.Received;
import org.gmp4j.chan.Scase;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.SudogSlots;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * A channel: a FIFO queue between goroutines and other threads, in any mix. Thread-safe. In methods named {@code …Interruptibly}, such as
 * {@link #recvInterruptibly}, an interrupt ends the wait of any thread. In all others it ends only the waits of virtual threads of a
 * {@link Gmp}, by a {@link WaitInterruptedException}. {@link SendChan} and {@link RecvChan} describe the methods; they are the types for
 * code that only sends or only receives.
 *
 * <p>A send happens before the receive of its value. In a channel with capacity C, receive number k happens before send number k+C returns.
 * A close happens before a receive that finds the channel closed. {@link Select} waits for several channels at once. A channel that was
 * made in a bubble of {@code Synctest} throws an {@link IllegalStateException} when a caller outside of the bubble uses it. Source: Go's
 * {@code hchan}.
 *
 * @param <T> the type of the elements, which are never {@code null}
 */
public final class Chan<T> extends Hchan implements SendChan<T>, RecvChan<T> {
    private static final String NULL_ELEMENT = "null is never an element of a channel";
    private static final Object LATE = new Object();

    private final @Nullable Object[] buf;

    /**
     * The result of a receive.
     *
     * @param value the element; null when the channel was closed and drained
     * @param ok whether there was an element
     */
    public record Recv<T>(@Nullable T value, boolean ok) {
    }

    private Chan(int capacity) {
        super(checkCapacity(capacity));
        buf = new Object[capacity];
    }

    /** Makes an unbuffered channel. */
    public static <T> Chan<T> make() {
        return make(0);
    }

    /**
     * Makes a channel with a buffer for {@code capacity} elements.
     *
     * @throws IllegalArgumentException "makechan: size out of range" when {@code capacity} is negative
     */
    public static <T> Chan<T> make(int capacity) {
        return new Chan<>(capacity);
    }

    static <V> V element(V v) {
        return Objects.requireNonNull(v, NULL_ELEMENT);
    }

    @Override
    public void send(T v) {
        boolean _ = send(element(v), 0, true);
    }

    @Override
    public boolean trySend(T v) {
        return send(element(v), 0, false);
    }

    @Override
    public boolean sendWithin(T v, Duration d) {
        return send(element(v), 0, Limits.within(d));
    }

    @Override
    public void sendInterruptibly(T v) throws InterruptedException {
        boolean _ = send(element(v), 0, Limits.INTERRUPTIBLY);
    }

    @Override
    public void sendUnless(Cancelable ctx, T v) {
        boolean _ = send(element(v), 0, Limits.until(ctx));
    }

    /** Sends as {@link #sendWithin} does, but an interrupt ends the wait on any thread. */
    boolean sendWithinInterruptibly(T v, Duration d) {
        return send(element(v), 0, Limits.within(d).interruptibly());
    }

    /** Receives as {@link #recvOkWithin} does, but an interrupt ends the wait on any thread. */
    @Nullable Recv<T> recvOkWithinInterruptibly(Duration d) {
        return recvOk(Limits.within(d).interruptibly());
    }

    @Override
    public @Nullable T recvWithin(Duration d) {
        Recv<T> r = recvOkWithin(d);
        return r == null ? null : r.value();
    }

    @Override
    public @Nullable Recv<T> recvOkWithin(Duration d) {
        return recvOk(Limits.within(d));
    }

    @Override
    public @Nullable T recvInterruptibly() throws InterruptedException {
        return receiveUntil(Limits.INTERRUPTIBLY);
    }

    @Override
    public Recv<T> recvOkInterruptibly() throws InterruptedException {
        return recvOk(Limits.INTERRUPTIBLY);
    }

    @Override
    public @Nullable T recvUnless(Cancelable ctx) {
        return receiveUntil(Limits.until(ctx));
    }

    @Override
    public Recv<T> recvOkUnless(Cancelable ctx) {
        return recvOk(Limits.until(ctx));
    }

    /**
     * Receives, and waits for an element until a limit ends the wait. Returns the element, null when the channel is closed and drained,
     * or {@link #LATE} when the time was up.
     */
    private @Nullable Object receive(Limits limits) {
        limits.check();
        GStack st = GStack.enter();
        try {
            long found = lockRecv(false);
            if (found >= 0) {
                return takeAndUnlock(found);
            }
            lock.unlock();
            if (found == CLOSED) {
                return null;
            }
            if (limits.expired()) {
                return LATE;
            }
            ChanCancellation e = ChanCancellation.ofReceive(this, limits);
            e.begin();
            try {
                found = lockRecv(true);
                if (found >= 0) {
                    return takeAndUnlock(found);
                }
                long how = e.unlockAndWait(st, found);
                return how == BLOCKS ? LATE : woken(st, how);
            } finally {
                e.finish();
            }
        } finally {
            GStack.exit(st);
        }
    }

    /** Receives without a limit of time, so that the result is never {@link #LATE}. */
    @SuppressWarnings("unchecked")
    private @Nullable T receiveUntil(Limits limits) {
        return (T) receive(limits);
    }

    /** Receives with limits. Returns null when the time was up. */
    @SuppressWarnings({"unchecked", "NullAway"})
    Recv<T> recvOk(Limits limits) {
        Object v = receive(limits);
        return v == LATE ? null : new Recv<>((T) v, v != null);
    }

    @Override
    public @Nullable T recv() {
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
        return receiveUntil(Limits.DEFAULT);
    }

    @Override
    public @Nullable T tryRecv() {
        if (lookRecv() < 0) {
            return null;
        }
        GStack st = GStack.enter();
        try {
            long found = lockRecv(false);
            if (found >= 0) {
                return takeAndUnlock(found);
            }
            lock.unlock();
            return null;
        } finally {
            GStack.exit(st);
        }
    }

    @Override
    public Recv<T> recvOk() {
        T v = recv();
        return new Recv<>(v, v != null);
    }

    @Override
    public @Nullable Recv<T> tryRecvOk() {
        long found = lookRecv();
        T v = null;
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
        return found == BLOCKS ? null : new Recv<>(v, v != null);
    }

    /** Removes and returns the element that {@link #lockRecv} found. The caller holds the lock, which this releases. */
    @SuppressWarnings({"unchecked", "NullAway"}) // An element is never null.
    private T takeAndUnlock(long sender) {
        Object v = take(sender);
        unlockTaken(sender);
        return (T) v;
    }

    /** Returns the element that a waiting sudog got. Returns null when a close woke it, or the channel was closed already. */
    @SuppressWarnings("unchecked")
    private @Nullable T woken(@Nullable GStack st, long sg) {
        if (sg == CLOSED) {
            return null;
        }
        Object v = SudogSlots.elem(sg);
        Waiting.release(st, sg);
        return (T) v;
    }

    /**
     * Removes and returns the first element, and moves the element of {@code sender}, if any, into the buffer. If no element is buffered,
     * returns the element of {@code sender}. The caller holds the lock.
     */
    private @Nullable Object take(long sender) {
        if (!buffered()) {
            return SudogSlots.elem(sender);
        }
        int i = place();
        Object v = buf[i];
        buf[i] = sender == 0 ? null : SudogSlots.elem(sender); // A sender waits only while the buffer is full, so i is the new end.
        took(sender);
        return v;
    }

    @Override
    protected IllegalStateException closedException(String what) {
        return new ChanClosedException(what);
    }

    @Override
    protected void take(long sender, Scase k) {
        k.elem = take(sender);
    }

    @Override
    protected void takeWoken(long sg, Scase k) {
        k.elem = SudogSlots.elem(sg);
    }

    @Override
    protected void setElem(long sg, @Nullable Object v, long unused) {
        SudogSlots.setElem(sg, v);
    }

    @Override
    protected void setBuf(int i, @Nullable Object v, long unused) {
        buf[i] = v;
    }

    // Hchan's public methods are declared here as well, because a reflective call of a method whose class is not exported fails.

    @Override
    public void close() {
        super.close();
    }

    @Override
    public int len() {
        return super.len();
    }

    @Override
    public int cap() {
        return super.cap();
    }

    // The methods below are for ChanQueue.

    /** Returns the first element of the buffer, or null if the buffer is empty. */
    @SuppressWarnings("unchecked")
    @Nullable T first() {
        GStack st = GStack.enter();
        lock.lock();
        Object v = size() == 0 ? null : buf[place()];
        lock.unlock();
        GStack.exit(st);
        return (T) v;
    }

    /** Returns a copy of the buffer, with the first element first. */
    @Nullable Object[] elements() {
        GStack st = GStack.enter();
        lock.lock();
        try { // The allocation may fail.
            @Nullable Object[] all = new @Nullable Object[size()];
            for (int i = 0; i < all.length; i++) {
                all[i] = buf[placeOf(i)];
            }
            return all;
        } finally {
            lock.unlock();
            GStack.exit(st);
        }
    }

    /**
     * Receives an element that need not be the first.
     *
     * @param v the object, by identity
     * @param skip the number of occurrences to skip, from the front; the last occurrence is never skipped
     * @return false when the object is not in the buffer
     */
    boolean receive(Object v, int skip) {
        GStack st = GStack.enter();
        try {
            checkReceiver();
            lock.lock();
            int at = -1;
            for (int i = 0, left = skip; i < size() && left >= 0; i++) {
                if (buf[placeOf(i)] == v) {
                    at = i;
                    left--;
                }
            }
            if (at < 0) {
                lock.unlock();
                return false;
            }
            for (int i = at; i > 0; i--) { // Moves the element to the front, where it is received like any other.
                buf[placeOf(i)] = buf[placeOf(i - 1)];
            }
            buf[place()] = v;
            Object _ = takeAndUnlock(nextSender());
            return true;
        } finally {
            GStack.exit(st);
        }
    }

    /** Returns an iterator that receives until the channel is closed and drained, as Go's range does. */
    @Override
    public Iterator<T> iterator() {
        return new Received<>() {
            @Override
            protected @Nullable T receive() {
                return recv();
            }
        };
    }
}
