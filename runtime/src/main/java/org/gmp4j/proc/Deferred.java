// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.lock.Note;
import org.gmp4j.struct.Schedt;

/**
 * Work that must be done, left by threads that have not the stack for it: sysmon does it, any scheduler's. A list that many
 * push to by CAS and one drains by exchanging it for null, so there is no ABA.
 *
 * <p>To add needs a few hundred bytes of stack, some thousand in the interpreter. Where not even those are left the error
 * comes out of the call before ours, as it would with the JDK's own scheduler: nobody can promise more than the JDK's
 * frames do, which changed the thread's state.
 */
public abstract class Deferred {
    private static final VarHandle HEAD;

    static {
        try {
            HEAD = MethodHandles.lookup().findStaticVarHandle(Deferred.class, "head", Deferred.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Stands in the list while no sysmon looks: nothing can be left then. */
    private static final Deferred CLOSED = new Deferred() {
        @Override
        protected void run() {
            throw new AssertionError("the end of the list");
        }
    };

    /** By anyone, through HEAD; to and from CLOSED under the class's lock. */
    private static volatile Deferred head = CLOSED;
    /** How many threads do what was left. */
    private static final AtomicInteger DRAINING = new AtomicInteger();
    /** How many sysmons there are that look; under the class's lock. */
    private static int drainers;

    private Deferred next;

    /** Work not yet left. */
    protected Deferred() {
    }

    /** Does it, on sysmon: must not wait for what user code may hold, nor throw. */
    protected abstract void run();

    /** A wake-up of the JDK: see {@link GStack#execute}. */
    static final class Wakeup extends Deferred {
        private final GStack st;
        private final Runnable task;

        Wakeup(GStack st, Runnable task) {
            this.st = st;
            this.task = task;
        }

        @Override
        protected void run() {
            if (st == null) {
                return; // The trial of begin.
            }
            try {
                JdkReady.executeNow(st, task);
            } catch (IllegalStateException | RejectedExecutionException e) {
                Stderr.print("gmp4j: a thread was not started, its Gmp is closed: " + task + "\n"); // Its starter is gone.
            }
        }
    }

    /** Leaves {@code d}; done within 60 ms. False, and nothing left, when no scheduler lives. */
    public static boolean add(Deferred d) {
        do {
            d.next = head;
            if (d.next == CLOSED) {
                return false;
            }
        } while (!HEAD.compareAndSet(d.next, d));
        return true;
    }

    /** Does what was left; of sysmon. */
    static void drain() {
        if (head == null) {
            return;
        }
        runAll(null);
    }

    /** Takes the list, leaves {@code end} there, and does what was left. */
    private static void runAll(Deferred end) {
        int _ = DRAINING.incrementAndGet(); // Before it is taken: see pending.
        try {
            run((Deferred) HEAD.getAndSet(end));
        } finally {
            var _ = DRAINING.decrementAndGet();
        }
    }

    /** Whether something is left, or is being done: it may ready a goroutine. The list first, as it is taken second. */
    static boolean pending() {
        Deferred d = head;
        return d != null && d != CLOSED || DRAINING.get() != 0;
    }

    /** Without memory it is left for the next look; at the very end, when there is none, done once there is some. */
    private void runOrLeave() {
        for (;;) {
            try {
                run();
                return;
            } catch (OutOfMemoryError e) {
                if (add(this)) {
                    return;
                }
                Thread.onSpinWait();
            }
        }
    }

    private static void run(Deferred newest) {
        Deferred list = null;
        for (Deferred d = newest; d != null;) { // In the order they came.
            Deferred after = d.next;
            d.next = list;
            list = d;
            d = after;
        }
        while (list != null) {
            Deferred d = list;
            list = d.next;
            d.runOrLeave();
        }
    }

    /** Has {@code s}'s sysmon look at once; else one looks within 60 ms. */
    static void ring(Scheduler s) {
        try {
            Note.ring(Schedt.sysmonnoteAddress(s.sched));
        } catch (StackOverflowError e) {
            return; // There is not even room for that.
        }
    }

    /** What {@link #begin} tries this out with, once. */
    static Deferred trial() {
        return new Wakeup(null, null);
    }

    /** A sysmon begins to look. Tries all of this out, as there would be no room to load and link it later. */
    static synchronized void begin(Deferred trial) {
        if (drainers++ == 0) {
            head = null;
        }
        boolean _ = add(trial);
        drain();
    }

    /** A sysmon looks no more; the last does what is left. */
    static synchronized void end() {
        if (--drainers == 0) {
            runAll(CLOSED); // What comes later is refused.
        } else {
            drain();
        }
    }
}
