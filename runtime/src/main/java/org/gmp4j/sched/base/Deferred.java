// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.lock.Note;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * Work that a thread leaves to the sysmon of any scheduler, because its own stack has too little room. Many threads push to a list by CAS,
 * and a sysmon takes the whole list by an exchange with null, so there is no ABA problem.
 *
 * <p>{@link #add} itself needs little stack. If even that is missing, the JDK's own frames overflow before they call the runtime, as they
 * do with the JDK's own scheduler.
 */
public abstract class Deferred {
    /** The value of the list while no sysmon drains it, so that nothing can be added. */
    private static final Deferred CLOSED = new Deferred() {
        @Override
        protected void run() {
            throw new AssertionError("the end of the list");
        }
    };

    /** The newest work in the list. Written by any thread; changed to and from CLOSED under the class's lock. */
    private static final AtomicReference<@Nullable Deferred> HEAD = new AtomicReference<>(CLOSED);
    /** The number of threads that are doing work from the list. */
    private static final AtomicInteger DRAINING = new AtomicInteger();
    /** The sysmons that drain the list; {@link #ring} wakes the first. Written under the class's lock, read without it. */
    private static volatile @Nullable Drainer drainers;

    private @Nullable Deferred next;

    /** Makes work that is in no list yet. */
    protected Deferred() {
    }

    /** Does the work. Called on sysmon. It must not wait for a lock that user code may hold, and must not throw. */
    protected abstract void run();

    /** A scheduler whose sysmon drains the list. */
    public static final class Drainer {
        private final Scheduler s;
        /** Work that is done once as a trial, because later there may be no room to load and link this code. */
        private final Deferred trial = new Trial();
        /** The next in {@link #drainers}. Accessed under the class's lock. */
        private @Nullable Drainer next;

        /** Makes the drainer of a scheduler, whose struct may not exist yet. */
        public Drainer(Scheduler s) {
            this.s = s;
        }
    }

    /** Work that has nothing to do. */
    private static final class Trial extends Deferred {
        @Override
        protected void run() {
            // There is nothing to do.
        }
    }

    /** Adds {@code d}, and wakes a sysmon to do it. Returns false, and adds nothing, when no scheduler lives. */
    public static boolean add(Deferred d) {
        do {
            d.next = HEAD.get();
            if (d.next == CLOSED) {
                return false;
            }
        } while (!HEAD.compareAndSet(d.next, d));
        try {
            ring();
        } catch (StackOverflowError e) {
            return true; // There is no room for the wake-up. A sysmon drains the list when its sleep ends, 10 s later at most.
        }
        return true;
    }

    /**
     * Wakes a sysmon after a push. A sysmon that ends leaves the list of drainers before it drains the work for the last time. So either
     * the push comes before that drain, or this method finds another sysmon first in the list. A sysmon that sleeps clears its note before
     * it drains.
     */
    private static void ring() {
        Drainer d = drainers;
        if (d != null) {
            Note.ringOrLeave(Schedt.sysmonnoteAddress(d.s.sched));
        }
    }

    /** Does the work in the list. Called by sysmon. */
    public static void drain() {
        if (HEAD.get() == null) {
            return;
        }
        runAll(null);
    }

    /** Takes the list, leaves {@code end} in its place, and does the work. */
    private static void runAll(@Nullable Deferred end) {
        int _ = DRAINING.incrementAndGet(); // Before the list is taken: see pending.
        try {
            run(HEAD.getAndSet(end));
        } finally {
            var _ = DRAINING.decrementAndGet();
        }
    }

    /**
     * Returns whether any work is in the list or being done. Such work may ready a goroutine. This method reads the list before the count,
     * because runAll writes the count before the list.
     */
    public static boolean pending() {
        Deferred d = HEAD.get();
        return d != null && d != CLOSED || DRAINING.get() != 0;
    }

    /** Does the work, or puts it back if there is no memory. If the list is closed, tries until there is memory. */
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

    private static void run(@Nullable Deferred newest) {
        Deferred list = null;
        for (Deferred d = newest; d != null;) { // Reverses the list into the order of the pushes.
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

    /** Registers a sysmon that drains the list from now on. Runs this code once, because later there may be no room to link it. */
    public static synchronized void begin(Drainer d) {
        d.next = drainers;
        drainers = d;
        if (d.next == null) {
            HEAD.set(null);
        }
        boolean _ = add(d.trial);
        drain();
    }

    /** Removes a sysmon from the drainers. The last one does the work that is left, and closes the list. */
    public static synchronized void end(Drainer d) {
        Drainer first = drainers;
        if (first == d) {
            drainers = d.next; // Removed before it drains the list: see ring.
        } else {
            for (Drainer at = first; at != null; at = at.next) {
                if (at.next == d) {
                    at.next = d.next;
                }
            }
        }
        if (drainers == null) {
            runAll(CLOSED); // Work that comes later is refused.
        } else {
            drain();
        }
    }
}
