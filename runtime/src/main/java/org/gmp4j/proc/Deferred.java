// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.lock.Note;
import org.gmp4j.print.Stderr;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * Work that must be done, left by threads that do not have the stack for it: the sysmon of any scheduler does it. It is a list that
 * many push to by CAS and one drains by exchanging it for null, so there is no ABA.
 *
 * <p>To add needs a few hundred bytes of stack, a thousand or so in the interpreter. Where not even those are left, the JDK's own
 * frames overflow before they call us, as they would with the JDK's own scheduler. They have changed the thread's state by then, so we
 * can promise no more than they do.
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

    /** The list while no sysmon looks at it: nothing can be added then. */
    private static final Deferred CLOSED = new Deferred() {
        @Override
        protected void run() {
            throw new AssertionError("the end of the list");
        }
    };

    /** By anyone, through HEAD; to and from CLOSED under the class's lock. */
    private static volatile @Nullable Deferred head = CLOSED;
    /** How many threads are doing such work. */
    private static final AtomicInteger DRAINING = new AtomicInteger();
    /** The sysmons that look at the list, of which the first is rung. Written under the class's lock, read without it. */
    private static volatile @Nullable Drainer drainers;

    private @Nullable Deferred next;

    /** Work that is in no list yet. */
    protected Deferred() {
    }

    /** Does the work, on sysmon: must not wait for anything that user code may hold, nor throw. */
    protected abstract void run();

    /** A scheduler whose sysmon looks at the list. */
    static final class Drainer {
        private final Scheduler s;
        /** What is tried out once, so that all of this code has run: later there would be no room to load and link it. */
        private final Deferred trial = new Wakeup(null, null);
        /** Under the class's lock. */
        private @Nullable Drainer next;

        /** For a scheduler whose struct may not have been made yet. */
        Drainer(Scheduler s) {
            this.s = s;
        }
    }

    /** A wake-up of the JDK: see {@link GStack#execute}. */
    static final class Wakeup extends Deferred {
        private final @Nullable GStack st;
        private final @Nullable Runnable task;

        Wakeup(@Nullable GStack st, @Nullable Runnable task) {
            this.st = st;
            this.task = task;
        }

        @Override
        protected void run() {
            if (st == null || task == null) {
                return; // The trial of begin.
            }
            try {
                JdkReady.executeNow(st, task);
            } catch (IllegalStateException | RejectedExecutionException e) {
                Stderr.print("gmp4j: a thread was not started, its Gmp is closed: " + task + "\n"); // Its starter is gone.
            }
        }
    }

    /** Adds {@code d}, and wakes a sysmon, which does it. False, and nothing is added, when no scheduler lives. */
    public static boolean add(Deferred d) {
        do {
            d.next = head;
            if (d.next == CLOSED) {
                return false;
            }
        } while (!HEAD.compareAndSet(d.next, d));
        try {
            ring();
        } catch (StackOverflowError e) {
            return true; // There is no room even for that: a sysmon looks when its sleep ends, 10 s later at most.
        }
        return true;
    }

    /**
     * After the push. A sysmon that ends leaves the list of sysmons and then drains this one: so either the push comes before
     * that, or another sysmon is first here. One that sleeps clears its note before it looks.
     */
    private static void ring() {
        Drainer d = drainers;
        if (d != null) {
            Note.ringOrLeave(Schedt.sysmonnoteAddress(d.s.sched));
        }
    }

    /** Does the work in the list; called by sysmon. */
    static void drain() {
        if (head == null) {
            return;
        }
        runAll(null);
    }

    /** Takes the list, leaves {@code end} in its place, and does the work. */
    private static void runAll(@Nullable Deferred end) {
        int _ = DRAINING.incrementAndGet(); // Before it is taken: see pending.
        try {
            run((Deferred) HEAD.getAndSet(end));
        } finally {
            var _ = DRAINING.decrementAndGet();
        }
    }

    /** Whether there is work in the list or being done, which may ready a goroutine. Reads the list first, as runAll takes it second. */
    static boolean pending() {
        Deferred d = head;
        return d != null && d != CLOSED || DRAINING.get() != 0;
    }

    /** Without memory the work is put back for the next look; when the last sysmon ends, it is tried until there is memory. */
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

    /** A sysmon begins to look. Runs all of this code once, as there would be no room to load and link it later. */
    static synchronized void begin(Drainer d) {
        d.next = drainers;
        drainers = d;
        if (d.next == null) {
            head = null;
        }
        boolean _ = add(d.trial);
        drain();
    }

    /** A sysmon stops looking; the last one does what is in the list. */
    static synchronized void end(Drainer d) {
        Drainer first = drainers;
        if (first == d) {
            drainers = d.next; // Before the list is drained: see ring.
        } else {
            for (Drainer at = first; at != null; at = at.next) {
                if (at.next == d) {
                    at.next = d.next;
                }
            }
        }
        if (drainers == null) {
            runAll(CLOSED); // What comes later is refused.
        } else {
            drain();
        }
    }
}
