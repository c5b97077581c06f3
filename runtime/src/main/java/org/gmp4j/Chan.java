// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;

import org.gmp4j.proc.GStack;
import org.gmp4j.struct.SudogSlots;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.wait.Waiting;

/**
 * A channel: a FIFO between goroutines, and between them and plain threads, in any mix. Thread-safe; interrupts leave it
 * alone. A send happens before the receive of its value; a receive from a channel of capacity C happens before the send
 * that is C later; a close happens before a receive that finds the channel closed. Several channels at once: {@link Select}.
 * One made in a bubble of {@code Synctest} throws an {@link IllegalStateException} at everybody else.
 * Source: Go's {@code hchan}.
 *
 * @param <T> the type of its elements; {@code null} is never one
 */
public final class Chan<T> extends Hchan implements Iterable<T> {
    private static final String NULL_ELEMENT = "null is never an element of a channel";

    private final Object[] buf;

    static {
        ChanTimer.offer();
    }

    /**
     * What a receive gave.
     *
     * @param value the element; null when the channel was closed and drained
     * @param ok whether there was an element
     */
    public record Recv<T>(T value, boolean ok) {
    }

    private Chan(int capacity) {
        super(checkCapacity(capacity));
        buf = new Object[capacity];
    }

    /** An unbuffered channel. */
    public static <T> Chan<T> make() {
        return make(0);
    }

    /**
     * A channel with room for {@code capacity} elements.
     *
     * @throws IllegalArgumentException "makechan: size out of range" when negative
     */
    public static <T> Chan<T> make(int capacity) {
        return new Chan<>(capacity);
    }

    /** Under the lock: empties the buffer of a timer's channel; whether there was anything. */
    boolean drain() {
        boolean any = buffered();
        if (any) {
            buf[place()] = null;
            took(0);
        }
        return any;
    }

    static <V> V element(V v) {
        return Objects.requireNonNull(v, NULL_ELEMENT);
    }

    /**
     * Sends, waiting for room or for a receiver.
     *
     * @throws NullPointerException when {@code v} is null
     * @throws IllegalStateException "send on closed channel", also when it is closed while this waits
     */
    public void send(T v) {
        boolean unused = send(element(v), 0, true);
    }

    /**
     * Sends if that needs no waiting.
     *
     * @return false when it would block
     * @throws NullPointerException when {@code v} is null
     * @throws IllegalStateException "send on closed channel"
     */
    public boolean trySend(T v) {
        return send(element(v), 0, false);
    }

    /**
     * Sends, waiting for room or for a receiver for at most {@code d}; zero or less is {@link #trySend}.
     *
     * @return false when the time was up: {@code v} was not and will not be received
     * @throws NullPointerException when {@code v} is null
     * @throws IllegalStateException "send on closed channel", also when it is closed while this waits
     */
    public boolean sendWithin(T v, Duration d) {
        return sendTimed(element(v), 0, RuntimeTimer.nanos(d));
    }

    /** Receives, waiting for at most {@code d}; null when the time was up or there is no more: {@link #recvOkWithin} tells. */
    public T recvWithin(Duration d) {
        Recv<T> r = recvOkWithin(d);
        return r == null ? null : r.value();
    }

    /** Receives, waiting for at most {@code d}; null when the time was up. */
    public Recv<T> recvOkWithin(Duration d) {
        long nanos = RuntimeTimer.nanos(d);
        GStack st = GStack.enter();
        try {
            long how = startRecvTimed(st, nanos);
            T v = finish(st, how);
            return how == BLOCKS ? null : new Recv<>(v, v != null);
        } finally {
            GStack.exit(st);
        }
    }

    /** Receives, waiting for an element; null once closed and drained. */
    public T recv() {
        GStack st = GStack.enter();
        try {
            return finish(st, startRecv(st, true));
        } finally {
            GStack.exit(st);
        }
    }

    /** Receives if that needs no waiting; null when it would block or is closed: {@link #tryRecvOk} tells. */
    public T tryRecv() {
        if (lookRecv() < 0) {
            return null;
        }
        GStack st = GStack.enter();
        try {
            return finish(st, startRecv(st, false));
        } finally {
            GStack.exit(st);
        }
    }

    /** Receives, waiting for an element, and tells whether there was one. */
    public Recv<T> recvOk() {
        T v = recv();
        return new Recv<>(v, v != null);
    }

    /** Receives if that needs no waiting; null when it would block. */
    public Recv<T> tryRecvOk() {
        long how = lookRecv();
        T v = null;
        if (how >= 0) {
            GStack st = GStack.enter();
            try {
                how = startRecv(st, false);
                v = finish(st, how);
            } finally {
                GStack.exit(st);
            }
        }
        return how == BLOCKS ? null : new Recv<>(v, v != null);
    }

    /** Goes on with a receive that began with {@code how}. */
    @SuppressWarnings("unchecked")
    private T finish(GStack st, long how) {
        Object v = null;
        if (how >= 0) {
            v = take(how);
            taken(how);
        } else if (how < BLOCKS) {
            v = SudogSlots.elem(~how); // Null when woken by close.
            Waiting.release(st, ~how);
        }
        return (T) v;
    }

    /** Under the lock. */
    private Object take(long sender) {
        if (!buffered()) {
            return SudogSlots.elem(sender);
        }
        int i = place();
        Object v = buf[i];
        buf[i] = sender == 0 ? null : SudogSlots.elem(sender); // The buffer was full: its place is free now.
        took(sender);
        return v;
    }

    @Override
    void take(long sender, Scase k) {
        k.elem = take(sender);
    }

    @Override
    void takeWoken(long sg, Scase k) {
        k.elem = SudogSlots.elem(sg);
    }

    @Override
    void setElem(long sg, Object v, long unused) {
        SudogSlots.setElem(sg, v);
    }

    @Override
    void setBuf(int i, Object v, long unused) {
        buf[i] = v;
    }

    /** Receives until the channel is closed and drained, as Go's range does. */
    @Override
    public Iterator<T> iterator() {
        return new Iterator<>() {
            private T next;

            @Override
            public boolean hasNext() {
                if (next == null) {
                    next = recv();
                }
                return next != null;
            }

            @Override
            public T next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                T v = next;
                next = null;
                return v;
            }
        };
    }
}
