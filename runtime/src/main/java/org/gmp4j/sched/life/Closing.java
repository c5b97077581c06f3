// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.life;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.SudogCache;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.ClosingNotes;
import org.gmp4j.sched.base.Gcount;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.RetiredSched;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;

/**
 * The end of a scheduler, in steps:
 *
 * <ol>
 * <li>{@code closing} becomes {@link Scheduler#DRAINING}. Only goroutines of the scheduler may still start goroutines.
 * <li>When the last goroutine has ended, {@code closing} becomes {@link Scheduler#STOPPED}, and Ms end instead of sleeping.
 * <li>Sysmon ends. The closing thread waits for threads that still read the structs, and joins the threads of the Ms.
 * <li>The structs of Ms, Ps and Gs are recycled. {@code schedt} itself is recycled later ({@link RetiredSched}).
 * </ol>
 *
 * <p>One thread at a time does the steps from the second on. If there is no memory for a step, the step has changed nothing, and the next
 * call of {@link #close} goes on with it.
 */
public final class Closing extends ClosingNotes {
    /** The time, ns, between two checks in which {@link #close} counts the goroutines that are left. */
    private static final long DRAIN_LOOK = 10_000_000;

    /** Held by the thread that does the last steps. It guards the fields below, which record the completed steps. */
    private final ReentrantLock ending = new ReentrantLock();
    private boolean ended;
    private volatile boolean msEnded; // May be read without the lock.
    private int machinesLeft;
    private int procsLeft;
    private boolean retired;

    /**
     * Refuses new goroutines from outside, waits until the living ones have ended, and then ends the Ms.
     *
     * @param nanos how long to wait; negative for no limit
     * @return false when goroutines are left and the time is up, or when the JVM shuts down and all goroutines that are left have called
     * exit. The scheduler then continues to drain
     * @throws IllegalStateException when sysmon's thread, which may run a hook of the user, calls this
     * @throws OutOfMemoryError when there is no memory for a step of the end; the next close goes on with that step
     */
    public static boolean close(Scheduler s, long nanos) throws InterruptedException {
        return ((Closing) s.closing).begin(s, nanos);
    }

    private boolean begin(Scheduler s, long nanos) throws InterruptedException {
        if (s.monitor().isCurrent()) {
            throw new IllegalStateException("close was called on the thread that watches the scheduler, which it would wait for");
        }
        long end = System.nanoTime() + nanos;
        GStack caller = GStack.enter(); // The caller may be another scheduler's goroutine, which keeps its P while it holds the lock.
        SchedLock.lock(s.sched);
        if (Schedt.CLOSING.getAcquire(s.sched) == 0) {
            Schedt.CLOSING.setVolatile(s.sched, Scheduler.DRAINING);
        }
        boolean stopped = Schedt.CLOSING.getAcquire(s.sched) == Scheduler.STOPPED;
        SchedLock.unlock(s.sched);
        GStack.exit(caller);
        if (stopped) {
            return stop(s, nanos, end); // Another close may be under way, or may have failed for lack of memory.
        }
        Exiters exiters = Exiters.ofShutdown(s.slots);
        for (;;) {
            synchronized (drained) {
                // isStopped is read first, because after another close the Ps may belong to another scheduler.
                if (s.isStopped() || Gcount.gcount(s) == 0) {
                    break;
                }
                // The wait is limited, because the last goroutine counts its end and then reads closing without a fence in between. So the
                // goroutine may miss the close while this method misses the goroutine's end.
                long left = nanos < 0 ? DRAIN_LOOK : Math.min(DRAIN_LOOK, end - System.nanoTime());
                if (left <= 0) {
                    return false;
                }
                drained.wait(left / 1_000_000, (int) (left % 1_000_000));
            }
            if (exiters != null && exiters.onlyTheyAreLeft()) {
                return false;
            }
        }
        return stop(s, nanos, end);
    }

    /**
     * Ends the scheduler, which has no goroutine and can get none, unless it has ended. One thread at a time does that.
     *
     * @return whether the scheduler has ended; false when another thread is ending it and the time is up
     */
    private boolean stop(Scheduler s, long nanos, long end) throws InterruptedException {
        if (!ending.tryLock()) { // An interrupt does not end tryLock.
            if (nanos < 0) {
                ending.lockInterruptibly();
            } else if (!ending.tryLock(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                return false;
            }
        }
        try {
            if (!ended) {
                end(s);
                ended = true;
            }
        } finally {
            ending.unlock();
        }
        return true;
    }

    /**
     * Waits until none of the scheduler's Ms runs any more. Called after {@link Scheduler#isStopped} has returned true. This does not wait
     * for sysmon, which may be the caller, or may wait for the caller.
     */
    public static void awaitMs(Scheduler s) {
        ((Closing) s.closing).joinMs(s);
    }

    private void joinMs(Scheduler s) {
        while (!msEnded) {
            if (ending.tryLock()) {
                try {
                    endMs(s);
                } finally {
                    ending.unlock();
                }
            } else {
                Thread.yield(); // Another thread is ending the Ms, which is quick.
            }
        }
    }

    /**
     * Ends all Ms and sysmon, and recycles the structs, except schedt, which is recycled later. A step that fails for lack of memory
     * changes nothing, and a completed step is not repeated.
     */
    private void end(Scheduler s) {
        endMs(s);
        s.spare.letGo();
        OwnThread.joinUninterruptibly(s.monitor().stop());
        while (readers.get() != 0) {
            Thread.yield(); // Reads are short, and the readers are not goroutines of this scheduler.
        }
        Thread reader = before;
        if (reader != null) {
            reader.interrupt();
            OwnThread.joinUninterruptibly(reader);
        }
        LiveSchedulers.remove(s);
        s.goroutines.deregister();
        Machine[] machines = s.machines();
        for (; machinesLeft < machines.length; machinesLeft++) {
            Machine mach = machines[machinesLeft];
            if (mach.thread != null) { // It is null if there was no memory for a thread.
                OwnThread.joinUninterruptibly(mach.thread);
            }
            Mem.recycle(Struct.M, mach.mp);
        }
        while (s.leftovers.any()) { // An M that ended after sysmon may have added one.
            s.leftovers.look();
            Thread.yield();
        }
        GStack caller = GStack.enterChecked(); // Another scheduler's goroutine must not be preempted while it holds a heap's lock.
        try {
            for (Processor[] all = s.procs(); procsLeft < all.length; procsLeft++) {
                s.timers.move(all[procsLeft].pp, 0);
                SudogCache.purge(all[procsLeft].pp);
            }
        } finally {
            GStack.exit(caller);
        }
        s.netpoll.close(s);
        s.slots.release();
        s.allp.release();
        if (!retired) {
            retired = true; // Set first: if add fails, a leaked block is better than one that two schedulers use.
            RetiredSched.add(s, s.sched);
        }
    }

    /** Ends all Ms, unless they have ended. Afterwards no thread writes the words that only Ms write. */
    private void endMs(Scheduler s) {
        if (!msEnded) {
            int count = stopMs(s);
            for (long mp = takeIdle(s); mp != 0; mp = takeIdle(s)) {
                Note.wakeup(M.parkAddress(mp)); // The M ends, because nextp is 0.
            }
            s.netpoll.wake(s);
            exited.acquireUninterruptibly(count);
            msEnded = true;
        }
    }

    /** Makes Ms end from now on. Returns how many threads have ended or will end. */
    private static int stopMs(Scheduler s) {
        StopTheWorld.acquire(); // Ensures that the world is not stopped, and will not be stopped again.
        SchedLock.lock(s.sched);
        Schedt.CLOSING.setVolatile(s.sched, Scheduler.STOPPED);
        int count = s.allm.starts(); // It no longer changes, because allocm reads closing under the same lock.
        SchedLock.unlock(s.sched);
        StopTheWorld.WORLDSEMA.release();
        return count;
    }

    private static long takeIdle(Scheduler s) {
        SchedLock.lock(s.sched);
        long mp = Idle.mget(s.sched);
        SchedLock.unlock(s.sched);
        return mp;
    }
}
