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
 * The state that a context that can be cancelled shares with the contexts derived from it: whether it is cancelled, and the list of
 * children that a cancel notifies.
 *
 * <p>The lock guards the fields and is held during no call. A cancel first sets {@link #err} under the lock. After it has released the
 * lock, it closes the channel, stops the timer and notifies the children. If {@link #err} finds that only the first step is done, it waits
 * until the channel is closed.
 *
 * <p>A cancel visits all contexts below without recursion: the lists of children and the references to parents hold the work that is left.
 * Once {@link #err} is set, the list of children belongs to the cancel that set it, and no other cancel changes it. A cancel that finds a
 * context cancelled by another cancel waits until that one has notified everything below. So after any cancel has returned, its whole tree
 * is cancelled. (Go holds the lock meanwhile.) These waits form no cycle, as a cancel waits only for one that began further down in the
 * tree.
 *
 * <p>A cancel allocates nothing, so that a deadline takes effect without free memory. Sysmon starts the functions for whose start there was
 * no memory.
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
    /** The bubble in which this was made; null for none. Only its goroutines may cancel this once the channel is made. */
    private final @Nullable Bubble bubble = Bubble.current();
    /** The channel. The first call of {@link #done()} makes it, and writes it once, with the lock held. */
    private volatile @Nullable Chan<Void> done;
    private @Nullable Child children;
    private @Nullable RuntimeTimer timer;
    private @Nullable Throwable cause;
    private volatile @Nullable ContextException err;
    /** The cancellation, this one or one above, at which the cancel began that has set err and closed the channel. */
    private volatile @Nullable Cancellation sweep;
    /** The thread of a cancel that began here. Only that thread compares it. */
    private volatile @Nullable Thread sweeper;
    /** The channel on which other threads wait for the end of that cancel; CLOSED after its end. */
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
                c = bubble != null ? new Make().get() : Bubble.outside(new Make()); // It must not belong to the caller's bubble.
                done = c;
            }
            return c;
        } finally {
            lock.unlock();
            GStack.exit(st);
        }
    }

    /** Waits until the channel is closed, or an interrupt comes. */
    private static void await(Chan<Void> c) {
        try {
            Object _ = c.recv();
        } catch (WaitInterruptedException e) {
            pause(); // The channel is about to be closed, and the interrupt is not meant for this wait.
        }
    }

    /**
     * Yields to other goroutines, one of which ends the wait. Deep on the stack it is pinned and only spins, as a yield could fail there.
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
                pause(); // Only goroutines of the bubble may wait on the channel. The cancel that runs is about to end.
            }
        }
        return e;
    }

    @Nullable Throwable cause() {
        return err() == null ? null : cause; // Written before err.
    }

    /** Cancels this and all below, and leaves the parent. If this is cancelled already, waits until all below is cancelled, too. */
    void cancel(Exception e, @Nullable Throwable why) {
        if (err != null) {
            awaitSweep();
            return;
        }
        if (begin((ContextException) e, why, this)) {
            try {
                sweepBelow();
            } finally {
                leave(this); // This comes last. Until then a cancel of the parent finds this context, and waits for this cancel.
                over();
            }
        } else {
            awaitSweep();
        }
    }

    /**
     * Cancels only this context, in a cancel that began at {@code by}.
     *
     * @return false when it is cancelled already
     * @throws IllegalStateException when its channel was made in a bubble to which the caller does not belong
     */
    private boolean begin(ContextException e, @Nullable Throwable why, Cancellation by) {
        GStack st = GStack.enterChecked(); // The caller has checked that the stack has room for the whole tree.
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
            sweeper = Thread.currentThread(); // Written before err, since a thread that sees err may wait for the sweep.
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

    /** Cancels everything below, depth first. If a child throws an exception, this throws the first one at the end. */
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
                at = at.parent; // The sweep took this context off the list of its parent, which so belongs to the same sweep.
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
            throw Cancellation.<RuntimeException>sneaky(refused);
        }
    }

    /** Waits until all below is cancelled. The field err is set. */
    private void awaitSweep() {
        Cancellation s = sweep;
        for (; s == null; s = sweep) {
            pause(); // The channel is being closed.
        }
        s.awaitOver();
    }

    /** Waits until the sweep that began here has ended. On the sweep's own thread it does not wait, as a function may call cancel again. */
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

    /** Records that the sweep that began here has ended, and wakes the threads that wait for that. */
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

    /** Adds {@code child}, which is notified when this is cancelled, or at once if it is cancelled already. */
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
        if (p.err == null && child.parent == p) { // Otherwise the list belongs to a cancel.
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

    /** Returns whether there are children, or a timer is set, for tests. */
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

    /** A function that is started when a context is cancelled, unless it is stopped before. It is also the object that stops it. */
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

        /** Stops the function. Returns true if it will not be started. */
        boolean stop() {
            Headroom.check(); // Once decided it leaves.
            boolean stopped = decided.compareAndSet(false, true);
            if (stopped) {
                leave(this);
            }
            return stopped;
        }
    }

    /** Runs a function when a context is cancelled, on the thread that cancels, unless it is stopped before. */
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
