// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.context;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.gmp4j.Chan;
import org.gmp4j.WaitInterruptedException;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.Bubble;
import org.gmp4j.proc.Deferred;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.timer.FuncTimer;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.wait.DoneChans;
import org.jspecify.annotations.Nullable;

/**
 * What a context that can be cancelled shares with those derived from it: whether it is cancelled, and what is to be told.
 *
 * <p>The lock guards what stands here and is held over no call: the channel is closed, the timer stopped and the children
 * are told after it is free. These are two steps: {@link #err} waits for the channel to be closed if it finds that only the first is done.
 *
 * <p>A cancel goes through all that is below without recursion: the lists of children and the references to parents are the
 * work that is left. Once {@link #err} is set the list of children belongs to the cancel that set it, and no other changes
 * it. A cancel that finds a context cancelled by another one waits until that other has told everything below it, so that
 * after any cancel has returned all of its tree is cancelled (Go holds the lock meanwhile). These waits make no circle: a
 * cancel only waits for one that began further down in the tree.
 *
 * <p>A cancel takes no memory, so that a deadline takes effect without any. Functions that there was no memory to start are started by
 * sysmon.
 */
final class Cancellation extends Child {
    private static final Chan<Void> CLOSED = Bubble.outside(new Make());
    /** Stands for a cancel that has ended. */
    private static final Cancellation OVER = new Cancellation();

    static {
        DoneChans.close(CLOSED);
        OVER.over = CLOSED;
    }

    private final HeapMutex lock = new HeapMutex(LockRank.SEMA);
    /** The bubble it was made in; null for none. Only its goroutines may cancel this once the channel is made. */
    private final @Nullable Bubble bubble = Bubble.current();
    /** Made when first asked for; written under the lock, once. */
    private volatile @Nullable Chan<Void> done;
    private @Nullable Child children;
    private @Nullable RuntimeTimer timer;
    private @Nullable Throwable cause;
    private volatile @Nullable ContextException err;
    /** Where the cancel began that set err, and has closed the channel: here or above. */
    private volatile @Nullable Cancellation sweep;
    /** Of a cancel that began here: its thread, which alone asks; and the channel that others wait on, CLOSED at its end. */
    private volatile @Nullable Thread sweeper;
    private volatile @Nullable Chan<Void> over;

    Chan<Void> done() {
        Chan<Void> c = done;
        return c != null ? c : makeDone();
    }

    private Chan<Void> makeDone() {
        GStack st = GStack.enter();
        lock.lock();
        try { // There may be no memory for it.
            Chan<Void> c = done;
            if (c == null) {
                c = bubble != null ? new Make().get() : Bubble.outside(new Make()); // Not of a caller's bubble.
                done = c;
            }
            return c;
        } finally {
            lock.unlock();
            GStack.exit(st);
        }
    }

    /** Until it is closed, or an interrupt comes. */
    private static void await(Chan<Void> c) {
        try {
            Object _ = c.recv();
        } catch (WaitInterruptedException e) {
            pause(); // It is about to be closed, and the interrupt is for others.
        }
    }

    /** Lets others run, one of which ends what is waited for. Deep down it only spins, as a yield could be refused there. */
    private static void pause() {
        boolean deep = GStack.pinIfDeep();
        try {
            Thread.yield();
        } finally {
            if (deep) {
                JdkThreads.unpin();
            }
        }
    }

    @Nullable ContextException err() {
        ContextException e = err;
        if (e != null && sweep == null) {
            if (bubble == Bubble.current()) {
                await(done());
            }
            while (sweep == null) {
                pause(); // The channel may be for the bubble alone; the cancel under way is about to end.
            }
        }
        return e;
    }

    @Nullable Throwable cause() {
        return err() == null ? null : cause; // Written before err.
    }

    /** Cancels it and all below, and leaves the parent; when it is cancelled already, waits until all below is too. */
    void cancel(Exception e, @Nullable Throwable why) {
        if (err != null) {
            awaitSweep();
            return;
        }
        if (begin((ContextException) e, why, this)) {
            try {
                sweepBelow();
            } finally {
                leave(this); // Only now: until then a cancel of the parent finds it, and waits for this one.
                over();
            }
        } else {
            awaitSweep();
        }
    }

    /**
     * Cancels it alone, in a cancel that began at {@code by}.
     *
     * @return false when it is cancelled already
     * @throws IllegalStateException when it belongs to a bubble, and the caller does not
     */
    private boolean begin(ContextException e, @Nullable Throwable why, Cancellation by) {
        GStack st = GStack.enterChecked(); // The caller has asked for room, for all of the tree.
        lock.lock();
        boolean refused = err == null && bubble != null && done != null && Bubble.current() != bubble;
        if (err != null || refused) {
            lock.unlock();
            GStack.exit(st);
            if (refused) {
                throw new IllegalStateException("close of synctest channel from outside bubble");
            }
            return false;
        }
        if (by == this) {
            sweeper = Thread.currentThread(); // Before err: a thread that sees err may come to wait.
        }
        cause = why == null ? e : why;
        err = e;
        Chan<Void> c = done;
        if (c == null) {
            done = CLOSED;
        }
        RuntimeTimer t = timer;
        timer = null;
        lock.unlock();
        if (c != null) {
            DoneChans.close(c);
        }
        sweep = by;
        if (t != null) {
            boolean _ = t.stop();
        }
        GStack.exit(st);
        return true;
    }

    /** Cancels everything below, depth first; what one refuses is thrown after the last. */
    @SuppressWarnings("NullAway") // With err and cause set; what is below has a parent.
    private void sweepBelow() {
        Throwable refused = null;
        Cancellation at = this;
        for (;;) {
            Child child = at.children;
            if (child == null) {
                if (at == this) {
                    break;
                }
                at = at.parent; // Of the same sweep: it is this one's, and in its list until now.
                continue;
            }
            at.children = child.next;
            child.next = null; // So that one that is kept keeps none of its neighbours.
            child.prev = null;
            try {
                if (child.parentCancelled(err, cause, this)) {
                    at = (Cancellation) child;
                }
            } catch (RuntimeException | Error e) {
                refused = refused == null ? e : refused;
            }
        }
        if (refused != null) {
            throw Cancellation.<RuntimeException>sneaky(refused);
        }
    }

    /** With err set: waits until all below is cancelled. */
    private void awaitSweep() {
        Cancellation s = sweep;
        for (; s == null; s = sweep) {
            pause(); // The channel is being closed.
        }
        s.awaitOver();
    }

    /** Waits until the sweep that began here has ended; not on its own thread: what it starts may come back to it. */
    private void awaitOver() {
        if (sweeper == Thread.currentThread() || over == CLOSED) {
            return;
        }
        try {
            Chan<Void> fresh = Bubble.outside(new Make());
            GStack st = GStack.enter();
            lock.lock();
            if (over == null) {
                over = fresh;
            }
            lock.unlock();
            GStack.exit(st);
            Object _ = over.recv();
        } catch (OutOfMemoryError | WaitInterruptedException e) { // Others cancel, and will have: there is nothing to refuse.
            while (over != CLOSED) {
                pause();
            }
        }
    }

    /** The sweep that began here has ended. */
    private void over() {
        GStack st = GStack.enterChecked();
        lock.lock();
        Chan<Void> c = over;
        over = CLOSED;
        sweeper = null;
        lock.unlock();
        GStack.exit(st);
        if (c != null) {
            DoneChans.close(c);
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E sneaky(Throwable t) throws E {
        throw (E) t;
    }

    @Override
    boolean parentCancelled(Exception e, Throwable why, Cancellation by) {
        if (begin((ContextException) e, why, by)) {
            return true;
        }
        awaitSweep();
        return false;
    }

    /** Has {@code child} told when this is cancelled; at once if it is already. */
    @SuppressWarnings("NullAway") // Without err it is live.
    void add(Child child) {
        GStack st = GStack.enter();
        lock.lock();
        boolean live = err == null;
        if (live) {
            child.parent = this;
            child.next = children;
            if (children != null) {
                children.prev = child;
            }
            children = child;
        }
        lock.unlock();
        GStack.exit(st);
        if (!live) {
            boolean _ = child.parentCancelled(err(), cause, OVER); // It has nothing below yet.
        }
    }

    /** Takes {@code child} off the list of its parent, if it is in one. */
    static void leave(Child child) {
        if (child.parent != null) {
            leave(child, GStack.enterToGive());
        }
    }

    private static void leave(Child child, @Nullable GStack st) {
        Cancellation p = child.parent;
        if (p == null) {
            GStack.exit(st);
            return;
        }
        p.lock.lock();
        if (p.err == null && child.parent == p) { // Else the list is being told.
            if (child.prev == null) {
                p.children = child.next;
            } else {
                child.prev.next = child.next;
            }
            if (child.next != null) {
                child.next.prev = child.prev;
            }
            child.parent = null;
        }
        p.lock.unlock();
        GStack.exit(st);
    }

    /** Cancels it when {@code left} has passed, because of {@code why} if not null. */
    void expire(Duration left, @Nullable Throwable why) {
        RuntimeTimer t = FuncTimer.start(RuntimeTimer.nanos(left), new Expiry(this, why));
        GStack st = GStack.enter();
        lock.lock();
        boolean live = err == null;
        if (live) {
            timer = t;
        }
        lock.unlock();
        if (!live) {
            boolean _ = t.stop();
        }
        GStack.exit(st);
    }

    /** Whether anything is told when this is cancelled, and whether a timer is set: for tests. */
    boolean holdsAnything() {
        return children != null || timer != null;
    }

    /** Starts a function where it belongs. */
    private static final class Start extends Deferred {
        private final Runnable fn;
        private final @Nullable Scheduler s;
        private final @Nullable Bubble bubble;

        Start(Runnable fn, @Nullable GStack st) {
            this.fn = fn;
            s = st == null ? null : st.scheduler();
            bubble = st == null ? null : st.bubble();
        }

        @Override
        protected void run() {
            FuncTimer.tryRun(s, bubble, fn);
        }
    }

    /** The end of the time, because of {@code why} if not null. A class: a lambda would be linked when memory may be short. */
    private record Expiry(Cancellation of, @Nullable Throwable why) implements Runnable {
        @Override
        public void run() {
            of.cancel(Context.DEADLINE_EXCEEDED, why);
        }
    }

    /** A function that is started when a context is cancelled, or never when it is stopped before; and what stops it. */
    static final class AfterFunc extends Child implements BooleanSupplier {
        private final AtomicBoolean decided = new AtomicBoolean();
        private final Start start;

        AfterFunc(Runnable fn) {
            start = new Start(Objects.requireNonNull(fn, "f"), GStack.current());
        }

        @Override
        boolean parentCancelled(Exception err, Throwable cause, Cancellation by) {
            if (decided.compareAndSet(false, true)) {
                try {
                    start.run();
                } catch (OutOfMemoryError e) {
                    if (!Deferred.add(start)) {
                        throw e; // No scheduler lives.
                    }
                }
            }
            return false;
        }

        @Override
        public boolean getAsBoolean() {
            return stop();
        }

        /** True if it will not be started. */
        boolean stop() {
            Headroom.check(); // Once decided it leaves.
            boolean stopped = decided.compareAndSet(false, true);
            if (stopped) {
                leave(this);
            }
            return stopped;
        }
    }

    /** Runs a function when a context is cancelled, on the thread that does; or never when it is stopped before. */
    static final class Told extends Child implements BooleanSupplier {
        private final AtomicBoolean decided = new AtomicBoolean();
        private final Runnable quick;

        Told(Runnable quick) {
            this.quick = Objects.requireNonNull(quick, "quick");
        }

        @Override
        boolean parentCancelled(Exception err, Throwable cause, Cancellation by) {
            if (decided.compareAndSet(false, true)) {
                quick.run();
            }
            return false;
        }

        /** The end of a wait that has come to something must not fail: its caller has made sure that there is room. */
        @Override
        public boolean getAsBoolean() {
            boolean stopped = decided.compareAndSet(false, true);
            if (stopped) {
                leave(this, GStack.enterChecked());
            }
            return stopped;
        }
    }

    private static final class Make implements Supplier<Chan<Void>> {
        @Override
        public Chan<Void> get() {
            return DoneChans.keep(Chan.make());
        }
    }
}
