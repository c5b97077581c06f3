// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

/**
 * Decides from which source a P takes its next G: runnext, the ring, the network, or one of the two parts of the global queue.
 * {@code sched.arrived} has the Gs that threads without a P made runnable (sysmon, C code, plain threads, an M after a system call), and Gs
 * that an M queues for idle Ps. {@code sched.runq} has the Gs that were preempted or have yielded, and the overflow of the rings.
 *
 * <table>
 * <caption>Rules: the first that applies counts</caption>
 * <tr><td>The P begins a slice whose number is a multiple of {@value #GLOBAL_FIRST}.</td><td>One G of {@code sched.runq}, or of
 * {@code sched.arrived} if {@code sched.runq} is empty. Go has only this rule.</td></tr>
 * <tr><td>Sysmon has seen the P run other Gs for {@value #PASSED_OVER} slices while the global queue had Gs.</td><td>One G, as in the row
 * above.</td></tr>
 * <tr><td>The P begins a slice whose number is a multiple of {@value #ARRIVED_FIRST}.</td><td>One G of {@code sched.arrived}.</td></tr>
 * <tr><td>Gs of runnext have inherited the slice {@value #MOST_INHERITED} times, and the ring or {@code sched.arrived} has Gs.</td><td>One
 * G of the ring, or of {@code sched.arrived} if the ring is empty.</td></tr>
 * <tr><td>None of the above, and the P has Gs.</td><td>The G in runnext, which inherits the slice, or else the ring.</td></tr>
 * <tr><td>The P has no Gs, the global queue has Gs, and the last poll was {@value #POLL_EVERY} ns ago or more.</td><td>The network. This
 * interval limits the number of polls, each of which is a system call.</td></tr>
 * <tr><td>The P has no Gs.</td><td>One G of {@code sched.arrived}, or else of {@code sched.runq}.</td></tr>
 * <tr><td>A thread without a P wakes a G that waits for a channel, a lock, a monitor or an unpark.</td><td>The G goes into
 * {@code sched.arrived}, behind the Gs that were woken in this way before it, and ahead of the other Gs. After each {@value #MOST_AHEAD}
 * woken Gs comes one of the others.</td></tr>
 * </table>
 *
 * <p>Go's rule alone is not enough. Short requests often arrive from threads without a P, such as the selector thread of a web server. Go
 * has no such threads. In one queue with Gs that need the CPU for long, a request would wait for a slice of each of them. So requests have
 * a list of their own, {@code sched.arrived}. It comes first when the P has no other Gs.
 *
 * <p>Other goroutines may wait until a woken goroutine leaves a monitor or a lock. The JVM wakes the goroutines that wait for a monitor one
 * after the other. When a goroutine leaves the monitor, a thread without a P wakes the next one. If each of n goroutines in such a chain
 * ran only after all requests that had arrived before it, the last one would wait for n times the length of the queue. (A goroutine that is
 * woken by another goroutine goes to runnext.)
 *
 * <p>The Gs of the ring and of {@code sched.arrived} may occupy the P for ever. Where slices are long, one G of {@code sched.runq} in each
 * 61st slice is too rare. So sysmon measures for how long {@code sched.runq} was passed over. This gives goroutines that need the CPU
 * for long a ninth of the CPU, if other goroutines want the rest. If they got every second slice, they would starve short requests.
 *
 * <p>Two goroutines that ready each other share one slice. Without a limit the ring would wait for the end of that slice. If timers also
 * ready goroutines, each of these begins a slice, and no slice lasts a quantum. Then the pair would never be preempted, and the ring would
 * wait for ever. At the limit the P takes no G of {@code sched.runq}, because such a G may run for a whole slice, whereas the pair
 * runs for three switches only.
 *
 * <p>A P takes one G at a time. Go's P takes up to half a ring, and its M then locks the queue less often. But when that M loses its CPU
 * to another thread, the Gs in its ring wait, while Gs that arrived later run on other Ps.
 */
public final class Turns {
    /** The number of slices of other Gs after which {@code sched.runq} is due. */
    public static final int PASSED_OVER = 8;
    /** The number of times in a row that Gs of runnext inherit a slice while others wait. */
    static final int MOST_INHERITED = 3;
    /** The largest number of woken Gs in a row while {@code sched.arrived} has other Gs. */
    static final int MOST_AHEAD = 3;
    static final int GLOBAL_FIRST = 61;
    /** This number is odd, because a P skips every second slice number while goroutines are preempted one after the other. */
    static final int ARRIVED_FIRST = 5;
    static final long POLL_EVERY = 50_000;

    private Turns() {
    }

    /**
     * Returns 0 if {@code sched.runq} comes first, else another number.
     *
     * @param slice the number of the P's time slice
     * @param due {@code p.globaldue}: 1 if sysmon has found that the queue is due, else 0
     */
    public static int untilGlobal(int slice, int due) {
        return Integer.remainderUnsigned(slice, GLOBAL_FIRST) * (1 - due);
    }

    /**
     * Returns 0 if {@code sched.arrived} comes first, else another number.
     *
     * @param slice the number of the P's time slice
     */
    public static int untilArrived(int slice) {
        return Integer.remainderUnsigned(slice, ARRIVED_FIRST);
    }

    /**
     * Returns whether the G in runnext waits while the ring or {@code sched.arrived} has Gs.
     *
     * @param inherited the number of times in a row that Gs of runnext have inherited the slice
     */
    public static boolean passesOverRunnext(int inherited) {
        return inherited >= MOST_INHERITED;
    }

    /**
     * Returns the value of {@code p.globaldue} after a scan.
     *
     * @param passedOver the time, ns, for which the P has passed over {@code sched.runq} while the global queue had Gs
     * @param slice the length of a time slice on this P, ns
     */
    public static int due(long passedOver, long slice) {
        return passedOver >= PASSED_OVER * slice ? 1 : 0;
    }

    /** Returns whether the network is polled before a G is taken from the global queue. The last poll was {@code since} ns ago. */
    public static boolean isPollDue(long since) {
        return since >= POLL_EVERY;
    }

    /**
     * Returns whether one more woken G goes ahead of the next G in {@code sched.arrived} that was not woken.
     *
     * @param ahead the number of woken Gs that go ahead of that G already
     */
    public static boolean goesAhead(int ahead) {
        return ahead < MOST_AHEAD;
    }
}
