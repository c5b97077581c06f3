// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.invoke.VarHandle;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.ffi.gmp.m;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.SudogCache;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.RetiredSched;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * The end of a scheduler, in steps:
 *
 * <ol>
 * <li>{@code closing} becomes {@link Scheduler#DRAINING}. No goroutine may be started from outside; living ones may start others.
 * <li>When the last goroutine has ended, {@code closing} becomes {@link Scheduler#STOPPED}, and Ms end instead of sleeping.
 * <li>Sysmon ends. The closing thread waits for threads that still read the structs, and joins the threads of the Ms.
 * <li>The structs of Ms, Ps and Gs are recycled; {@code schedt} itself later ({@link RetiredSched}).
 * </ol>
 *
 * <p>One thread at a time does the steps from the second on. If it finds no memory for a step it has changed nothing, and the next
 * call of {@link #close} goes on with that step.
 */
final class Closing {
    /** The time between two checks of {@link #close} whether any goroutine is left, in ns. */
    private static final long DRAIN_LOOK = 10_000_000;

    private final Scheduler s;
    /** A permit for each M whose thread is about to end. */
    private final Semaphore exited = new Semaphore(0);
    /** The number of threads that read the structs: see {@link #beginReading}. */
    private final AtomicInteger readers = new AtomicInteger();
    /** A thread that has to end before the structs are recycled; null for none. */
    private volatile @Nullable Thread before;
    /** The monitor at which {@link #close} waits until no goroutine is left. */
    private final Object drained = new Object();
    private volatile boolean mayBeDrained;
    /** Held by the thread that does the last steps. It guards the fields below, which say which steps are done. */
    private final ReentrantLock ending = new ReentrantLock();
    private boolean ended;
    private volatile boolean exits; // Also read without the lock.
    private int machinesLeft;
    private int procsLeft;
    private boolean given;

    Closing(Scheduler s) {
        this.s = s;
    }

    /** Notes that a goroutine has ended while the scheduler is closing, as it may have been the last. Called by goexit0. */
    void exitedWhileClosing() {
        VarHandle.fullFence(); // If two goroutines end at once on two Ps, at least one of them must see the other's count.
        if (Gcount.gcount(s) == 0) {
            mayBeDrained = true;
            Note.ring(Schedt.sysmonnoteAddress(s.sched)); // Sysmon wakes the closing thread, as the notify may park its caller.
        }
    }

    /** Returns whether there may be no goroutine left, so that a thread that may block has to call {@link #signalDrained}. */
    boolean mayBeDrained() {
        return mayBeDrained;
    }

    /** Wakes the threads that wait in {@link #close}. Called by sysmon. */
    void signalDrained() {
        if (!mayBeDrained) {
            return;
        }
        mayBeDrained = false;
        synchronized (drained) {
            drained.notifyAll();
        }
    }

    /**
     * Refuses new goroutines from outside, waits until the living ones have ended, and then ends the Ms.
     *
     * @param nanos how long to wait; negative for no limit
     * @return false when goroutines are left and the time is up, or the JVM shuts down and all goroutines that are left have called exit;
     *     the scheduler then goes on draining
     * @throws IllegalStateException on sysmon, which may run a hook of the user's
     * @throws OutOfMemoryError when there is no memory for a step of the end; the next close goes on with that step
     */
    boolean close(long nanos) throws InterruptedException {
        if (s.monitor().isCurrent()) {
            throw new IllegalStateException("close was called on the thread that watches the scheduler, which it would wait for");
        }
        long end = System.nanoTime() + nanos;
        GStack caller = GStack.enter(); // The caller may be another scheduler's goroutine, which must keep its P while it holds the lock.
        SchedLock.lock(s.sched);
        if (Schedt.CLOSING.getAcquire(s.sched) == 0) {
            Schedt.CLOSING.setVolatile(s.sched, Scheduler.DRAINING);
        }
        boolean stopped = Schedt.CLOSING.getAcquire(s.sched) == Scheduler.STOPPED;
        SchedLock.unlock(s.sched);
        GStack.exit(caller);
        if (stopped) {
            return stop(nanos, end); // Another close may be under way, or may have failed for want of memory.
        }
        Exiters exiters = Exiters.ofShutdown(s.slots);
        for (;;) {
            synchronized (drained) {
                if (s.isStopped() || Gcount.gcount(s) == 0) { // After another close the Ps may be another scheduler's, so isStopped first.
                    break;
                }
                // The wait is limited, because the last goroutine counts its end and then reads closing without a fence between the
                // two. So it may miss this close, as this close has missed its end.
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
        return stop(nanos, end);
    }

    /**
     * Ends the scheduler, of which no goroutine lives and none can be started. One thread at a time does that.
     *
     * @return whether the scheduler has ended; false when another thread is ending it and the time is up
     */
    private boolean stop(long nanos, long end) throws InterruptedException {
        if (!ending.tryLock()) { // An interrupt does not end tryLock.
            if (nanos < 0) {
                ending.lockInterruptibly();
            } else if (!ending.tryLock(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                return false;
            }
        }
        endOnce();
        return true;
    }

    /**
     * Waits until none of the scheduler's Ms runs any more. Called once {@link Scheduler#isStopped} returns true. It does not wait for
     * sysmon, which may be the caller, or may wait for the caller.
     */
    void awaitMs() {
        while (!exits) {
            if (ending.tryLock()) {
                try {
                    endMs();
                } finally {
                    ending.unlock();
                }
            } else {
                Thread.yield(); // Another thread ends the Ms, which does not take long.
            }
        }
    }

    /** Ends the scheduler if that is not done. Called with the lock {@link #ending}, which it releases. */
    private void endOnce() {
        try {
            if (!ended) {
                end();
                ended = true;
            }
        } finally {
            ending.unlock();
        }
    }

    /**
     * Ends all Ms and sysmon, and recycles the structs, except schedt, which is recycled later. A step that fails for want of memory has
     * changed nothing, and a step that is done is not done again.
     */
    private void end() {
        endMs();
        s.spare.letGo();
        joinUninterruptibly(s.monitor().stop());
        while (readers.get() != 0) {
            Thread.yield(); // Reads are short, and the readers are no goroutines of this scheduler.
        }
        Thread looker = before;
        if (looker != null) {
            looker.interrupt();
            joinUninterruptibly(looker);
        }
        LiveSchedulers.remove(s);
        s.goroutines.deregister();
        Machine[] machines = s.machines();
        for (; machinesLeft < machines.length; machinesLeft++) {
            Machine mach = machines[machinesLeft];
            if (mach.thread != null) { // Null if there was no memory for a thread.
                joinUninterruptibly(mach.thread);
            }
            Mem.recycle(m.layout(), mach.mp);
        }
        while (s.leftovers.any()) { // An M that ended after sysmon may have left some.
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
        if (!given) {
            given = true; // Set first: if add fails, a leaked block is better than one that two schedulers use.
            RetiredSched.add(s, s.sched);
        }
    }

    /** Ends all Ms, once. Afterwards no thread writes the words that only Ms write. */
    private void endMs() {
        if (!exits) {
            int count = stopMs();
            for (long mp = idle(); mp != 0; mp = idle()) {
                Note.wakeup(M.parkAddress(mp)); // nextp is 0, so the M ends.
            }
            s.netpoll.wake(s);
            exited.acquireUninterruptibly(count);
            exits = true;
        }
    }

    /** Makes Ms end from now on. Returns how many threads have ended or will end. */
    private int stopMs() {
        StopTheWorld.acquire(); // Ensures that the world is not stopped, and will not be stopped again.
        SchedLock.lock(s.sched);
        Schedt.CLOSING.setVolatile(s.sched, Scheduler.STOPPED);
        int count = s.allm.starts(); // It does not change any more, as allocm reads closing under the same lock.
        SchedLock.unlock(s.sched);
        StopTheWorld.WORLDSEMA.release();
        return count;
    }

    private long idle() {
        SchedLock.lock(s.sched);
        long mp = Idle.mget(s.sched);
        SchedLock.unlock(s.sched);
        return mp;
    }

    private static void joinUninterruptibly(Thread t) {
        boolean interrupted = false;
        while (t.isAlive()) {
            try {
                t.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Begins to read the structs, which are not recycled until {@link #endReading}. Called from any thread. The reader counts itself and
     * then reads whether the scheduler has stopped. The closing thread stops the scheduler and then reads the count. So one of the two
     * sees the other.
     *
     * @return false when the scheduler has ended; then the caller must neither read nor call endReading
     */
    boolean beginReading() {
        readers.incrementAndGet();
        if (s.isStopped()) {
            readers.decrementAndGet();
            return false;
        }
        return true;
    }

    /** Ends {@link #beginReading}. */
    void endReading() {
        readers.decrementAndGet();
    }

    /** Registers a thread that reads the structs. It is interrupted, and waited for, before they are recycled. */
    void endFirst(Thread t) {
        before = t;
    }

    /** Notes that the calling thread of an M is about to end. */
    void mexited(Machine m) {
        M.EXITED.set(m.mp, 1);
        exited.release();
    }
}
