// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.Bubble;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Park;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.struct.FieldHandle;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Ending;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * What channels of all kinds of elements have in common ({@code hchan}). The kinds differ in where an element is: in an
 * array and a side table of the sudog, or off-heap and in the sudog itself. An element on its way is given as an object
 * and a long, of which a kind uses one.
 *
 * <p>Invariants, under the lock: a receiver waits only while the buffer is empty, a sender only while it is full; receivers
 * and senders wait at once only if one select waits to do both; a closed channel has no waiters. An element for a waiting
 * receiver goes to it directly, never through the buffer.
 *
 * <p>A try that finds nothing to do looks without the lock, and is right all the same. A receive reads first that there is
 * nothing to receive, then that the channel is not closed. Since it cannot be opened again, at the first look it was not
 * closed either: at that moment a receive would have waited. A send reads first that the channel is not closed, then that
 * there is no room; closing makes no room, so there was none while it was open, or it was closed in between, and just before
 * that there was none. For this the count must not pass through a value that no operation leaves: a receive that lets a
 * waiting sender's element in leaves the count alone. The reads are volatile, so that no read comes before an earlier operation
 * of the same thread on another channel.
 */
abstract sealed class Hchan implements AutoCloseable permits Chan, LongChan {
    /** Of a receive: closed and drained. */
    static final long CLOSED = -1;
    /** Of a receive and of {@link #give}: it would have to wait. */
    static final long BLOCKS = -2;
    /** Of {@link #unlockAndWait}: it has to wait, and an interrupt may end that. */
    static final long ENDS = -3;

    private static final VarHandle COUNT = FieldHandle.of(MethodHandles.lookup(), Hchan.class, "count", int.class);
    private static final VarHandle IS_CLOSED = FieldHandle.of(MethodHandles.lookup(), Hchan.class, "closed", boolean.class);
    private static final VarHandle ORDER = FieldHandle.of(MethodHandles.lookup(), Hchan.class, "order", long.class);
    private static final AtomicLong LAST_ORDER = new AtomicLong();

    final HeapMutex lock = new HeapMutex(LockRank.HCHAN);
    final WaitQ recvq = new WaitQ();
    final WaitQ sendq = new WaitQ();
    /** Waiters for the end, when the channel is closed and drained; null until there is one. Written under the lock, once. */
    private @Nullable WaitQ drainq;
    /** The bubble it was made in, whose goroutines alone may use it; null for none. Timer and time limits pass unchecked. */
    private final @Nullable Bubble bubble = Bubble.current();
    private final int cap;
    /** How many elements are buffered; written under the lock. */
    private int count;
    /** The place of the first. */
    private int recvx;
    /** Written under the lock, once. */
    private boolean closed;
    /** See {@link #order}. */
    private volatile long order;
    /** The timer whose channel this is; null for all others. Set once, by its maker. */
    private @Nullable ChanTimer timer;
    /** Whether users only receive, and only its maker closes it; true of a timer's as well. Set once, by its maker. */
    private boolean receiveOnly;

    Hchan(int cap) {
        this.cap = cap;
    }

    static int checkCapacity(int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException("makechan: size out of range");
        }
        return capacity;
    }

    static IllegalStateException sendOnClosed() {
        return new ChanClosedException("send on closed channel");
    }

    /**
     * The channel's place in the order in which a select takes locks: a number that no other channel has. Go orders channels by their
     * addresses, which change here. Most channels are in no select and never get one.
     */
    final long order() {
        if (order == 0) {
            ORDER.compareAndSet(this, 0L, LAST_ORDER.incrementAndGet());
        }
        return order;
    }

    // Where elements are

    /** Puts an element into a waiter's sudog. */
    abstract void setElem(long sg, @Nullable Object v, long w);

    /** Puts an element into a place of the buffer. */
    abstract void setBuf(int i, @Nullable Object v, long w);

    /** Under the lock: moves the next element into {@code k}; {@code sender} as {@link #lockRecv} gives it. */
    abstract void take(long sender, Scase k);

    /** Moves into {@code k} what a woken receiver got. */
    abstract void takeWoken(long sg, Scase k);

    /** The place of the next element; 0 or more only while something is buffered. */
    final int place() {
        return recvx;
    }

    /** Under the lock: how many elements are buffered; 0 for a timer's channel, as {@link #len}. */
    final int size() {
        return timer != null ? 0 : count;
    }

    /** Under the lock: the place of an element, by its number from the front; less than {@link #size}. */
    final int placeOf(int i) {
        return next(recvx, i, cap);
    }

    final boolean buffered() {
        return count > 0;
    }

    /** The element of {@link #place} was moved away, and that of {@code sender}, if not 0, to its place, now the last. */
    final void took(long sender) {
        recvx = recvx + 1 == cap ? 0 : recvx + 1;
        if (sender == 0) {
            count--;
        }
    }

    // Sending

    /** Sends, if it may without waiting or else {@code block}; false when it would block and may not. */
    final boolean send(@Nullable Object v, long w, boolean block) {
        checkSender();
        if (!block && !(boolean) IS_CLOSED.getVolatile(this) && full()) {
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

    /** Sends, waiting until one of the limits ends it; false when the time was up. */
    final boolean send(@Nullable Object v, long w, Limits limits) {
        limits.check();
        if (send(v, w, false)) {
            return true;
        }
        if (limits.expired()) {
            return false;
        }
        GStack st = GStack.enter();
        try {
            return ChanEnding.send(this, st, v, w, limits);
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
        return cap == 0 ? recvq.isEmptyVolatile() : (int) COUNT.getVolatile(this) == cap;
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
        if (Ending.byDefault(st)) {
            lock.unlock();
            return ChanEnding.send(this, st, v, w, Limits.DEFAULT);
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
     * Under the lock of an open channel: hands an element to a receiver or the buffer.
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

    /** The place behind the last of {@code count} elements, less than {@code cap}; the sum may not fit an int. */
    static int next(int recvx, int count, int cap) {
        int behind = cap - recvx;
        return count < behind ? recvx + count : count - behind;
    }

    // Receiving

    /** What a receive finds without the lock: {@link #BLOCKS}, {@link #CLOSED}, or 0 when it has to look with the lock. */
    final long lookRecv() {
        if (timer != null) {
            return 0; // It may be due.
        }
        if (!empty()) {
            return 0;
        }
        checkReceiver();
        Park.preemptPoint(); // So that a loop that only tries, and finds nothing, yields as well.
        if (!(boolean) IS_CLOSED.getVolatile(this)) {
            return BLOCKS;
        }
        return empty() ? CLOSED : 0; // Something may have come between the first look and the close.
    }

    final void checkReceiver() {
        if (bubble != null) {
            bubble.check("receive on synctest channel from outside bubble");
        }
    }

    private boolean empty() {
        return cap == 0 ? sendq.isEmptyVolatile() : (int) COUNT.getVolatile(this) == 0;
    }

    // A receive, inside GStack.enter, takes the lock and looks: lockRecv. Where there is an element it takes it and gives the lock
    // back: take and unlockTaken. Where there is none it gives the lock back: itself if it is not to wait, else by unlockAndWait.

    /**
     * Takes the lock, for a receive that is to wait if it must and {@code block}.
     *
     * @return 0 or more: there is an element, and a sender to wake if not 0. {@link #CLOSED} or {@link #BLOCKS}: there is none
     */
    final long lockRecv(boolean block) {
        checkReceiver();
        lock.lock();
        try {
            long sender = nextSender();
            if (sender == BLOCKS && block) {
                timerAwaited();
            }
            return sender;
        } catch (Throwable e) { // There may be no memory for a timer's time; and what loads and links may fail in other ways, too.
            lock.unlock();
            throw e;
        }
    }

    /** Under the lock: what a receive is to do, as {@link #lockRecv} gives it. */
    final long nextSender() {
        timerDue();
        long sender = sendq.dequeue();
        if (sender != 0) {
            Sudog.SUCCESS.set(sender, 1);
            return sender;
        }
        return count > 0 ? 0 : closed ? CLOSED : BLOCKS;
    }

    /** Ends a receive whose element was taken: the lock and its sender go free. */
    final void unlockTaken(long sender) {
        if (drainq != null && drained()) {
            unlockAndWake(takeAll(drainq, 0)); // No sender waits: the channel is closed.
            return;
        }
        lock.unlock();
        if (sender != 0) {
            wake(sender);
        }
    }

    /** Under the lock: whether the channel is closed and has no element any more; then it stays so. */
    final boolean drained() {
        return closed && count == 0;
    }

    /** Under the lock: the queue of waiters for the moment when the channel is {@link #drained}. */
    final WaitQ drainq() {
        WaitQ q = drainq;
        if (q == null) {
            q = new WaitQ();
            drainq = q;
        }
        return q;
    }

    /**
     * Gives the lock back, for a receive that may wait and has found no element, but {@code found}.
     *
     * @return above 0: a sudog that has waited and was woken. {@link #CLOSED}: it did not wait. {@link #ENDS}: it did not wait
     *     either, as something may end the wait: to go on by {@link ChanEnding#unlockAndWait}
     */
    final long unlockAndWait(@Nullable GStack st, long found) {
        if (found == CLOSED) {
            lock.unlock();
            return CLOSED;
        }
        if (Ending.byDefault(st)) {
            timerLeft();
            lock.unlock();
            return ENDS;
        }
        long sg = sudogOrUnlock(st);
        Waiting.await(st, sg, recvq, lock, bubble == null ? WaitReason.CHAN_RECEIVE : WaitReason.CHAN_RECEIVE_DURABLE);
        return sg;
    }

    /** Whether the receive of a sudog that has waited got an element; false for what is none, as {@link #CLOSED}. */
    static boolean ok(long sg) {
        return sg > 0 && Sudog.SUCCESS.get(sg) != 0;
    }

    /**
     * Under the lock: a sudog for a caller that is about to wait. Without memory the lock is given back, and nobody waits for
     * the timer.
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

    final boolean isClosed() {
        return closed;
    }

    /** Before a select of several channels, this one of a bubble. */
    final void checkSelector() {
        if (bubble != null) {
            bubble.check("select on synctest channel from outside bubble");
        }
    }

    /** Whether only goroutines of a bubble can end a wait on it. */
    final boolean durable() {
        return bubble != null;
    }

    /**
     * Closes the channel: receivers get what is buffered and then nothing, waiting senders fail.
     *
     * @throws ChanClosedException "close of closed channel"
     */
    @Override
    public void close() {
        GStack st = GStack.enter();
        try {
            close0();
        } finally {
            GStack.exit(st);
        }
    }

    /** Closes a channel that its users cannot close. */
    final void closeReceiveOnly() {
        GStack st = GStack.enter();
        try {
            close1();
        } finally {
            GStack.exit(st);
        }
    }

    private void close0() {
        if (receiveOnly) {
            throw new IllegalStateException("close of receive-only channel");
        }
        close1();
    }

    private void close1() {
        if (bubble != null) {
            bubble.check("close of synctest channel from outside bubble");
        }
        lock.lock();
        if (closed) {
            lock.unlock();
            throw new ChanClosedException("close of closed channel");
        }
        closed = true;
        long list = takeAll(sendq, takeAll(recvq, 0));
        unlockAndWake(drainq != null && drained() ? takeAll(drainq, list) : list);
    }

    private void unlockAndWake(long waiters) {
        lock.unlock();
        for (long list = waiters; list != 0;) {
            long sg = list;
            list = Sudog.NEXT.get(sg); // Before the wake: afterwards the waiter may give the sudog back.
            wake(sg);
        }
    }

    /** Wakes the waiter that was taken out of a queue, reachable by this channel meanwhile ({@code report.LeakSearch}). */
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

    // The channel of a timer: one place in its buffer, for a time that nobody waited for

    final void setTimer(ChanTimer t) {
        timer = t;
        receiveOnly = true;
    }

    final void setReceiveOnly() {
        receiveOnly = true;
    }

    /** Refuses a send to a channel that its users only receive from. */
    final void checkSendable() {
        if (receiveOnly) {
            throw new IllegalStateException("send to receive-only channel");
        }
    }

    /** Under the lock, before a receive or a select looks whether there is an element: the timer may be due. */
    final void timerDue() {
        if (timer != null) {
            timer.putIfDue();
        }
    }

    /** Under the lock, when a receiver is queued: somebody has to look at the timer when it is due. */
    final void timerAwaited() {
        if (timer != null) {
            timer.awaited();
        }
    }

    /** Under the lock, when a receiver left the queue without an element: nobody need look if it was the last. */
    final void timerLeft() {
        if (timer != null && recvq.isEmpty()) {
            timer.left();
        }
    }

    /** How many elements are buffered; 0 for a timer's channel, whose times come when they are received. */
    public int len() {
        return timer != null ? 0 : (int) COUNT.getVolatile(this);
    }

    /** How many elements fit the buffer; 0 for a timer's channel. */
    public int cap() {
        return timer != null ? 0 : cap;
    }
}
