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
import org.gmp4j.sched.Bubble;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Deferred;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.timer.FuncTimer;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.wait.DoneChans;
import org.jspecify.annotations.Nullable;

/**
 * The state of a context that can be cancelled: whether it is cancelled, and the list of its children, which a cancel notifies. A derived
 * context without a cancel of its own uses the Cancellation of its parent.
 *
 * <p>The lock guards all writes of the fields, except those of {@link #sweep}, and of {@link #children} once {@link #err} is set. No code
 * of users runs while it is held. A cancel first sets {@link #err} under the lock. After it has released the lock, it closes the channel,
 * sets {@link #sweep}, stops the timer and notifies the children. If the method {@link #err()} finds err set and sweep null, it waits until
 * the channel is closed.
 *
 * <p>A cancel visits all contexts below its own in a sweep without recursion, by the lists of children and the references to parents. Once
 * {@link #err} is set, only the sweep of the cancel that set it changes the list of children. A cancel or a sweep that finds a context
 * cancelled by another sweep waits for the end of that sweep. So when any cancel returns, its whole tree is cancelled. (Go holds the lock
 * during the visit.) The waits form no cycle, because a sweep waits only for sweeps that began further down in the tree.
 *
 * <p>A cancel needs no memory, so that a deadline always takes effect. If there is no memory to start a function of {@link AfterFunc},
 * sysmon starts it later.
 */
final class Cancellation extends Child {
    private static final Chan<Void> CLOSED = Bubble.outside(new Make());
    /** A completed cancellation, for contexts that are cancelled as soon as they are made. */
    private static final Cancellation OVER = new Cancellation();

    static {
        DoneChans.close(CLOSED);
        OVER.over = CLOSED;
    }

    private final HeapMutex lock = new HeapMutex(LockRank.SEMA);
    /**
     * The bubble in which this was made; null for none. Once {@link #done()} has made the channel, only the bubble's goroutines may cancel
     * this.
     */
    private final @Nullable Bubble bubble = Bubble.current();
    /** The channel; null before the first call of {@link #done()}, which writes it once, with the lock held. */
    private volatile @Nullable Chan<Void> done;
    private @Nullable Child children;
    private @Nullable RuntimeTimer timer;
    private @Nullable Throwable cause;
    private volatile @Nullable ContextException err;
    /** The cancellation at which the sweep began that cancelled this: this object, or one above it. Null until {@link #done} is closed. */
    private volatile @Nullable Cancellation sweep;
    /** The thread of the sweep that began at this object; null if none runs. A thread reads it to find out whether the sweep is its own. */
    private volatile @Nullable Thread sweeper;
    /** The channel on which other threads wait for the end of the sweep that began at this object; CLOSED after its end. */
    private volatile @Nullable Chan<Void> over;

    Chan<Void> done() {
        Chan<Void> c = done;
        return c != null ? c : makeDone();
    }

    private Chan<Void> makeDone() {
        GStack st = GStack.enter();
        lock.lock();
        try { // The allocation may fail.
            Chan<Void> c = done;
            if (c == null) {
                c = bubble != null ? new Make().get() : Bubble.outside(new Make()); // The caller's bubble must not own the channel.
                done = c;
            }
            return c;
        } finally {
            lock.unlock();
            GStack.exit(st);
        }
    }

    /** Waits until the channel is closed. An interrupt does not end the wait. */
    private static void await(Chan<Void> c) {
        try {
            Object _ = c.recv();
        } catch (WaitInterruptedException e) {
            pause(); // The channel will be closed soon.
        }
    }

    /**
     * Yields to other goroutines, one of which will end the caller's wait. If the stack is deep, where a yield could fail, the caller is
     * pinned, so it does not yield and only spins.
     */
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
                pause(); // A caller outside the bubble must not wait on the channel, which is about to be closed.
            }
        }
        return e;
    }

    @Nullable Throwable cause() {
        return err() == null ? null : cause; // A cancel writes cause before err.
    }

    /**
     * Cancels this context and all contexts below it, and removes it from its parent. If this is cancelled already, waits until all
     * contexts below are cancelled, too.
     */
    void cancel(ContextException e, @Nullable Throwable why) {
        if (err == null && begin(e, why, this)) {
            try {
                sweepBelow();
            } finally {
                leave(this); // Called after the sweep, so that a cancel of the parent finds this context and waits for the sweep.
                over();
            }
        } else {
            awaitSweep();
        }
    }

    /**
     * Cancels only this context, as a step of the sweep that began at {@code by}.
     *
     * @return false when it is cancelled already
     * @throws IllegalStateException when its channel was made in a bubble to which the caller does not belong
     */
    private boolean begin(ContextException e, @Nullable Throwable why, Cancellation by) {
        GStack st = GStack.enterChecked(); // The caller has checked the stack for the whole tree.
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
            sweeper = Thread.currentThread(); // Written before err, because a thread that sees err may wait for the sweep.
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

    /** Cancels all contexts below, depth first. If children throw exceptions, this throws the first of them at the end. */
    @SuppressWarnings("NullAway") // Here err and cause are set, and each child below has a parent.
    private void sweepBelow() {
        Throwable refused = null;
        Cancellation at = this;
        for (;;) {
            Child child = at.children;
            if (child == null) {
                if (at == this) {
                    break;
                }
                at = at.parent; // This sweep has removed the context from its parent's list, so the parent is in this sweep, too.
                continue;
            }
            at.children = child.next;
            child.next = null; // A child that is still referenced must not keep its neighbours alive.
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
            throw JdkThreads.sneaky(refused);
        }
    }

    /** Waits until all contexts below are cancelled. Called when err is set. */
    private void awaitSweep() {
        Cancellation s = sweep;
        for (; s == null; s = sweep) {
            pause(); // The channel is being closed.
        }
        s.awaitOver();
    }

    /**
     * Waits until the sweep that began at this object has ended. On the sweep's own thread it returns at once, because a function that the
     * sweep calls may call cancel again.
     */
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
        } catch (OutOfMemoryError | WaitInterruptedException e) {
            // The other thread's sweep goes on, so this cancel takes effect. It must not fail, and waits without the channel.
            while (over != CLOSED) {
                pause();
            }
        }
    }

    /** Records that the sweep that began at this object has ended, and wakes the threads that wait for that. */
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

    @Override
    boolean parentCancelled(ContextException e, Throwable why, Cancellation by) {
        if (begin(e, why, by)) {
            return true;
        }
        awaitSweep();
        return false;
    }

    /** Adds {@code child}, which a cancel of this context notifies. If this context is cancelled already, notifies it at once. */
    @SuppressWarnings("NullAway") // If this is not live, err is set.
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
            boolean _ = child.parentCancelled(err(), cause, OVER); // The child has no children yet.
        }
    }

    /** Removes {@code child} from the list of its parent, if it is in one. */
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
        if (p.err == null && child.parent == p) { // If err is set, only a sweep changes the list.
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

    /** Sets a timer that cancels this context after {@code left}. The cause will be {@code why} if that is not null. */
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

    /** Returns whether this has children, or a timer is set. For tests. */
    boolean holdsAnything() {
        return children != null || timer != null;
    }

    /** Starts a function in the scheduler and the bubble of the goroutine that made this. */
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
            FuncTimer.run(s, bubble, fn);
        }
    }

    /** The function of the timer: see {@link #expire}. */
    private record Expiry(Cancellation of, @Nullable Throwable why) implements Runnable {
        @Override
        public void run() {
            of.cancel(Context.DEADLINE_EXCEEDED, why);
        }
    }

    /**
     * A function that is started when a context is cancelled, unless it is stopped before. As a BooleanSupplier this object stops the
     * function.
     */
    static final class AfterFunc extends Child implements BooleanSupplier {
        private final AtomicBoolean decided = new AtomicBoolean();
        private final Start start;

        AfterFunc(Runnable fn) {
            start = new Start(Objects.requireNonNull(fn, "f"), GStack.current());
        }

        @Override
        boolean parentCancelled(ContextException err, Throwable cause, Cancellation by) {
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

        /** Stops the function. Returns true if it will not be started. */
        @Override
        public boolean getAsBoolean() {
            Headroom.check(); // Once decided is set, leave must not fail.
            boolean stopped = decided.compareAndSet(false, true);
            if (stopped) {
                leave(this);
            }
            return stopped;
        }
    }

    /**
     * A function that runs when a context is cancelled, on the thread that cancels, unless it is stopped before. As a BooleanSupplier this
     * object stops the function.
     */
    static final class Told extends Child implements BooleanSupplier {
        private final AtomicBoolean decided = new AtomicBoolean();
        private final Runnable quick;

        Told(Runnable quick) {
            this.quick = Objects.requireNonNull(quick, "quick");
        }

        @Override
        boolean parentCancelled(ContextException err, Throwable cause, Cancellation by) {
            if (decided.compareAndSet(false, true)) {
                quick.run();
            }
            return false;
        }

        /**
         * Stops the function. Returns true if it will not run. The caller has checked the stack: this is called at the end of a wait, and
         * must not fail if the wait has taken effect.
         */
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
