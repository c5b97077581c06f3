// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;

import org.gmp4j.config.Procs;
import org.gmp4j.sched.Bubble;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.Park;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.Syscall;
import org.gmp4j.stack.Goexit;
import org.gmp4j.struct.G;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.timer.TimerHeaps;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Waiting;

/**
 * The calls of a goroutine to its scheduler. All methods but {@link #inGoroutine} and {@link #numCPU} throw {@link IllegalStateException}
 * on a thread that is not a goroutine. Virtual threads that a {@link Gmp} runs are goroutines. Only {@link #sleep} and its forms, {@link
 * #blocking} and {@link #gomaxprocs} wait. An interrupt does not end the sleep of a goroutine of {@link #go}, and in a bubble of {@code
 * Synctest} a sleep goes by the bubble's clock. Thread-safe.
 *
 * <p>Source: the functions of Go's {@code runtime} and {@code time} packages with these names.
 */
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
            throw sneaky(Goexit.INSTANCE); // The program has caught the Goexit, so throw it again.
        }
        return st;
    }

    /**
     * Starts a goroutine on the scheduler of the calling goroutine. The caller's earlier actions happen before {@code fn} runs.
     *
     * @throws NullPointerException "go of nil func value"
     */
    public static void go(Runnable fn) {
        Objects.requireNonNull(fn, "go of nil func value");
        GStack st = self("go");
        Bubble b = st.bubble();
        if (b == null) {
            Newproc.newproc(st.scheduler(), fn);
            return;
        }
        Runnable member = b.wrap(fn);
        boolean started = false;
        try {
            Newproc.newproc(st.scheduler(), member);
            started = true;
        } finally {
            if (!started) {
                b.unwrap();
            }
        }
    }

    /**
     * Starts a goroutine with a result on the scheduler of the calling goroutine.
     *
     * @throws NullPointerException "go of nil func value"
     */
    public static <T> Task<T> async(Callable<T> fn) {
        Task<T> t = new Task<>();
        go(t.running(Objects.requireNonNull(fn, "go of nil func value")));
        return t;
    }

    /** Yields: lets other runnable goroutines run first. */
    public static void gosched() {
        Park.gosched(self("gosched"));
    }

    /**
     * Ends the goroutine, and runs its deferred work. It never returns: it throws a {@code Throwable}, so {@code finally} blocks run. This
     * is no {@code Exception}, so a {@code catch} of {@code Exception} does not catch it. If a {@code catch} of {@code Throwable} does, the
     * next call of a method of this class throws it again. Channels and locks work until the end, because a {@code finally} block may
     * need them.
     */
    public static void goexit() {
        GStack st = self("goexit");
        st.goexit();
        throw sneaky(Goexit.INSTANCE);
    }

    /** Defers {@code r}: this goroutine runs it at its end, in whatever way it ends. The work that was deferred last runs first. */
    public static void defer(Runnable r) {
        Objects.requireNonNull(r, "defer of nil func value");
        self("defer").defer(r);
    }

    /**
     * Sleeps for at least {@code d}, capped at 292 years. If {@code d} is zero or less, it only yields ({@link #gosched}).
     *
     * <p>Only goroutines may sleep. An interrupt ends the sleep of a virtual thread that a {@code Gmp} runs. A cancel of a {@code Task}
     * ends the sleep of its goroutine. Nothing ends the sleep of other goroutines early. In a bubble the sleep goes by the
     * bubble's clock.
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
     * Like {@link #sleep}, this sleeps for at least {@code d}, but an interrupt ends the sleep of any goroutine.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while it sleeps; the interrupt status is cleared
     */
    public static void sleepInterruptibly(Duration d) throws InterruptedException {
        sleep(self("sleepInterruptibly"), Limits.within(d).interruptibly());
    }

    /**
     * Like {@link #sleep}, this sleeps for at least {@code d}, but a cancel of {@code ctx} ends the sleep.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while the caller sleeps
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
     * Locks this goroutine to its thread: the goroutine runs only there, and no other goroutine runs there, until {@link #unlockOSThread}
     * has been called as often as this method. If the goroutine ends while it is locked, its thread ends, too.
     */
    public static void lockOSThread() {
        self("lockOSThread");
        Park.lockOSThread(true);
    }

    /** Undoes one call of {@link #lockOSThread}. If there is none, it does nothing. */
    public static void unlockOSThread() {
        self("unlockOSThread");
        Park.lockOSThread(false);
    }

    /**
     * Runs {@code c} as a system call: the goroutine releases its P until {@code c} returns, so that other goroutines run even if {@code c}
     * blocks the thread. If {@code c} calls the runtime, the goroutine takes a P again at that point. This method costs little compared
     * with a system call. Without it the scheduler notices a blocking call only after some milliseconds, and only while other goroutines
     * wait for the P.
     *
     * @throws Exception the exception of {@code c}
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

    /**
     * Yields if the scheduler has asked this goroutine to yield. Call it in loops to which the agent adds no preemption point. It costs a
     * few nanoseconds.
     */
    public static void preemptPoint() {
        self("preemptPoint");
        Park.preemptPoint();
    }

    /**
     * Sets the number of Ps of this goroutine's scheduler to {@code n}, at most 4096. This stops the world. If {@code n < 1}, it changes
     * nothing. Returns the old number.
     *
     * @throws IllegalArgumentException when {@code n} is more than 4096
     */
    public static int gomaxprocs(int n) {
        var s = self("gomaxprocs").scheduler();
        return n < 1 ? s.gomaxprocs() : StopTheWorld.setProcs(s, Procs.check(n));
    }

    /** Returns the number of live goroutines of this goroutine's scheduler. */
    public static int numGoroutine() {
        return self("numGoroutine").scheduler().gcount();
    }

    /** Returns the number of CPUs that this process may use. */
    public static int numCPU() {
        return Procs.numCPU();
    }

    /** Returns the id of this goroutine: 1 or more, never used twice in one scheduler. */
    public static long goid() {
        return G.GOID.get(self("goid").gp());
    }

    /** Returns whether the caller is a goroutine. */
    public static boolean inGoroutine() {
        return GStack.current() != null;
    }

    @SuppressWarnings("unchecked")
    static <T extends Throwable> RuntimeException sneaky(Throwable t) throws T {
        throw (T) t;
    }
}
