// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import java.lang.invoke.MethodHandles;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.sched.Bubble;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Park;
import org.gmp4j.struct.HeapInt;
import org.gmp4j.struct.HeapLong;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.timer.TickTimer;
import org.gmp4j.wait.DoneChans;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.WaitCancellation;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * The part that channels of all element kinds share ({@code hchan}). {@code Chan} keeps its elements in an array, and the element of a
 * waiting sudog in a side table. {@code LongChan} keeps its elements off-heap, and the element of a waiting sudog in the sudog itself.
 * Methods have two parameters for an element, an object and a long; each kind uses one of them.
 *
 * <p>Invariants, under the lock. A receiver waits only while the buffer is empty. A sender waits only while the buffer is full. Receivers
 * and senders wait at the same time only if they are cases of one select. A closed channel has no waiters. A sender passes its element to a
 * waiting receiver directly, never through the buffer.
 *
 * <p>A send or receive that must not wait first checks the channel without the lock, and fails if it would block. The failure is correct if
 * at some moment during the check the channel was open and the operation would have waited.
 *
 * <p>A receive reads first that there is no element, then that the channel is not closed. A closed channel cannot be opened again, so the
 * channel was open at the first read.
 *
 * <p>A send to a buffered channel reads first that the channel is not closed, then that the buffer is full. A close makes no room in the
 * buffer. So if the channel was closed between the two reads, the buffer was full just before the close. If it was not closed, the buffer
 * was full at the second read, while the channel was open.
 *
 * <p>A send to an unbuffered channel reads first that the channel is not closed, then that no receiver waits. There is one exception: if a
 * close between the two reads removes a waiting receiver, the send fails although the receiver waited until the close. Go's send has this
 * exception, too.
 *
 * <p>These proofs need a count that is right at each moment. So a receive that moves a waiting sender's element into the buffer leaves the
 * count as it is, and does not first subtract 1 and then add 1. The reads are volatile, so that no read comes before an earlier operation
 * of the same thread on another channel.
 *
 * @hidden javadoc shows {@code Chan} and {@code LongChan} as if they extended {@link Object}
 */
public abstract class Hchan implements AutoCloseable {
    /** Result of a receive: the channel is closed and drained. */
    protected static final long CLOSED = -1;
    /** Result of a receive and of {@link #give}: the operation would have to wait. */
    protected static final long BLOCKS = -2;
    /**
     * Result of {@link #unlockAndWait}: the method did not wait. The caller has to begin anew with a {@link ChanCancellation}, because an
     * interrupt may end its waits.
     */
    protected static final long ENDS = -3;

    private static final HeapInt<Hchan> COUNT = HeapInt.of(MethodHandles.lookup(), Hchan.class, "count");
    private static final HeapLong<Hchan> ORDER = HeapLong.of(MethodHandles.lookup(), Hchan.class, "order");
    private static final AtomicLong LAST_ORDER = new AtomicLong();

    static {
        TickTimer.setMaker(new ChanTimer.Maker());
        DoneChans.setOperations(new DoneChans.Operations() {
            @Override
            public void keep(Object c) {
                ((Hchan) c).setReceiveOnly();
            }

            @Override
            public void close(Object c) {
                ((Hchan) c).closeAnyway();
            }
        });
    }

    /** Guards the channel. */
    protected final HeapMutex lock = new HeapMutex(LockRank.HCHAN);
    final WaitQ recvq = new WaitQ();
    final WaitQ sendq = new WaitQ();
    /** The goroutines that wait for the channel to be closed and drained; null before the first of them. Written under the lock, once. */
    private @Nullable WaitQ drainq;
    /**
     * The bubble in which the channel was made; null for none. Only goroutines of that bubble may use the channel. But the channel's timer
     * and the time limits of waits act on it from other threads.
     */
    private final @Nullable Bubble bubble = Bubble.current();
    private final int cap;
    /** Number of buffered elements. Written under the lock. */
    private int count;
    /** Index of the first element. */
    private int recvx;
    /** Written under the lock, once. */
    private volatile boolean closed;
    /** See {@link #order}. */
    private volatile long order;
    /** The timer that sends to this channel; null for a channel without one. Set once, by the timer's maker. */
    private @Nullable ChanTimer timer;
    /**
     * Whether users may only receive, so that only the channel's maker can close it. True for a timer's channel too. Set once, by the
     * maker.
     */
    private boolean receiveOnly;

    /** Makes a channel with {@code cap} places in its buffer. */
    protected Hchan(int cap) {
        this.cap = cap;
    }

    /**
     * Returns {@code capacity}.
     *
     * @throws IllegalArgumentException "makechan: size out of range" when it is negative
     */
    protected static int checkCapacity(int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException("makechan: size out of range");
        }
        return capacity;
    }

    /** Returns a new {@code ChanClosedException}, which only its own package can make. */
    protected abstract IllegalStateException closedException(String what);

    final IllegalStateException sendOnClosed() {
        return closedException("send on closed channel");
    }

    /**
     * Returns the channel's number, which no other channel has. A select takes locks in the order of these numbers. Go orders channels by
     * their addresses, but a Java object's address changes. Most channels are in no select and never get a number.
     */
    final long order() {
        if (order == 0) {
            boolean _ = ORDER.compareAndSet(this, 0, LAST_ORDER.incrementAndGet());
        }
        return order;
    }

    // Where elements are

    /** Puts an element into a waiter's sudog. */
    protected abstract void setElem(long sg, @Nullable Object v, long w);

    /** Puts an element at an index of the buffer. */
    protected abstract void setBuf(int i, @Nullable Object v, long w);

    /** Moves the next element to {@code k}. Called under the lock. {@code sender} is a result of {@link #lockRecv}. */
    protected abstract void take(long sender, Scase k);

    /** Moves to {@code k} the element that a woken receiver got. */
    protected abstract void takeWoken(long sg, Scase k);

    /** Returns the index of the next element. Call it only while an element is buffered. */
    protected final int place() {
        return recvx;
    }

    /** Returns the number of buffered elements, and 0 for a timer's channel, like {@link #len}. Called under the lock. */
    protected final int size() {
        return timer != null ? 0 : count;
    }

    /**
     * Returns the index of the element with number {@code i} from the front; {@code i} is less than {@link #size}. Called under the lock.
     */
    protected final int placeOf(int i) {
        return next(recvx, i, cap);
    }

    /** Returns whether an element is buffered. Called under the lock. */
    protected final boolean buffered() {
        return count > 0;
    }

    /**
     * Advances past the element at {@link #place}, which the caller has taken. If {@code sender} is not 0, the caller has put the sender's
     * element there, as the last of the buffer.
     */
    protected final void took(long sender) {
        recvx = recvx + 1 == cap ? 0 : recvx + 1;
        if (sender == 0) {
            count--;
        }
    }

    // Sending

    /** Sends. Returns false when {@code block} is false and the send would have to wait. */
    protected final boolean send(@Nullable Object v, long w, boolean block) {
        checkSender();
        if (!block && !closed && full()) {
            Park.preemptPoint();
            return false;
        }
        GStack st = GStack.enter();
        try {
            return send(st, v, w, block);
        } finally {
            GStack.exit(st);
        }
    }

    /** Sends, waiting until one of the limits ends the wait. Returns false when the time was up. */
    protected final boolean send(@Nullable Object v, long w, Limits limits) {
        limits.check();
        if (send(v, w, false)) {
            return true;
        }
        if (limits.expired()) {
            return false;
        }
        GStack st = GStack.enter();
        try {
            return ChanCancellation.send(this, st, v, w, limits);
        } finally {
            GStack.exit(st);
        }
    }

    private void checkSender() {
        if (bubble != null) {
            bubble.check("send on synctest channel from outside bubble");
        }
    }

    private boolean full() {
        return cap == 0 ? recvq.isEmptyVolatile() : COUNT.getVolatile(this) == cap;
    }

    private boolean send(@Nullable GStack st, @Nullable Object v, long w, boolean block) {
        checkSendable();
        lock.lock();
        if (closed) {
            lock.unlock();
            throw sendOnClosed();
        }
        long receiver = give(v, w);
        if (receiver != BLOCKS) {
            lock.unlock();
            if (receiver != 0) {
                wake(receiver);
            }
            return true;
        }
        if (!block) {
            lock.unlock();
            return false;
        }
        if (WaitCancellation.byDefault(st)) {
            lock.unlock();
            return ChanCancellation.send(this, st, v, w, Limits.DEFAULT);
        }
        long sg = sudogOrUnlock(st);
        setElem(sg, v, w);
        Waiting.await(st, sg, sendq, lock, bubble == null ? WaitReason.CHAN_SEND : WaitReason.CHAN_SEND_DURABLE);
        boolean sent = Sudog.SUCCESS.get(sg) != 0;
        Waiting.release(st, sg);
        if (!sent) {
            throw sendOnClosed();
        }
        return true;
    }

    /**
     * Hands an element to a waiting receiver or to the buffer. Called under the lock of an open channel.
     *
     * @return a receiver to wake once the lock is free; 0 for none; {@link #BLOCKS}
     */
    final long give(@Nullable Object v, long w) {
        long receiver = recvq.dequeue();
        if (receiver != 0) {
            setElem(receiver, v, w);
            Sudog.SUCCESS.set(receiver, 1);
            return receiver;
        }
        if (count < cap) {
            setBuf(next(recvx, count, cap), v, w);
            count++;
            return 0;
        }
        return BLOCKS;
    }

    /** Returns the index behind the last of {@code count} elements, where {@code count < cap}, without a sum that may not fit an int. */
    static int next(int recvx, int count, int cap) {
        int behind = cap - recvx;
        return count < behind ? recvx + count : count - behind;
    }

    // Receiving

    /** Checks a receive without the lock. Returns {@link #BLOCKS} or {@link #CLOSED}, or 0 when the receive has to check under the lock. */
    protected final long lookRecv() {
        if (timer != null) {
            return 0; // The timer may be due.
        }
        if (!empty()) {
            return 0;
        }
        checkReceiver();
        Park.preemptPoint(); // A loop must yield even if none of its receives finds an element.
        if (!closed) {
            return BLOCKS;
        }
        return empty() ? CLOSED : 0; // A send may have come between the first read and the close.
    }

    /** Checks that the caller may receive: that it is in the channel's bubble, if there is one. */
    protected final void checkReceiver() {
        if (bubble != null) {
            bubble.check("receive on synctest channel from outside bubble");
        }
    }

    private boolean empty() {
        return cap == 0 ? sendq.isEmptyVolatile() : COUNT.getVolatile(this) == 0;
    }

    // A receive runs inside GStack.enter. It takes the lock and checks the channel with lockRecv. If there is an element, take moves it and
    // unlockTaken releases the lock. If there is none, a receive that must not wait releases the lock itself; a receive that may wait calls
    // unlockAndWait.

    /**
     * Takes the lock for a receive. {@code block} says whether the receive waits if there is no element.
     *
     * @return the sender to wake, or 0 for none, if there is an element; {@link #CLOSED} or {@link #BLOCKS} if there is no element
     */
    protected final long lockRecv(boolean block) {
        checkReceiver();
        lock.lock();
        try {
            long sender = nextSender();
            if (sender == BLOCKS && block) {
                timerAwaited();
            }
            return sender;
        } catch (Throwable e) { // For instance, there was no memory for a timer's time, or a class could not be linked.
            lock.unlock();
            throw e;
        }
    }

    /** Dequeues the next sender. Returns the same values as {@link #lockRecv}. Called under the lock. */
    protected final long nextSender() {
        timerDue();
        long sender = sendq.dequeue();
        if (sender != 0) {
            Sudog.SUCCESS.set(sender, 1);
            return sender;
        }
        return count > 0 ? 0 : closed ? CLOSED : BLOCKS;
    }

    /** Ends a receive whose element was taken. Releases the lock and wakes the sender, if any, or all waiters of {@link #drainq}. */
    protected final void unlockTaken(long sender) {
        if (drainq != null && drained()) {
            unlockAndWake(takeAll(drainq, 0)); // No sender waits, because the channel is closed.
            return;
        }
        lock.unlock();
        if (sender != 0) {
            wake(sender);
        }
    }

    /** Returns whether the channel is closed and has no element left. Once true it stays true. Called under the lock. */
    final boolean drained() {
        return closed && count == 0;
    }

    /** Returns the queue of the goroutines that wait until the channel is {@link #drained}. Called under the lock. */
    final WaitQ drainq() {
        WaitQ q = drainq;
        if (q == null) {
            q = new WaitQ();
            drainq = q;
        }
        return q;
    }

    /**
     * Releases the lock for a receive that may wait. The receive has found no element; {@code found} is {@link #CLOSED} or {@link
     * #BLOCKS}.
     *
     * @return a sudog that has waited and was woken; or, without a wait, {@link #CLOSED} or {@link #ENDS}
     */
    protected final long unlockAndWait(@Nullable GStack st, long found) {
        if (found == CLOSED) {
            lock.unlock();
            return CLOSED;
        }
        if (WaitCancellation.byDefault(st)) {
            timerLeft();
            lock.unlock();
            return ENDS;
        }
        long sg = sudogOrUnlock(st);
        Waiting.await(st, sg, recvq, lock, bubble == null ? WaitReason.CHAN_RECEIVE : WaitReason.CHAN_RECEIVE_DURABLE);
        return sg;
    }

    /**
     * Returns whether a receive got an element. {@code sg} is a result of {@link #unlockAndWait}; if it is no sudog, the result is false.
     */
    protected static boolean ok(long sg) {
        return sg > 0 && Sudog.SUCCESS.get(sg) != 0;
    }

    /**
     * Returns a sudog for a caller that is about to wait. Called under the lock. Without memory for a sudog it releases the lock and
     * throws.
     */
    final long sudogOrUnlock(@Nullable GStack st) {
        try {
            return Waiting.sudog(st);
        } catch (OutOfMemoryError e) {
            timerLeft();
            lock.unlock();
            throw e;
        }
    }

    // Everything else

    /** Returns whether the channel is closed. */
    protected final boolean isClosed() {
        return closed;
    }

    /** Checks that the goroutine of a select is in the channel's bubble. Called before a select of several channels. */
    final void checkSelector() {
        if (bubble != null) {
            bubble.check("select on synctest channel from outside bubble");
        }
    }

    /** Returns whether only goroutines of a bubble can end a wait on the channel. */
    final boolean durable() {
        return bubble != null;
    }

    /**
     * Closes the channel. Receivers get the buffered elements and then none; waiting senders fail.
     *
     * @throws IllegalStateException a {@code ChanClosedException} "close of closed channel"
     */
    @Override
    public void close() {
        if (receiveOnly) {
            throw new IllegalStateException("close of receive-only channel");
        }
        closeAnyway();
    }

    /** Closes the channel, even if its users cannot close it. */
    final void closeAnyway() {
        GStack st = GStack.enter();
        try {
            if (bubble != null) {
                bubble.check("close of synctest channel from outside bubble");
            }
            lock.lock();
            if (closed) {
                lock.unlock();
                throw closedException("close of closed channel");
            }
            closed = true;
            long list = takeAll(sendq, takeAll(recvq, 0));
            unlockAndWake(drainq != null && drained() ? takeAll(drainq, list) : list);
        } finally {
            GStack.exit(st);
        }
    }

    private void unlockAndWake(long waiters) {
        lock.unlock();
        for (long list = waiters; list != 0;) {
            long sg = list;
            list = Sudog.NEXT.get(sg); // Read before the wake, because a woken waiter may release the sudog.
            wake(sg);
        }
    }

    /**
     * Wakes a waiter that was taken out of a queue. The fence keeps this channel reachable until the waiter is runnable, as {@code
     * report.LeakSearch} requires.
     */
    void wake(long sg) {
        Waiting.ready(sg);
        Reference.reachabilityFence(this);
    }

    private static long takeAll(WaitQ q, long list) {
        for (long sg = q.dequeue(); sg != 0; sg = q.dequeue()) {
            Sudog.NEXT.set(sg, list);
            list = sg;
        }
        return list;
    }

    // The channel of a timer. Its buffer has one place, for a tick that comes while no receiver waits. The next receive or select puts the
    // tick's time there, and then checks for an element.

    /** Empties the buffer of a timer's channel, and returns whether it had an element. The caller holds the lock. */
    final boolean drain() {
        boolean any = buffered();
        if (any) {
            setBuf(place(), null, 0);
            took(0);
        }
        return any;
    }

    final void setTimer(ChanTimer t) {
        timer = t;
        receiveOnly = true;
    }

    final void setReceiveOnly() {
        receiveOnly = true;
    }

    /** Throws if users may only receive from the channel. */
    final void checkSendable() {
        if (receiveOnly) {
            throw new IllegalStateException("send to receive-only channel");
        }
    }

    /** Puts the time into the buffer if the timer is due. Called under the lock, before a receive or a select checks for an element. */
    final void timerDue() {
        if (timer != null) {
            timer.putIfDue();
        }
    }

    /**
     * Arms the timer's alarm. Called under the lock before a receiver is queued, because the alarm delivers the time to a waiting receiver.
     */
    final void timerAwaited() {
        if (timer != null) {
            timer.awaited();
        }
    }

    /** Disarms the timer's alarm if no receiver waits any more. Called under the lock when a receiver left the queue without an element. */
    final void timerLeft() {
        if (timer != null && recvq.isEmpty()) {
            timer.left();
        }
    }

    /** Returns the number of buffered elements; 0 for a timer's channel, because only a receive checks whether the timer is due. */
    public int len() {
        return timer != null ? 0 : COUNT.getVolatile(this);
    }

    /** Returns the capacity of the buffer in elements; 0 for a timer's channel. */
    public int cap() {
        return timer != null ? 0 : cap;
    }
}
