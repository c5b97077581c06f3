// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;

import org.gmp4j.proc.Bubble;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Park;
import org.gmp4j.proc.Syscall;
import org.gmp4j.stack.Goexit;
import org.gmp4j.struct.G;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.timer.TimerHeaps;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.NullMarked;

/**
 * What a goroutine can ask of its scheduler. All methods but {@link #inGoroutine} and {@link #numCPU} throw
 * {@link IllegalStateException} on a thread that is not a goroutine; virtual threads that a {@link Gmp} runs are goroutines. Only
 * {@link #sleep} waits: interrupts leave that of goroutines of {@link #go} alone, and in a bubble of {@code Synctest} it goes by its clock.
 * Source: the functions of Go's {@code runtime} and
 * {@code time} packages with these names.
 */
@NullMarked
public final class Go {
    private Go() {
    }

    private static GStack self(String what) {
        GStack st = GStack.current();
        if (st == null) {
            throw new IllegalStateException(
                    "Go." + what + " was called outside a goroutine: start one with Gmp.main, Gmp.run or Gmp.go");
        }
        if (st.exiting()) {
            throw sneaky(Goexit.INSTANCE); // Swallowed before: it goes on here.
        }
        return st;
    }

    /**
     * Starts a goroutine on the scheduler of the calling one. All that was done before happens before {@code fn} runs.
     *
     * @throws NullPointerException "go of nil func value"
     */
    public static void go(Runnable fn) {
        Objects.requireNonNull(fn, "go of nil func value");
        GStack st = self("go");
        Bubble b = st.bubble();
        if (b == null) {
            st.scheduler().go(fn);
            return;
        }
        Runnable member = b.wrap(fn);
        boolean started = false;
        try {
            st.scheduler().go(member);
            started = true;
        } finally {
            if (!started) {
                b.unwrap();
            }
        }
    }

    /**
     * Starts a goroutine with a result on the scheduler of the calling one.
     *
     * @throws NullPointerException "go of nil func value"
     */
    public static <T> Task<T> async(Callable<T> fn) {
        Task<T> t = new Task<>();
        go(t.running(Objects.requireNonNull(fn, "go of nil func value")));
        return t;
    }

    /** Lets all other runnable goroutines go first. */
    public static void gosched() {
        Park.gosched(self("gosched"));
    }

    /**
     * Runs the deferred work and ends the goroutine. It runs {@code finally} blocks on the way, is no {@code Exception}, and
     * never returns. If code on the way swallows it (a {@code catch} of {@code Throwable}), it goes on at the next call of this class.
     * Channels and locks still work meanwhile, for a {@code finally} may need them.
     */
    public static void goexit() {
        GStack st = self("goexit");
        st.goexit();
        throw sneaky(Goexit.INSTANCE);
    }

    /** Has {@code r} run on this goroutine when it ends, however it ends. What is deferred last runs first. */
    public static void defer(Runnable r) {
        Objects.requireNonNull(r, "defer of nil func value");
        self("defer").defer(r);
    }

    /**
     * Sleeps for at least {@code d}; zero or less is {@link #gosched}. Longest: 292 years.
     *
     * <p>Goroutines alone may sleep, not other threads. An interrupt ends the sleep of a virtual thread that a
     * {@code Gmp} runs, and of a cancelled {@code Task}; that of others goes on. In a bubble it is a sleep by its
     * clock.
     *
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it sleeps
     */
    public static void sleep(Duration d) {
        GStack st = self("sleep");
        long nanos = RuntimeTimer.nanos(d);
        if (nanos <= 0) {
            Park.gosched(st);
        } else if (st.endsByInterrupt()) {
            boolean _ = Waiting.rest(Limits.within(d), WaitReason.SLEEP);
        } else {
            TimerHeaps.sleep(st, nanos);
        }
    }

    /**
     * As {@link #sleep}, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while it sleeps; the interrupt status is cleared
     */
    public static void sleepInterruptibly(Duration d) throws InterruptedException {
        sleep(self("sleepInterruptibly"), Limits.within(d).interruptibly());
    }

    /**
     * As {@link #sleep}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while it sleeps
     * @throws WaitInterruptedException as {@link #sleep}
     */
    public static void sleepUnless(Cancelable ctx, Duration d) {
        Limits within = Limits.within(d);
        sleep(self("sleepUnless"), new Limits(within.interrupts(), within.nanos(), Objects.requireNonNull(ctx, "ctx")));
    }

    private static void sleep(GStack st, Limits limits) {
        if (limits.expired()) {
            limits.check();
            Park.gosched(st);
        } else {
            boolean _ = Waiting.rest(limits, WaitReason.SLEEP);
        }
    }

    /**
     * Binds this goroutine to its thread: it runs there and nothing else does, until {@link #unlockOSThread} was called as often.
     * A goroutine that ends locked ends the thread.
     */
    public static void lockOSThread() {
        self("lockOSThread");
        Park.lockOSThread(true);
    }

    /** Undoes one {@link #lockOSThread}; does nothing when there is none. */
    public static void unlockOSThread() {
        self("unlockOSThread");
        Park.lockOSThread(false);
    }

    /**
     * Runs {@code c} as a system call: the goroutine gives its P up while it lasts, so that a thread that blocks in there
     * holds no other goroutine up. A call of the runtime inside ends that early. About 20 ns; calls that block without it are found
     * by the scheduler when others wait: within a millisecond or so, with the default quantum within 2.5 (0.5 where there was one
     * lately).
     *
     * @throws Exception what {@code c} threw
     */
    public static <T> T blocking(Callable<T> c) throws Exception {
        GStack st = self("blocking");
        Syscall.enter(st);
        try {
            return c.call();
        } finally {
            Syscall.exit(st);
        }
    }

    /** A point where this goroutine yields if it was told to: for loops that the agent cannot see. A few nanoseconds. */
    public static void preemptPoint() {
        self("preemptPoint");
        Park.preemptPoint();
    }

    /**
     * Sets the number of Ps of this goroutine's scheduler and returns the old one; {@code n < 1} only reads. Stops the
     * world.
     */
    public static int gomaxprocs(int n) {
        var s = self("gomaxprocs").scheduler();
        return n < 1 ? s.gomaxprocs() : s.setProcs(Procs.check(n));
    }

    /** How many goroutines of this scheduler live. */
    public static int numGoroutine() {
        return self("numGoroutine").scheduler().gcount();
    }

    /** How many CPUs this process may use. */
    public static int numCPU() {
        return Procs.numCPU();
    }

    /** The number of this goroutine: from 1, never used twice in one scheduler. */
    public static long goid() {
        return G.GOID.get(self("goid").gp());
    }

    /** Whether the caller is a goroutine. */
    public static boolean inGoroutine() {
        return GStack.current() != null;
    }

    @SuppressWarnings("unchecked")
    static <T extends Throwable> RuntimeException sneaky(Throwable t) throws T {
        throw (T) t;
    }
}
