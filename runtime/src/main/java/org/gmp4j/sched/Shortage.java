// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;

/**
 * Handles a P for which no M can be made, because the heap is full, the system gives no thread, or there are {@code maxThreads} Ms. The P
 * becomes idle, and its work waits for an M. Any M that runs finds the work when it next searches. Sysmon tries again to make an M
 * ({@code ShortageRetry}). Until then no other thread tries. With a full heap each attempt costs a collection or two. Without threads
 * HotSpot prints two lines on stdout at each attempt.
 *
 * <p>No work is forgotten. {@link #without} runs under sched.lock, and takes an M that is on the idle list. An M may put itself on the list
 * later. By then the P is idle, no spinner is counted for it, and the Gs of its ring are in the global queue. So that M takes these Gs
 * ({@link Wakep}, steps 3 and 4). An M that sleeps in the poller is woken. A submitter may have left its work to the spinner that could not
 * be made. This work waits for sysmon's next attempt. An attempt of sysmon's between newm's read of the shortage and {@link #without} may
 * leave work to such a spinner, too. So each call of {@link #without} records the shortage again, and sysmon tries once more.
 */
public final class Shortage {
    private Shortage() {
    }

    /** Returns whether the last attempt to make an M failed. */
    public static boolean lasts(Scheduler s) {
        return s.shortage != null;
    }

    /**
     * Finds an M for a P for which no M could be made, or makes the P idle and puts its work into the global queue.
     *
     * @param pp the caller's P, idle and in no list
     * @param reason why no M could be made
     */
    static void without(Scheduler s, long pp, boolean spinning, String reason) {
        long sched = s.sched;
        SchedLock.lock(sched);
        if (Schedt.CLOSING.getAcquire(sched) == Scheduler.STOPPED) {
            SchedLock.unlock(sched);
            return; // Another scheduler may have the P by now.
        }
        long mp = Idle.mget(sched);
        if (mp != 0) {
            SchedLock.unlock(sched);
            Threads.startm(s, mp, pp, spinning);
            return;
        }
        if (spinning) {
            Wakep.dropOnItsWay(sched);
        }
        if (Schedt.GCWAITING.getAcquire(sched) != 0) {
            StopTheWorld.stopped(s, pp); // Its work stays in its ring. startTheWorld finds an M for the P, or calls this method again.
        } else {
            for (long gp = Runq.runqget(pp); gp != 0; gp = Runq.runqget(pp)) {
                GlobalRunq.globrunqput(sched, gp & ~Runq.INHERIT);
            }
            Idle.pidleput(sched, pp, System.nanoTime());
        }
        s.shortage = reason;
        SchedLock.unlock(sched);
        if (Schedt.LASTPOLL.getVolatile(sched) == 0) {
            s.netpoll.wake(s);
        }
        if (Schedt.SYSMONWAIT.getAcquire(sched) != 0) {
            Note.ring(Schedt.sysmonnoteAddress(sched));
        }
    }
}
