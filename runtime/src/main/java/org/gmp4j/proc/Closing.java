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
 * <li>{@code closing} becomes {@link Scheduler#DRAINING}. No goroutine may be started from outside; those that live may start others.
 * <li>The last goroutine has ended: {@code closing} becomes {@link Scheduler#STOPPED}, and Ms leave instead of sleeping.
 * <li>Sysmon ends; threads that still read the structs are waited for; the threads of the Ms are joined.
 * <li>The structs of Ms, Ps and Gs are recycled; {@code schedt} itself later ({@link RetiredSched}).
 * </ol>
 *
 * <p>One thread at a time does the steps from the second on. One that finds no memory for a step has changed nothing, and the next
 * call of {@link #close} goes on with that step.
 */
final class Closing {
    /** How often {@link #close} checks whether any goroutine is left, nanoseconds. */
    private static final long DRAIN_LOOK = 10_000_000;

    private final Scheduler s;
    /** A permit for each M whose thread is about to end. */
    private final Semaphore exited = new Semaphore(0);
    /** How many threads read the structs: see {@link #beginReading}. */
    private final AtomicInteger readers = new AtomicInteger();
    /** Ends before the structs are recycled; null for none. */
    private volatile @Nullable Thread before;
    /** What {@link #close} waits at until no goroutine is left. */
    private final Object drained = new Object();
    private volatile boolean mayBeDrained;
    /** Of whoever does the last steps. The fields below belong to it, and tell which are done. */
    private final ReentrantLock ending = new ReentrantLock();
    private boolean ended;
    private volatile boolean exits; // Read without it.
    private int machinesLeft;
    private int procsLeft;
    private boolean given;

    Closing(Scheduler s) {
        this.s = s;
    }

    /** goexit0, while closing: may have been the last. */
    void exitedWhileClosing() {
        VarHandle.fullFence(); // If two goroutines end at once on two Ps, at least one of them must see the other's count.
        if (Newproc.gcount(s) == 0) {
            mayBeDrained = true;
            Note.ring(Schedt.sysmonnoteAddress(s.sched)); // Not on the goroutine's stack: waking a Java thread may want to park.
        }
    }

    /** Whether there may be no goroutine left, and {@link #signalDrained} is to be called by a thread that may block. */
    boolean mayBeDrained() {
        return mayBeDrained;
    }

    /** From sysmon: wakes whoever waits in {@link #close}. */
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
     * Refuses new goroutines from outside and waits for those that live; then ends the Ms.
     *
     * @param nanos how long to wait; negative without limit
     * @return false when goroutines are left and the time is up, or the JVM shuts down and all of them called exit; the
     *     scheduler then still drains
     * @throws IllegalStateException on sysmon, as what it calls may be the user's
     * @throws OutOfMemoryError when there is no memory for a step of the end: the next close goes on with that
     */
    boolean close(long nanos) throws InterruptedException {
        if (s.monitor().isCurrent()) {
            throw new IllegalStateException("close was called on the thread that watches the scheduler, which it would wait for");
        }
        long end = System.nanoTime() + nanos;
        GStack caller = GStack.enter(); // It may be a goroutine of another scheduler, which must keep its P while it holds our lock.
        SchedLock.lock(s.sched);
        if (Schedt.CLOSING.getAcquire(s.sched) == 0) {
            Schedt.CLOSING.setVolatile(s.sched, Scheduler.DRAINING);
        }
        boolean stopped = Schedt.CLOSING.getAcquire(s.sched) == Scheduler.STOPPED;
        SchedLock.unlock(s.sched);
        GStack.exit(caller);
        if (stopped) {
            return stop(nanos, end); // Another close may be at it, or have ended for want of memory.
        }
        Exiters exiters = Exiters.ofShutdown(s.slots);
        for (;;) {
            synchronized (drained) {
                if (s.isStopped() || Newproc.gcount(s) == 0) { // Once another close has ended, the Ps may be another scheduler's.
                    break;
                }
                // Looks again now and then: the last goroutine counts itself out and then reads closing without a fence
                // in between, so it may miss us as we missed it.
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
     * No goroutine lives and none can be started: ends the scheduler, one thread at a time.
     *
     * @return whether it has ended: false when another thread is at it and the time is up
     */
    private boolean stop(long nanos, long end) throws InterruptedException {
        if (!ending.tryLock()) { // Which no interrupt ends.
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
     * When {@link Scheduler#isStopped}: returns when no M of it runs any more. It does not wait for sysmon, which may be the caller, or
     * wait for the caller.
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
                Thread.yield(); // Another thread is at it: some microseconds.
            }
        }
    }

    /** With the lock, which it gives back. */
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
     * Ends all Ms and sysmon, and recycles the structs; schedt only later. A step that fails for want of memory has changed
     * nothing, and one that was done is not done again.
     */
    private void end() {
        endMs();
        s.spare.letGo();
        joinUninterruptibly(s.monitor().stop());
        while (readers.get() != 0) {
            Thread.yield(); // Some microseconds; they are no goroutines of this one.
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
            if (mach.thread != null) { // Else there was no memory for a thread.
                joinUninterruptibly(mach.thread);
            }
            Mem.recycle(m.layout(), mach.mp);
        }
        while (s.leftovers.any()) { // Of an M that ended after sysmon.
            s.leftovers.look();
            Thread.yield();
        }
        GStack caller = GStack.enterChecked(); // It may be another scheduler's goroutine: the heaps' locks are not to be preempted.
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
            given = true; // Set before: a block that is lost is better than one that two schedulers have.
            RetiredSched.add(s, s.sched);
        }
    }

    /** Has all Ms end, once; then nobody writes to what only Ms write to. */
    private void endMs() {
        if (!exits) {
            int count = stopMs();
            for (long mp = idle(); mp != 0; mp = idle()) {
                Note.wakeup(M.parkAddress(mp)); // With nextp 0: the M leaves.
            }
            s.netpoll.wake(s);
            exited.acquireUninterruptibly(count);
            exits = true;
        }
    }

    /** Has Ms leave from here on; returns how many are to. */
    private int stopMs() {
        StopTheWorld.acquire(); // So nobody has the world stopped, and nobody will stop it again.
        SchedLock.lock(s.sched);
        Schedt.CLOSING.setVolatile(s.sched, Scheduler.STOPPED);
        int count = s.allm.starts(); // Final: allocm looks at closing under the same lock.
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
     * Somebody begins to read the structs, from any thread: they are not recycled until {@link #endReading}. The reader counts itself
     * and then looks whether the scheduler has stopped; whoever closes stops it and then looks at the count. So one sees the other.
     *
     * @return false when the scheduler has ended, and there is nothing to end
     */
    boolean beginReading() {
        readers.incrementAndGet();
        if (s.isStopped()) {
            readers.decrementAndGet();
            return false;
        }
        return true;
    }

    /** Ends what {@link #beginReading} began. */
    void endReading() {
        readers.decrementAndGet();
    }

    /** A thread that looks at the structs: it is interrupted, and waited for, before they are recycled. */
    void endFirst(Thread t) {
        before = t;
    }

    /** An M's thread is about to end. */
    void mexited(Machine m) {
        M.EXITED.set(m.mp, 1);
        exited.release();
    }
}
