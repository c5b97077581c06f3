package org.gmp4j.context;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Chan;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.Bubble;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.stack.Headroom;
import org.gmp4j.timer.FuncTimer;
import org.gmp4j.timer.RuntimeTimer;

/**
 * What a context that can be cancelled shares with those derived from it: whether it is, and who is told.
 *
 * <p>The lock guards what stands here and is held over no call: the channel is closed, the timer stopped and the children
 * are told after it is free. That has two steps, so {@link #err} waits for the channel when it finds the first done.
 */
final class Cancellation extends Child {
    private static final Chan<Void> CLOSED = Bubble.outside(Chan::make);

    static {
        CLOSED.close();
    }

    private final HeapMutex lock = new HeapMutex(LockRank.SEMA);
    /** The bubble it was made in; null for none. Only its goroutines may cancel this once the channel is made. */
    private final Bubble bubble = Bubble.current();
    /** Made when first asked for; written under the lock, once. */
    private volatile Chan<Void> done;
    private Child children;
    private RuntimeTimer timer;
    private Throwable cause;
    private volatile Exception err;
    /** Follows err: the channel is closed. */
    private volatile boolean closed;

    Chan<Void> done() {
        Chan<Void> c = done;
        return c != null ? c : makeDone();
    }

    private Chan<Void> makeDone() {
        GStack st = GStack.enter();
        lock.lock();
        Chan<Void> c = done;
        if (c == null) {
            c = bubble != null ? Chan.make() : Bubble.outside(Chan::make); // Not that of whoever asks first.
            done = c;
        }
        lock.unlock();
        GStack.exit(st);
        return c;
    }

    Exception err() {
        Exception e = err;
        if (e != null && !closed) {
            if (bubble == Bubble.current()) {
                Object unused = done().recv();
            } else {
                while (!closed) {
                    Thread.yield(); // The channel may be for the bubble alone; the cancel under way is about to end.
                }
            }
        }
        return e;
    }

    Throwable cause() {
        return err() == null ? null : cause; // Written before err.
    }

    /** Cancels it, leaves the parent, tells the children; nothing when it is cancelled already. */
    void cancel(Exception e, Throwable why) {
        GStack st = GStack.enter();
        lock.lock();
        boolean refused = err == null && bubble != null && done != null && Bubble.current() != bubble;
        if (err != null || refused) {
            lock.unlock();
            GStack.exit(st);
            if (refused) {
                throw new IllegalStateException("close of synctest channel from outside bubble");
            }
            return;
        }
        cause = why == null ? e : why;
        err = e;
        Chan<Void> c = done;
        if (c == null) {
            done = CLOSED;
        }
        Child told = children;
        children = null;
        RuntimeTimer t = timer;
        timer = null;
        lock.unlock();
        if (c != null) {
            close(c);
        }
        closed = true;
        if (t != null) {
            boolean unused = t.stop();
        }
        leave(this);
        GStack.exit(st);
        tell(told);
    }

    /** Tells all of a list that nobody changes, since it is no longer ours; what one refuses is thrown after the last. */
    private void tell(Child told) {
        IllegalStateException refused = null;
        while (told != null) {
            Child child = told;
            told = child.next;
            try {
                child.parentCancelled(err, cause);
            } catch (IllegalStateException e) {
                refused = e;
            }
        }
        if (refused != null) {
            throw refused;
        }
    }

    private static void close(Chan<Void> c) {
        try {
            c.close();
        } catch (IllegalStateException misused) {
            // Somebody closed what is only for receiving. Whoever waited knows; the children are still to be told.
        }
    }

    @Override
    void parentCancelled(Exception e, Throwable why) {
        cancel(e, why);
    }

    /** Has {@code child} told; at once if this is cancelled already. */
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
            child.parentCancelled(err(), cause);
        }
    }

    /** Takes {@code child} off the list of its parent, if it is in one. */
    static void leave(Child child) {
        Cancellation p = child.parent;
        if (p == null) {
            return;
        }
        GStack st = GStack.enter();
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
    void expire(Duration left, Throwable why) {
        RuntimeTimer t = FuncTimer.start(RuntimeTimer.nanos(left), () -> cancel(Context.DEADLINE_EXCEEDED, why));
        GStack st = GStack.enter();
        lock.lock();
        boolean live = err == null;
        if (live) {
            timer = t;
        }
        lock.unlock();
        if (!live) {
            boolean unused = t.stop();
        }
        GStack.exit(st);
    }

    /** Whether anything is told when this is cancelled, and whether a timer is set: for tests. */
    boolean holdsAnything() {
        return children != null || timer != null;
    }

    /** A function that is started when a context is cancelled, or never when it is stopped before. */
    static final class AfterFunc extends Child {
        private final AtomicBoolean decided = new AtomicBoolean();
        private final Runnable fn;
        private final Scheduler s;
        private final Bubble bubble;

        AfterFunc(Runnable fn) {
            this.fn = Objects.requireNonNull(fn, "f");
            GStack st = GStack.current();
            s = st == null ? null : st.scheduler();
            bubble = st == null ? null : st.bubble();
        }

        @Override
        void parentCancelled(Exception err, Throwable cause) {
            if (decided.compareAndSet(false, true)) {
                FuncTimer.run(s, bubble, fn);
            }
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
}
