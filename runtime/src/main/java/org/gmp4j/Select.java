// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

import org.gmp4j.lock.Keeper;
import org.gmp4j.proc.Bubble;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Machine;
import org.gmp4j.proc.Park;
import org.gmp4j.proc.WaitReason;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.Sudog;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.wait.Ending;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the first of several sends and receives that can go on, and does that one alone; if several can, one of them
 * at random, each as likely. From goroutines, virtual threads and platform threads. An interrupt ends the wait of a virtual thread of a
 * {@link Gmp} alone ({@link WaitInterruptedException}), and of any thread in {@link #runInterruptibly}. In a bubble of {@code Synctest} its
 * clock moves on while one waits on channels of the bubble alone, or with a {@link #timeout}.
 *
 * <p>A Select is built once and run as often as wanted, or cleared and built anew; neither allocates when it has been as
 * large before. One thread uses it at a time, and a second one gets a {@link ConcurrentModificationException} for certain,
 * from whatever it calls while the first is in a method of the Select; the first goes on undisturbed. The action of a case
 * may change it, and run it again: it runs when everything is done.
 *
 * {@snippet :
 * Select next = Select.of().recv(work, this::handle).recv(stop, v -> stopped = true);
 * while (!stopped) {
 *     next.run();
 * }
 * }
 *
 * <p>How it waits (Go's {@code selectgo}). It holds the locks of all its channels, taken in the order of their numbers, so
 * two selects never wait for each other; one of several cases of the same channel takes the lock. Pass 1 looks at the cases
 * in random order for one that can go on. Pass 2 puts a sudog into a queue of each channel and parks; the locks are given
 * back when it is parked, so whoever finds one of the sudogs finds the waiter parked. Of those wakers one wins: see
 * {@code WaitQ}. Pass 3 takes the locks again and the sudogs that were not woken out of the queues.
 *
 * <p>Memory order. The waker that won wrote the element into the winning sudog under its channel's lock, and that sudog's
 * address where the waiter looks for it; both come before the CAS on the G's status, or the exchange on the thread's note,
 * that the waiter's going on is ordered by. The losers never touch the select's memory after they give their channel's lock
 * back, and pass 3 takes that lock: what they did to the queue is seen, and nothing of it comes later.
 */
@NullMarked
public final class Select {
    /** What {@link #run} gives for the default. */
    public static final int DEFAULT = -1;
    /** What {@link #run} gives for the {@link #timeout}. */
    public static final int TIMEOUT = -2;

    /** Stands for the timeout where a case does. */
    private static final Scase LATE = new Scase(TIMEOUT);
    private static final int FEW = 4;
    /** A channel that would move more others to get to its place among the locks is put at the end, and all are sorted once. */
    private static final int MOVES = 32;
    private static final VarHandle BUSY;

    static {
        try {
            BUSY = MethodHandles.lookup().findVarHandle(Select.class, "busy", boolean.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * With the waiter parked. As soon as the first lock is free it may be woken and run, but it stops at the locks that are
     * still held: it wants them all. With the last one free it may change everything here, so nothing is read after that.
     */
    private static final Park.Unlock UNLOCK = new Park.Unlock() {
        @Override
        public boolean unlock(long gp, Object select) {
            ((Select) select).unlockAll();
            return true;
        }

        @Override
        public Keeper waitsFor(Object select, int i) {
            Select s = (Select) select;
            return i < s.lockCount ? s.locks[i].lock : null;
        }
    };

    /** All cases in the order of adding; those beyond {@link #n} are kept for later ones. */
    private Scase[] cases = new Scase[FEW];
    private int n;
    /** Those with a channel, in any order: pass 1 shuffles it. */
    private Scase[] poll = new Scase[FEW];
    private int live;
    /** The channels, each once, in the order of their locks. */
    private Hchan[] locks = new Hchan[FEW];
    private int lockCount;
    /** Whether one of them was made in a bubble: the others need no check. */
    private boolean inBubble;
    private Runnable orElse;
    /** Whether a case has a supplier. */
    private boolean supplied;
    /** What {@link #timeout} does, null for none, and after how many nanoseconds. */
    private Runnable late;
    private long timeout;
    /** The sudog of what ends the present wait; 0 for none. */
    private long endSg;
    /** Whether the locks stand in their order, each once; if not, they are sorted before they are taken. */
    private boolean sorted = true;
    /** Whether a thread is building, or in {@link #run} before the action. By CAS, so that of two one is always told. */
    @SuppressWarnings("unused") // Through BUSY.
    private volatile boolean busy;

    private Select() {
    }

    /** A select without cases. */
    public static Select of() {
        return new Select();
    }

    /** A select without cases that gives a value. */
    public static <R> SelectOne<R> one() {
        return new SelectOne<>();
    }

    /**
     * Adds a receive.
     *
     * @param c the channel; null never goes on
     * @param then called with the element, or with null when the channel was closed and drained
     */
    public <T> Select recv(@Nullable RecvChan<T> c, Consumer<? super T> then) {
        add(Scase.Kind.RECV, (Chan<T>) c, null, 0, then);
        return this;
    }

    /**
     * Adds a send.
     *
     * @param c the channel; null never goes on
     * @param v the element
     * @param then called when it was sent
     * @throws NullPointerException when {@code v} is null
     */
    public <T> Select send(@Nullable SendChan<T> c, T v, Runnable then) {
        Chan.element(v);
        Chan<T> to = (Chan<T>) c;
        if (to != null) {
            to.checkSendable();
        }
        add(Scase.Kind.SEND, to, v, 0, then);
        return this;
    }

    /**
     * Adds a send of what {@code v} gives, which is asked at the beginning of each run, as Go evaluates the operands of its cases. What it
     * throws comes out of the run, before anything is sent or received.
     *
     * @param c the channel; null never goes on
     * @param v gives the element
     * @param then called when it was sent
     */
    public <T> Select sendEach(@Nullable SendChan<T> c, Supplier<? extends T> v, Runnable then) {
        Objects.requireNonNull(v, "v");
        Headroom.check(); // All or nothing.
        Chan<T> to = (Chan<T>) c;
        if (to != null) {
            to.checkSendable();
        }
        add(Scase.Kind.SEND, to, v, 0, then);
        Scase k = cases[n - 1];
        k.supplier = v;
        k.elem = null;
        supplied = true;
        return this;
    }

    /** The elements of {@link #sendEach}. */
    private void supply() {
        for (int i = 0; i < n; i++) {
            if (cases[i].supplier != null) {
                cases[i].elem = Chan.element(cases[i].supplier.get());
            }
        }
    }

    /**
     * Adds a receive of a long.
     *
     * @param c the channel; null never goes on
     * @param then called with the element, or with 0 when the channel was closed and drained
     */
    public Select recvLong(@Nullable LongChan c, LongConsumer then) {
        add(Scase.Kind.RECV_LONG, c, null, 0, then);
        return this;
    }

    /**
     * Adds a receive of a long that tells whether there was one.
     *
     * @param c the channel; null never goes on
     * @param then called with the element and true, or with 0 and false when the channel was closed and drained
     */
    public Select recvLongOk(@Nullable LongChan c, LongChan.Receiver then) {
        add(Scase.Kind.RECV_LONG_OK, c, null, 0, then);
        return this;
    }

    /**
     * Adds a send of a long.
     *
     * @param c the channel; null never goes on
     * @param v the element
     * @param then called when it was sent
     */
    public Select sendLong(@Nullable LongChan c, long v, Runnable then) {
        add(Scase.Kind.SEND, c, null, v, then);
        return this;
    }

    /**
     * Adds a receive that tells whether there was an element.
     *
     * @param c the channel; null never goes on
     * @param then called with the element and true, or with null and false when the channel was closed and drained
     */
    public <T> Select recvOk(@Nullable RecvChan<T> c, Receiver<? super T> then) {
        add(Scase.Kind.RECV_OK, (Chan<T>) c, null, 0, then);
        return this;
    }

    /** Takes what a select received. */
    @FunctionalInterface
    public interface Receiver<T> {
        /**
         * Takes it.
         *
         * @param value the element; null when the channel was closed and drained
         * @param ok whether there was an element
         */
        void accept(@Nullable T value, boolean ok);
    }

    /**
     * Sets what to do when no case can go on for {@code d} after {@link #run} began to wait; {@code d} of zero or less is as if it were
     * {@link #orElse}, which goes before it. Each run measures anew. As Go's {@code case <-time.After(d)}, without a timer where
     * nothing has to wait.
     */
    public Select timeout(Duration d, Runnable then) {
        Objects.requireNonNull(then, "then");
        long nanos = RuntimeTimer.nanos(d);
        begin();
        timeout = nanos;
        late = then;
        try {
            end();
        } catch (StackOverflowError e) {
            busy = false;
        }
        return this;
    }

    /** Sets what to do when no case can go on: the select does not wait then. */
    public Select orElse(Runnable then) {
        Objects.requireNonNull(then, "then");
        begin();
        orElse = then;
        try {
            end();
        } catch (StackOverflowError e) {
            busy = false;
        }
        return this;
    }

    /** Takes all cases, the default and the timeout out. */
    public Select clear() {
        Headroom.check(); // All or nothing.
        begin();
        for (int i = 0; i < n; i++) {
            cases[i].clear();
        }
        Arrays.fill(poll, 0, live, null);
        Arrays.fill(locks, 0, lockCount, null);
        n = 0;
        live = 0;
        lockCount = 0;
        sorted = true;
        inBubble = false;
        orElse = null;
        late = null;
        supplied = false;
        end();
        return this;
    }

    private void begin() {
        if (!BUSY.compareAndSet(this, false, true)) {
            throw new ConcurrentModificationException("a Select is used by two threads at once");
        }
    }

    /** Whoever begins next sees everything. There may be no stack for this: then what was done is done all the same. */
    private void end() {
        BUSY.setRelease(this, false);
    }

    private void add(Scase.Kind kind, Hchan c, Object v, long w, Object then) {
        Objects.requireNonNull(then, "then");
        begin();
        try {
            if (n == cases.length) {
                Scase[] moreCases = Arrays.copyOf(cases, 2 * n); // All three or none: there may not be the memory.
                Scase[] morePoll = Arrays.copyOf(poll, 2 * n);
                locks = Arrays.copyOf(locks, 2 * n);
                poll = morePoll;
                cases = moreCases;
            }
            if (cases[n] == null) {
                cases[n] = new Scase(n);
            }
            boolean durable = c != null && c.durable();
            if (c != null) {
                addLock(c); // A lock without its case does no harm.
            }
            Scase k = cases[n++]; // From here on no calls: any may throw a StackOverflowError.
            k.kind = kind;
            k.c = c;
            k.elem = v;
            k.longElem = w;
            k.then = then;
            if (c != null) {
                poll[live++] = k;
                inBubble |= durable;
            }
        } finally {
            try {
                end();
            } catch (StackOverflowError e) {
                busy = false;
            }
        }
    }

    private void addLock(Hchan c) {
        int i = lockCount;
        int least = Math.max(0, i - MOVES);
        while (i > least && locks[i - 1].order() > c.order()) {
            i--;
        }
        if (!sorted || i != 0 && locks[i - 1].order() > c.order()) {
            sorted = false;
            locks[lockCount++] = c;
        } else if (i == 0 || locks[i - 1] != c) {
            System.arraycopy(locks, i, locks, i + 1, lockCount - i);
            locks[i] = c;
            lockCount++;
        }
    }

    /** Heap sort: in place, and never quadratic. Then each channel once. */
    private void sortLocks() {
        for (int i = lockCount / 2 - 1; i >= 0; i--) {
            sift(i, lockCount);
        }
        for (int end = lockCount - 1; end > 0; end--) {
            Hchan last = locks[0];
            locks[0] = locks[end];
            locks[end] = last;
            sift(0, end);
        }
        int once = 0;
        for (int i = 0; i < lockCount; i++) {
            if (once == 0 || locks[once - 1] != locks[i]) {
                locks[once++] = locks[i];
            }
        }
        Arrays.fill(locks, once, lockCount, null);
        lockCount = once;
        sorted = true;
    }

    private void sift(int from, int size) {
        Hchan c = locks[from];
        int i = from;
        for (int child = 2 * i + 1; child < size; child = 2 * i + 1) {
            if (child + 1 < size && locks[child + 1].order() > locks[child].order()) {
                child++;
            }
            if (c.order() >= locks[child].order()) {
                break;
            }
            locks[i] = locks[child];
            i = child;
        }
        locks[i] = c;
    }

    /**
     * Waits until a case can go on, or takes the default, and runs its action. Without cases it waits for ever.
     *
     * @return the index of the case in the order of adding, the default not counted; -1 for the default, {@value #TIMEOUT} for the
     *     {@link #timeout}
     * @throws ChanClosedException "send on closed channel" when the case is a send on a channel that is or was closed
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits;
     *     nothing was sent or received
     */
    public int run() {
        return run(Limits.DEFAULT);
    }

    /**
     * As {@link #run}, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while this waits; nothing was sent or received, and the
     *     interrupt status is cleared
     */
    public int runInterruptibly() throws InterruptedException {
        return run(Limits.INTERRUPTIBLY);
    }

    /**
     * As {@link #run}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits; nothing was sent or received
     */
    public int runUnless(Cancelable ctx) {
        return run(Limits.until(ctx));
    }

    private int run(Limits limits) {
        limits.check();
        begin();
        Scase.Kind kind;
        Object then;
        int index;
        Object v = null;
        long w = 0;
        boolean ok = false;
        try {
            if (supplied) {
                supply();
            }
            Scase k = n == 1 ? single(limits) : choose(limits);
            if (k == null) {
                kind = Scase.Kind.SEND;
                then = orElse;
                index = DEFAULT;
            } else if (k == LATE) {
                kind = Scase.Kind.SEND;
                then = late;
                index = TIMEOUT;
            } else {
                kind = k.kind;
                then = k.then;
                index = k.index;
                if (kind != Scase.Kind.SEND) {
                    v = k.received();
                    w = k.longElem;
                    ok = k.ok;
                }
            }
        } finally {
            try {
                end(); // From here on the Select may change, and everything in it.
            } catch (StackOverflowError e) {
                busy = false; // Which needs no frame.
            }
        }
        switch (kind) {
            case SEND -> ((Runnable) then).run();
            case RECV -> accept(then, v);
            case RECV_OK -> acceptOk(then, v, ok);
            case RECV_LONG -> ((LongConsumer) then).accept(w);
            case RECV_LONG_OK -> ((LongChan.Receiver) then).accept(w, ok);
        }
        return index;
    }

    /** With the time of {@link #timeout}. */
    private Limits timed(Limits limits) {
        return late == null ? limits : new Limits(limits.interrupts(), Math.max(0, timeout), limits.ctx());
    }

    @SuppressWarnings("unchecked")
    private static void accept(Object then, Object v) {
        ((Consumer<Object>) then).accept(v);
    }

    @SuppressWarnings("unchecked")
    private static void acceptOk(Object then, Object v, boolean ok) {
        ((Receiver<Object>) then).accept(v, ok);
    }

    /** One case: an operation of its channel, as Go's compiler makes it. */
    private Scase single(Limits limits) {
        Scase k = cases[0];
        boolean block = orElse == null;
        if (block && (limits != Limits.DEFAULT || late != null)) {
            return choose(limits);
        }
        if (k.c == null) {
            if (block) {
                Waiting.forever(k.sends() ? WaitReason.CHAN_SEND_NIL : WaitReason.CHAN_RECEIVE_NIL);
            }
            return null;
        }
        if (k.sends()) {
            return k.c.send(k.elem, k.longElem, block) ? k : null;
        }
        if (!block && k.c.lookRecv() == Hchan.BLOCKS) {
            return null;
        }
        GStack st = GStack.enter();
        try {
            long how = k.c.startRecv(st, block);
            if (how == Hchan.ENDS) {
                return choose(limits);
            }
            if (how == Hchan.BLOCKS) {
                return null;
            }
            if (how < Hchan.BLOCKS) {
                k.ok = Hchan.ok(how);
                k.c.takeWoken(~how, k);
                Waiting.release(st, ~how);
            } else {
                received(k, how);
                if (how >= 0) {
                    k.c.taken(how);
                }
            }
            return k;
        } finally {
            GStack.exit(st);
        }
    }

    /** What a receive found under the lock. */
    private static void received(Scase k, long sender) {
        k.ok = sender >= 0;
        if (k.ok) {
            k.c.take(sender, k);
        } else {
            k.elem = null;
            k.longElem = 0;
        }
    }

    /** The case that goes on; null for the default, {@link #LATE} for the timeout. */
    private Scase choose(Limits limits) {
        if (live == 0) {
            return chooseNone(limits);
        }
        if (inBubble) {
            checkBubble();
        }
        if (!sorted) {
            sortLocks();
        }
        GStack st = GStack.enter();
        SelectEnding e = null;
        try {
            for (;;) {
                lockAll();
                for (int i = 0; i < live; i++) {
                    Scase k = draw(st, i);
                    long other = proceedOrUnlock(k);
                    if (other != Hchan.BLOCKS) {
                        unlockAll();
                        if (other > 0) {
                            Waiting.ready(other);
                            Reference.reachabilityFence(k.c); // See Hchan.wake.
                        } else if (other == Hchan.CLOSED && k.sends()) {
                            throw Hchan.sendOnClosed();
                        }
                        return k;
                    }
                }
                if (orElse != null || late != null && timeout <= 0) {
                    unlockAll();
                    return orElse != null ? null : LATE;
                }
                if (e != null || limits == Limits.DEFAULT && late == null && !Ending.byDefault(st)) {
                    return await(st, e);
                }
                unlockAll(); // Something may end the wait: that begins to watch without locks, and then all is looked at again.
                e = new SelectEnding(locks[0], timed(limits));
                e.begin();
            }
        } finally {
            if (e != null) {
                e.finish();
            }
            GStack.exit(st);
        }
    }

    /** Without a channel. */
    private Scase chooseNone(Limits limits) {
        if (orElse != null) {
            return null;
        }
        WaitReason reason = n == 0 ? WaitReason.SELECT_NO_CASES
                : Bubble.current() == null ? WaitReason.SELECT : WaitReason.SELECT_DURABLE;
        if (limits == Limits.DEFAULT && late == null) {
            Waiting.forever(reason);
        }
        boolean unused = Waiting.rest(timed(limits), reason); // Else it throws.
        return LATE;
    }

    private void checkBubble() {
        for (int i = 0; i < live; i++) {
            poll[i].c.checkSelector();
        }
    }

    /** The next case of a random permutation, whose first {@code i} were drawn before. */
    private Scase draw(GStack st, int i) {
        int left = live - i;
        int at = left == 1 ? i : i + Machine.cheaprandn(st, left);
        Scase k = poll[at];
        poll[at] = poll[i];
        poll[i] = k;
        return k;
    }

    /** The same; the locks are given back when there is no memory for the time of a timer that is due. */
    private long proceedOrUnlock(Scase k) {
        try {
            return proceed(k);
        } catch (Throwable e) {
            unlockAll();
            throw e;
        }
    }

    /** Before anything is queued: the alarms of timers that are waited for; the locks are given back when that fails. */
    private void timersAwaited() {
        try {
            for (int i = 0; i < live; i++) {
                if (!poll[i].sends()) {
                    poll[i].c.timerAwaited();
                }
            }
        } catch (Throwable e) {
            timersLeft();
            unlockAll();
            throw e;
        }
    }

    /** Does a case if that needs no waiting. Returns whom to wake, or 0; CLOSED; BLOCKS. */
    private static long proceed(Scase k) {
        if (k.sends()) {
            return k.c.isClosed() ? Hchan.CLOSED : k.c.give(k.elem, k.longElem);
        }
        long sender = k.c.nextSender();
        if (sender != Hchan.BLOCKS) {
            received(k, sender);
        }
        return sender;
    }

    /** Pass 2 and 3; all locks are held. {@code e} is what may end the wait, null for nothing. */
    private Scase await(GStack st, SelectEnding e) {
        if (e != null && e.pending()) {
            timersLeft();
            unlockAll();
            boolean unused = e.timeUp(); // Else it throws.
            return LATE;
        }
        timersAwaited();
        long who = sudogs(st, e != null);
        boolean durable = true;
        for (int i = 0; i < live; i++) {
            Scase k = poll[i];
            durable &= k.c.durable();
            if (k.sends()) {
                k.c.setElem(k.sg, k.elem, k.longElem);
                k.c.sendq.enqueue(k.sg);
            } else {
                k.c.recvq.enqueue(k.sg);
            }
        }
        if (e != null) {
            e.waits(endSg);
            durable |= late != null && Bubble.current() != null; // A bubble's clock must not stand still for its timeout.
        }
        long woken = Waiting.awaitSelect(st, who, UNLOCK, this, lockCount,
                durable ? WaitReason.SELECT_DURABLE : WaitReason.SELECT);
        lockAll();
        Waiting.reopenSelect(st, who);
        Scase won = null;
        for (int i = 0; i < live; i++) {
            Scase k = poll[i];
            if (k.sg == woken) {
                won = k;
            } else if (k.sends()) {
                boolean unused = k.c.sendq.remove(k.sg);
            } else {
                boolean unused = k.c.recvq.remove(k.sg);
                k.c.timerLeft();
            }
        }
        if (e != null) {
            boolean unused = e.wokenLocked();
        }
        unlockAll();
        if (won != null) {
            won.ok = Sudog.success(woken) != 0;
            if (!won.sends()) {
                won.c.takeWoken(woken, won);
            }
        }
        for (int i = 0; i < live; i++) {
            Waiting.release(st, poll[i].sg);
        }
        if (e != null) {
            Waiting.release(st, endSg);
        }
        Waiting.releaseSelector(st, who);
        if (won == null) {
            boolean unused = e.timeUp(); // Else it throws.
            return LATE;
        }
        if (won.sends() && !won.ok) {
            throw Hchan.sendOnClosed();
        }
        return won;
    }

    /**
     * Takes a sudog for each case; without memory all and the locks are given back.
     *
     * @param ends whether something may end the wait, which takes one too
     * @return who waits
     */
    private long sudogs(GStack st, boolean ends) {
        long who = 0;
        int taken = 0;
        endSg = 0;
        try {
            who = Waiting.selector(st);
            if (ends) {
                endSg = Waiting.selectSudog(st, who);
            }
            for (; taken < live; taken++) {
                poll[taken].sg = Waiting.selectSudog(st, who);
            }
            return who;
        } catch (OutOfMemoryError e) {
            timersLeft();
            unlockAll();
            while (taken-- > 0) {
                Waiting.release(st, poll[taken].sg);
            }
            if (endSg != 0) {
                Waiting.release(st, endSg);
            }
            if (who != 0) {
                Waiting.releaseSelector(st, who);
            }
            throw e;
        }
    }

    /** Nobody waits after all. */
    private void timersLeft() {
        for (int i = 0; i < live; i++) {
            poll[i].c.timerLeft();
        }
    }

    private void lockAll() {
        for (int i = 0; i < lockCount; i++) {
            locks[i].lock.lock();
        }
    }

    private void unlockAll() {
        Hchan[] held = locks;
        int count = lockCount;
        for (int i = 0; i < count; i++) {
            held[i].lock.unlock();
        }
    }
}
