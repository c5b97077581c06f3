// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.ref.ReferenceQueue;

import org.gmp4j.events.Ev;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GFree;
import org.gmp4j.stack.Stack;
import org.gmp4j.stack.StackRef;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * Virtual threads that the JVM's collector takes while they wait. On the JDK's scheduler a virtual thread that waits for something
 * unreachable is garbage, unless the JDK refers to the thread ({@code jdk.trackAllThreads}). The same holds for the threads of a scheduler
 * that stands in the JDK's place. Goroutines of our own API, threads of {@code Gmp.threadFactory} among them, are never collected, as in
 * Go.
 *
 * <p>The table {@link GSlots} leads from a G to its stack. The threads that the JDK starts in that mode have a {@link StackRef} there,
 * which does not hold the stack while the thread waits in the JDK:
 * <pre>
 *  the M that parks it              the thread that wakes it                   the collector, then sysmon
 *  1 drops the stack (parking)      1 the JDK's CAS from PARKED, BLOCKED …     1 no code can reach the stack
 *  2 opens the ticket               2 closes the ticket                        2 the StackRef is queued
 *  3 the JDK publishes PARKED …     3 holds the stack (woken)                  3 _Gwaiting -> _Gdead, the slot is free
 *                                   4 _Gwaiting -> _Grunnable, queues the G
 * </pre>
 *
 * <p>No thread is lost that can go on. The code that wakes it has a reference to the thread, and the thread to its stack, so the stack is
 * reachable until step 3 of the wake-up. From there on the table holds the stack, as a queue holds the G's address alone. The CAS of
 * step 4 releases the store of step 3, and the CAS by which an M makes the G running acquires it. The store of step 1 on the left comes
 * before the volatile store of step 3, which the CAS of step 1 of the wake-up reads: so the two plain stores to the reference are ordered,
 * and a thread that was woken is held. Were it dropped after step 3, it might run by then, and its next wait could lose it.
 *
 * <p>Some wakers have no such reference. The network poller has the G's address alone; but in a wait for a socket the JDK's {@code
 * Poller.map} refers to the thread until the thread itself has noticed the end of the wait. (The poller's event may be stale, for a wait
 * that is over. Then it finds the stack in the table, or another's.) The limit of a timed wait refers to the stack ({@code
 * timer.ParkTimer}). While a G is locked to an M, which sleeps for it, its stack is not dropped. Waits of our own, whose wakers have the
 * G's address alone, drop nothing.
 *
 * <p>No slot is freed too early. The reference is queued when no code can reach the stack any more, finalizers included. Sysmon frees
 * the slot if the reference still stands there; if the thread has ended, the slot is empty or serves another goroutine. {@code Goexit0}
 * empties the slot while it refers to the stack itself, hence before the collector can find the stack unreachable.
 *
 * <p>Readers without a lock, such as dumps and searches, find a dropped stack by a weak reference. After the collection, until sysmon's
 * next look, they find none and leave the goroutine out ({@link GSlots#isCollected}). Nothing rings sysmon for that. If sysmon does not
 * keep up, the threads that start others help ({@link #help}), so that the slots that wait to be freed do not become more and more.
 *
 * <p>Rejected: a weak reference alone, which is cleared before finalizers run, so that each wake-up would have to find out whether its
 * slot was freed meanwhile; and a table whose element is exchanged at each park and wake-up, since a store to that old array costs a
 * barrier of the collector's, where the reference is mostly as young as its stack.
 */
final class Collected {
    /** So many slots are freed at a look at most: sysmon has other duties. */
    static final int AT_ONCE = 1_000;
    /** So many are freed by the start of a thread while sysmon is behind. More than one, so that the queue gets shorter. */
    private static final int AT_START = 2;

    /** The references of collected threads. The JDK's thread that handles references fills it; sysmon and {@link #help} empty it. */
    final ReferenceQueue<Stack> queue = new ReferenceQueue<>();
    private final Scheduler s;
    /** Taken from the queue and not freed yet, because of an error; sysmon's, as the next. */
    private @Nullable StackRef next;
    /** Whether sysmon's last look left any. Written by sysmon, and by tests; to read an old value costs a start that helps in vain. */
    volatile boolean more;

    Collected(Scheduler s) {
        this.s = s;
    }

    /** The JDK is about to publish that the thread waits: the collector may take it from here on. By the M that has unmounted it. */
    static void parking(GStack st) {
        StackRef ref = st.ref;
        if (ref != null && G.LOCKEDM.get(st.gp) == 0) {
            ref.drop(st);
        }
    }

    /** The ticket is closed, and the caller is about to queue the goroutine. */
    static void woken(GStack st) {
        StackRef ref = st.ref;
        if (ref != null) {
            ref.hold(st);
        }
    }

    /** Does what is done for each thread once, while there is memory: see {@link Warm}. */
    void rehearse(GStack st) {
        StackRef ref = new StackRef(st, queue);
        ref.drop(st);
        ref.hold(st);
        ref.clear();
    }

    /** Frees what collected threads had. From sysmon. */
    void look() {
        int left = AT_ONCE;
        for (StackRef ref = next(); ref != null && left > 0; ref = next()) {
            free(ref);
            next = null;
            left--;
        }
        more = left == 0;
    }

    /**
     * The caller, which is in no section of the runtime, starts a thread. While sysmon is behind, that start frees some slots first: sysmon
     * frees up to {@link #AT_ONCE} in some milliseconds, and a program may drop more threads than that. Their references would fill a
     * small heap.
     */
    void help() {
        for (int i = 0; more && i < AT_START; i++) {
            StackRef ref = (StackRef) queue.poll(); // Takes a lock of the JDK's, hence outside of the section.
            if (ref == null) {
                return;
            }
            GStack caller = GStack.enterChecked();
            try {
                free(ref);
            } finally {
                GStack.exit(caller);
            }
        }
    }

    private @Nullable StackRef next() {
        if (next == null) {
            next = (StackRef) queue.poll();
        }
        return next;
    }

    /** Whether the last look left any. */
    boolean any() {
        return more;
    }

    /** The end of the goroutine, in the order of {@code Goexit0.dead}. On sysmon, or inside {@link GStack#enter}. */
    private void free(StackRef ref) {
        long gp = ref.gp();
        if (gp == 0 || !GSlots.has(gp, ref)) {
            return;
        }
        long sched = s.sched;
        s.traceOutside(Ev.COLLECTED, 0, gp);
        GStatus.casgstatus(gp, GStatus.GWAITING, GStatus.GDEAD);
        GSlots.setStack(gp, null);
        G.HASSTACK.set(gp, 0);
        G.PARAM.set(gp, 0);
        SchedLock.lock(sched);
        GFree.putGlobal(sched, gp);
        long _ = Schedt.addNexitextern(sched, 1);
        s.waitsForOutside(-1); // In one hold of the lock with the count of ends, or checkdead could find a goroutine that nothing wakes.
        SchedLock.unlock(sched);
        if (Schedt.CLOSING.getAcquire(sched) != 0) {
            s.exitedWhileClosing();
        }
    }
}
