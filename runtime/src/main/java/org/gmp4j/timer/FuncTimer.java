package org.gmp4j.timer;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.Bubble;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.proc.Waiting;

/** A timer that starts a function: as a goroutine of the scheduler where the timer was made, else as a virtual thread. */
public final class FuncTimer extends RuntimeTimer {
    private final Runnable fn;
    /** Null when it was made outside all schedulers. */
    private final Scheduler s;

    private FuncTimer(Runnable fn) {
        super(new HeapMutex(LockRank.SEMA));
        this.fn = fn;
        GStack st = GStack.current();
        s = st == null ? null : st.scheduler();
    }

    /** {@code time.AfterFunc}; from any thread. */
    public static FuncTimer start(long nanos, Runnable fn) {
        FuncTimer t = new FuncTimer(fn);
        GStack st = GStack.enter();
        t.lock.lock();
        try {
            t.when = t.in(nanos);
            t.arm();
        } finally { // There may be no memory for an alarm.
            t.lock.unlock();
            GStack.exit(st);
        }
        return t;
    }

    /** Starts {@code fn} as a goroutine of {@code s}, and of {@code b}; as a virtual thread when s is null or closing. */
    public static void run(Scheduler s, Bubble b, Runnable fn) {
        if (s != null && s.goFromTimer(b == null ? fn : b.wrap(fn))) {
            return;
        }
        Waiting.begins();
        boolean started = false;
        try {
            Thread unused = Thread.startVirtualThread(() -> {
                try {
                    fn.run();
                } finally {
                    Waiting.ends();
                }
            });
            started = true;
        } catch (OutOfMemoryError e) {
            Thread t = Thread.currentThread(); // It serves other timers too: it goes on, and this one is lost, not in silence.
            t.getUncaughtExceptionHandler().uncaughtException(t, e);
        } finally {
            if (!started) {
                Waiting.ends();
            }
        }
    }

    @Override
    protected void look(long now) {
        boolean fires = when != 0 && now >= when;
        if (fires) {
            when = 0;
            disarm();
        } else if (when != 0) {
            arm();
        }
        lock.unlock();
        if (fires) {
            run(s, bubble, fn);
        }
    }

    @Override
    public boolean stop() {
        lock.lock();
        boolean pending = when != 0;
        when = 0;
        disarm();
        lock.unlock();
        return pending;
    }

    @Override
    public boolean reset(long nanos) {
        lock.lock();
        boolean pending = when != 0;
        boolean armed = false;
        try {
            when = in(nanos);
            arm();
            armed = true;
        } finally {
            if (!armed) { // No memory for an alarm: it is stopped.
                when = 0;
            }
            lock.unlock();
        }
        return pending;
    }
}
