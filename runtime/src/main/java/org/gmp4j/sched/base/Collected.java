// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

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
 * Virtual threads that the JVM's collector takes while they wait. On the JDK's scheduler a virtual thread that waits for an unreachable
 * object is garbage, unless the JDK refers to the thread ({@code jdk.trackAllThreads}). On a scheduler of the runtime that replaces the
 * JDK's, such a thread is garbage, too. Goroutines of the runtime's API, including threads of {@code Gmp.threadFactory}, are never
 * collected, as in Go.
 *
 * <p>The table {@link GSlots} refers from a G to its stack. For a thread that the JDK starts on such a scheduler the table has a
 * {@link StackRef}, which drops the stack while the thread waits in the JDK. The stack's ticket is open while the JDK may wake the thread,
 * and the waker that closes it owns the wake-up ({@code sched.jdk.JdkReady}):
 * <pre>
 *  the M that parks it              the thread that wakes it                   the collector, then sysmon
 *  M1 drops the stack (parking)     W1 the JDK's CAS from PARKED, BLOCKED …    C1 no code can reach the stack
 *  M2 opens the ticket              W2 closes the ticket                       C2 the StackRef is queued
 *  M3 the JDK publishes PARKED …    W3 holds the stack (woken)                 C3 _Gwaiting -> _Gdead, the slot is free
 *                                   W4 _Gwaiting -> _Grunnable, queues the G
 * </pre>
 *
 * <p>No thread that can be woken is lost. The code that wakes it refers to the thread, and the thread refers to its stack, so the stack is
 * reachable until W3. From then on the table must hold the stack, because a queue has only the G's address. The CAS of W4 releases the
 * store of W3, and the CAS by which an M makes the G running acquires it. M1 stores null before the volatile store of M3, and the CAS of W1
 * reads that volatile store. So M1's store of null comes before W3's store of the stack, and the table holds the stack of a woken thread.
 * The M must drop the stack before M3. After M3 the thread may run and wait again, and the drop could then remove the stack of the new
 * wait.
 *
 * <p>Some wakers have no such reference. The network poller has only the G's address. But in a wait for a socket the JDK's
 * {@code Poller.map} refers to the thread until the thread itself has noticed the end of the wait. (The poller's event may be stale: its
 * wait is over. By then the slot may have a later stack, of this or another goroutine, or none. If the poller wakes a thread whose stack
 * was dropped, {@code JdkReady.netReady} first holds the stack again.) The timer of a timed wait refers to the stack
 * ({@code timer.ParkTimer}). The stack of a G that is locked to an M is not dropped, because the M sleeps until the G is woken. Waits of
 * the runtime, whose wakers have only the G's address, do not drop the stack.
 *
 * <p>No slot is freed too early. The reference is queued when no code, including finalizers, can reach the stack any more. Sysmon frees the
 * slot if it still has this reference. After the thread's end the slot is empty or has another goroutine. {@code Goexit0} empties the slot
 * while the StackRef still holds the stack. So the slot is empty before the collector can find the stack unreachable.
 *
 * <p>Readers without a lock, such as dumps and searches, find a dropped stack by a weak reference. Between the collection and sysmon's next
 * scan they find none, and omit the goroutine ({@link GSlots#isCollected}). A collection does not wake sysmon. If sysmon does not keep up,
 * threads that start other threads help ({@code Newproc.help}), so that the number of slots to be freed stays bounded.
 *
 * <p>Rejected: a weak reference alone. It is cleared before finalizers run, so each wake-up would have to find out whether its slot was
 * freed meanwhile. Rejected too: a table whose element is exchanged at each park and wake-up. The table is an old object, so each store to
 * it would cost a barrier of the collector. A {@link StackRef} is usually as young as its stack.
 */
public final class Collected {
    /** The greatest number of slots that sysmon frees in one scan, because it has other duties. */
    static final int AT_ONCE = 1_000;
    /** The references of collected threads. Filled by the JDK's reference handler, emptied by sysmon and {@code Newproc.help}. */
    public final ReferenceQueue<Stack> queue = new ReferenceQueue<>();
    private final Scheduler s;
    /** A reference that was taken from the queue and not freed yet, because of an error. Accessed by sysmon only. */
    private @Nullable StackRef next;
    /** Whether sysmon's last scan left slots to be freed. Written by sysmon, and by tests. A stale value costs one vain call of help. */
    volatile boolean more;

    Collected(Scheduler s) {
        this.s = s;
    }

    /**
     * Lets the collector take the thread from now on. Called by the M that has unmounted it, before the JDK publishes that the thread
     * waits.
     */
    public static void parking(Stack st, long gp) {
        StackRef ref = st.ref;
        if (ref != null && G.LOCKEDM.get(gp) == 0) {
            ref.drop(st);
        }
    }

    /** Holds the stack again. Called when the ticket is closed, before the caller enqueues the goroutine. */
    public static void woken(Stack st) {
        StackRef ref = st.ref;
        if (ref != null) {
            ref.hold(st);
        }
    }

    /** Runs this class's code once, while there is memory: see {@code sched.jdk.DefaultPool}. */
    public void rehearse(Stack st) {
        StackRef ref = new StackRef(st, queue);
        ref.drop(st);
        ref.hold(st);
        ref.clear();
    }

    /** Frees the slots of collected threads. Called by sysmon. */
    public void look() {
        int left = AT_ONCE;
        for (StackRef ref = next(); ref != null && left > 0; ref = next()) {
            free(ref);
            next = null;
            left--;
        }
        more = left == 0;
    }

    private @Nullable StackRef next() {
        if (next == null) {
            next = (StackRef) queue.poll();
        }
        return next;
    }

    /** Returns whether sysmon's last scan left slots to be freed. */
    public boolean any() {
        return more;
    }

    /** Ends the goroutine, in the order of {@code Goexit0.dead}. Called on sysmon, or inside {@code GStack.enter}. */
    public void free(StackRef ref) {
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
        s.waitsForOutside(-1); // In the same hold of sched.lock as the count of the end. Otherwise checkdead could count the dead
                               // goroutine as asleep.
        SchedLock.unlock(sched);
        if (Schedt.CLOSING.getAcquire(sched) != 0) {
            s.exitedWhileClosing();
        }
    }
}
