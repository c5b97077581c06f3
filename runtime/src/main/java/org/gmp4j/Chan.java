package org.gmp4j;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.WaitReason;
import org.gmp4j.proc.Waiting;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.SudogSlots;

/**
 * A channel: a FIFO between goroutines, and between them and plain threads, in any mix. Thread-safe; interrupts leave it
 * alone. A send happens before the receive of its value; a receive from a channel of capacity C happens before the send
 * that is C later.
 *
 * <p>Invariants, under the lock: a receiver waits only while the buffer is empty and no sender waits; a sender waits only
 * while the buffer is full and no receiver waits; a closed channel has no waiters. A value for a waiting receiver goes to
 * it directly, never through the buffer. Source: Go's {@code hchan}.
 *
 * @param <T> the type of its elements; {@code null} is never one
 */
public final class Chan<T> implements Iterable<T> {
    private static final String NULL_ELEMENT = "null is never an element of a channel";

    private final HeapMutex lock = new HeapMutex(LockRank.HCHAN);
    private final WaitQ recvq = new WaitQ();
    private final WaitQ sendq = new WaitQ();
    private final Object[] buf;
    private int count;
    private int recvx;
    private boolean closed;

    /**
     * What a receive gave.
     *
     * @param value the element; null when the channel was closed and drained
     * @param ok whether there was an element
     */
    public record Recv<T>(T value, boolean ok) {
    }

    private Chan(int capacity) {
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
        if (capacity < 0) {
            throw new IllegalArgumentException("makechan: size out of range");
        }
        return new Chan<>(capacity);
    }

    /**
     * Sends, waiting for room or for a receiver.
     *
     * @throws NullPointerException when {@code v} is null
     * @throws IllegalStateException "send on closed channel", also when it is closed while this waits
     */
    public void send(T v) {
        Objects.requireNonNull(v, NULL_ELEMENT);
        GStack st = GStack.enter();
        try {
            long sg = trySend(v, true);
            if (sg > 0) {
                boolean sent = Sudog.success(sg) != 0;
                Waiting.release(sg);
                if (!sent) {
                    throw sendOnClosed();
                }
            }
        } finally {
            GStack.exit(st);
        }
    }

    /**
     * Sends if that needs no waiting.
     *
     * @return false when it would block
     * @throws NullPointerException when {@code v} is null
     * @throws IllegalStateException "send on closed channel"
     */
    public boolean trySend(T v) {
        Objects.requireNonNull(v, NULL_ELEMENT);
        GStack st = GStack.enter();
        try {
            return trySend(v, false) == 0;
        } finally {
            GStack.exit(st);
        }
    }

    /** 0 when sent, -1 when it would block and may not, else the sudog of a wait that has ended. */
    private long trySend(T v, boolean block) {
        lock.lock();
        if (closed) {
            lock.unlock();
            throw sendOnClosed();
        }
        long receiver = recvq.dequeue();
        if (receiver != 0) {
            SudogSlots.setElem(receiver, v);
            Sudog.setSuccess(receiver, 1);
            lock.unlock();
            Waiting.wake(receiver);
            return 0;
        }
        if (count < buf.length) {
            put(v);
            lock.unlock();
            return 0;
        }
        if (!block) {
            lock.unlock();
            return -1;
        }
        return Waiting.await(sendq, lock, v, WaitReason.CHAN_SEND);
    }

    private static IllegalStateException sendOnClosed() {
        return new IllegalStateException("send on closed channel");
    }

    private void put(Object v) {
        int i = recvx + count;
        buf[i >= buf.length ? i - buf.length : i] = v;
        count++;
    }

    private Object take() {
        Object v = buf[recvx];
        buf[recvx] = null;
        recvx = recvx + 1 == buf.length ? 0 : recvx + 1;
        count--;
        return v;
    }

    /** Receives, waiting for an element; null once closed and drained. */
    public T recv() {
        return recv(true);
    }

    /** Receives if that needs no waiting; null when it would block or is closed: {@link #tryRecvOk} tells. */
    public T tryRecv() {
        return recv(false);
    }

    /** Receives, waiting for an element, and tells whether there was one. */
    public Recv<T> recvOk() {
        T v = recv(true);
        return new Recv<>(v, v != null);
    }

    /** Receives if that needs no waiting; null when it would block. */
    public Recv<T> tryRecvOk() {
        T v = recv(false);
        if (v != null) {
            return new Recv<>(v, true);
        }
        GStack st = GStack.enter();
        lock.lock();
        Recv<T> r;
        if (!closed) {
            r = null;
        } else if (count > 0) {
            r = new Recv<>(cast(take()), true); // Sent and closed between the two looks.
        } else {
            r = new Recv<>(null, false);
        }
        lock.unlock();
        GStack.exit(st);
        return r;
    }

    @SuppressWarnings("unchecked")
    private T cast(Object v) {
        return (T) v;
    }

    private T recv(boolean block) {
        GStack st = GStack.enter();
        try {
            return recv0(block);
        } finally {
            GStack.exit(st);
        }
    }

    private T recv0(boolean block) {
        lock.lock();
        long sender;
        if (count > 0) {
            Object v = take();
            sender = sendq.dequeue();
            if (sender != 0) {
                put(SudogSlots.elem(sender)); // The buffer was full: its place is free now.
                sent(sender);
            } else {
                lock.unlock();
            }
            return cast(v);
        }
        sender = sendq.dequeue();
        if (sender != 0) {
            Object v = SudogSlots.elem(sender);
            sent(sender);
            return cast(v);
        }
        if (closed || !block) {
            lock.unlock();
            return null;
        }
        long sg = Waiting.await(recvq, lock, null, WaitReason.CHAN_RECEIVE);
        Object v = SudogSlots.elem(sg); // Null when woken by close.
        Waiting.release(sg);
        return cast(v);
    }

    /** A waiting sender's element was taken; gives the lock back. */
    private void sent(long sender) {
        Sudog.setSuccess(sender, 1);
        lock.unlock();
        Waiting.wake(sender);
    }

    /**
     * Closes the channel: receivers get what is buffered and then null, waiting senders fail.
     *
     * @throws IllegalStateException "close of closed channel"
     */
    public void close() {
        GStack st = GStack.enter();
        try {
            close0();
        } finally {
            GStack.exit(st);
        }
    }

    private void close0() {
        lock.lock();
        if (closed) {
            lock.unlock();
            throw new IllegalStateException("close of closed channel");
        }
        closed = true;
        long list = 0;
        for (long sg = recvq.dequeue(); sg != 0; sg = recvq.dequeue()) {
            Sudog.setWaitlink(sg, list);
            list = sg;
        }
        for (long sg = sendq.dequeue(); sg != 0; sg = sendq.dequeue()) {
            Sudog.setWaitlink(sg, list);
            list = sg;
        }
        lock.unlock();
        while (list != 0) {
            long sg = list;
            list = Sudog.waitlink(sg); // Before the wake: the waiter may give the sudog to another.
            Waiting.wake(sg);
        }
    }

    /** How many elements are buffered. */
    public int len() {
        GStack st = GStack.enter();
        lock.lock();
        int n = count;
        lock.unlock();
        GStack.exit(st);
        return n;
    }

    /** How many elements fit the buffer. */
    public int cap() {
        return buf.length;
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
