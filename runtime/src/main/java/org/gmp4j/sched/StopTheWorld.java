// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.util.concurrent.Semaphore;

import org.gmp4j.config.Placement;
import org.gmp4j.events.Ev;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GFree;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.NodeQueues;
import org.gmp4j.queue.Runq;
import org.gmp4j.queue.SudogCache;
import org.gmp4j.queue.VictimOrder;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.PreemptSignal;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Recorder;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.base.TraceEvents;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.SchedStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;
import org.jspecify.annotations.Nullable;

/**
 * {@code stopTheWorld startTheWorld procresize gcstopm}: how all Ps of a scheduler are stopped and started again.
 *
 * <ol>
 * <li>Under sched.lock the caller sets {@code stopwait} to the number of Ps and {@code gcwaiting} to 1. From then on Ps are taken from the
 * idle list only to be stopped.
 * <li>The caller stops its own P, all idle Ps, and, by CAS, all Ps in system calls. An M that returns from its call later finds its P gone.
 * <li>Each running M sees gcwaiting when it next schedules, stops its P and decrements stopwait. The last M wakes the caller by stopnote.
 * <li>The caller does its work, alone.
 * <li>{@link #startTheWorld}: procresize, which allocates nothing, hands the Ps out. Then gcwaiting becomes 0, and Ms are started for the
 * Ps with work.
 * </ol>
 */
public final class StopTheWorld {
    private static final long STOP_ROUND_NANOS = 100_000;
    /** After this many rounds a P is taken from a goroutine that does not yield. */
    private static final int HANDOFF_ROUND = 10;
    /**
     * The number of rounds between two checks that no other code has replaced the signal's handler. Sysmon makes these checks at other
     * times, but sleeps while the world stops.
     */
    private static final int SIGNAL_ROUNDS = 1_000;

    /**
     * Held by the thread or goroutine that stops a world. It has no owner thread, because a goroutine may migrate while it holds the
     * semaphore. There is one semaphore for all schedulers. With a semaphore for each scheduler, two goroutines that stop each other's
     * worlds would wait for each other while they hold their Ps.
     */
    public static final Semaphore WORLDSEMA = new Semaphore(1);

    private StopTheWorld() {
    }

    /**
     * Stops all Ps of a scheduler. The caller may be one of its goroutines or any thread. This method waits for other stops, and for
     * goroutines that do not yield.
     *
     * @throws IllegalStateException when the scheduler is closed
     */
    static void stopTheWorld(Scheduler s) {
        GStack.checkAll();
        acquire();
        stop(s);
    }

    /** Waits for WORLDSEMA. */
    public static void acquire() {
        boolean deep = GStack.pinIfDeep();
        try {
            WORLDSEMA.acquireUninterruptibly();
        } finally {
            if (deep) {
                JdkThreads.unpin();
            }
        }
    }

    private static IllegalStateException closed() {
        return new IllegalStateException("the Gmp is closed");
    }

    /** Stops the world; the caller holds WORLDSEMA. */
    private static void stop(Scheduler s) {
        if (s.isStopped()) {
            WORLDSEMA.release();
            throw closed();
        }
        GStack _ = GStack.enterChecked(); // The section lasts until startTheWorld, so that the caller keeps its P.
        TraceEvents.world(s, Ev.STW_BEGIN);
        long sched = s.sched;
        s.stopEvent = Recorder.stopping();
        s.stopBegan = System.nanoTime();
        Machine m = self(s);
        SchedLock.lock(sched);
        int procs = Schedt.GOMAXPROCS.getOpaque(sched);
        Schedt.STOPWAIT.set(sched, procs);
        Note.clear(Schedt.stopnoteAddress(sched));
        Schedt.GCWAITING.setVolatile(sched, 1);
        if (m != null) {
            PStatus.set(m.pp(), PStatus.PGCSTOP);
            Schedt.STOPWAIT.set(sched, Schedt.STOPWAIT.get(sched) - 1);
        }
        for (int i = 0; i < procs; i++) {
            stopInSyscall(sched, Idle.allp(sched, i));
        }
        long now = System.nanoTime();
        for (long pp = Idle.pidleget(sched, now); pp != 0; pp = Idle.pidleget(sched, now)) {
            PStatus.set(pp, PStatus.PGCSTOP);
            Schedt.STOPWAIT.set(sched, Schedt.STOPWAIT.get(sched) - 1);
        }
        boolean wait = Schedt.STOPWAIT.get(sched) > 0; // If stopwait is 0, all Ps are stopped, and no M will ring the note.
        SchedLock.unlock(sched);
        if (wait) {
            awaitStopped(s, procs);
        }
        for (int i = 0; i < procs; i++) {
            if (PStatus.get(Idle.allp(sched, i)) != PStatus.PGCSTOP) {
                throw Throw.of("stopTheWorld: not stopped");
            }
        }
        s.stopTook = System.nanoTime() - s.stopBegan;
        SchedStat.STOPPING.add(sched, s.stopTook);
        Runnable hook = s.atStop();
        if (hook != null) {
            hook.run();
        }
    }

    /**
     * Waits until the running Ps have stopped. Requests that their goroutines yield, and takes the P from a goroutine that does not yield.
     */
    private static void awaitStopped(Scheduler s, int procs) {
        Preempt.preemptall(s);
        for (int round = 1; !Note.sleep(Schedt.stopnoteAddress(s.sched), STOP_ROUND_NANOS); round++) {
            for (int i = 0; i < procs; i++) {
                long pp = Idle.allp(s.sched, i);
                if (PStatus.get(pp) == PStatus.PRUNNING) {
                    boolean _ = round < HANDOFF_ROUND ? Preempt.preemptone(pp)
                            : Preempt.handoff(s, P.M.getOpaque(pp), P.SCHEDTICK.getOpaque(pp));
                }
            }
            SchedLock.lock(s.sched);
            for (int i = 0; i < procs; i++) {
                stopInSyscall(s.sched, Idle.allp(s.sched, i));
            }
            SchedLock.unlock(s.sched);
            if (round % SIGNAL_ROUNDS == 0) {
                JdkThreads.pin(); // The caller's P is stopped, so a contended monitor must not unmount the goroutine.
                try {
                    PreemptSignal.follow();
                } catch (OutOfMemoryError | LinkageError e) { // A class of the JDK that finds no memory throws a LinkageError.
                    continue; // The next check tries again. An error that left this method would leave the world stopped for ever.
                } finally {
                    JdkThreads.unpin();
                }
            }
        }
    }

    /** Stops a P whose M is in a system call. Called under sched.lock. */
    static void stopInSyscall(long sched, long pp) {
        if (PStatus.get(pp) == PStatus.PSYSCALL && PStatus.cas(pp, PStatus.PSYSCALL, PStatus.PGCSTOP)) {
            P.SYSCALLTICK.set(pp, P.SYSCALLTICK.getOpaque(pp) + 1);
            countStopped(sched);
        }
    }

    /** Returns the calling M if it belongs to {@code s} and holds a P, else null. */
    private static @Nullable Machine self(Scheduler s) {
        Machine m = Machine.of();
        return m != null && m.s == s && m.pp() != 0 ? m : null;
    }

    /** A new number of Ps, and all memory that the change to it needs. */
    public static final class Procs {
        private final int count;
        private final @Nullable Object room;
        private final VictimOrder order;
        private final long nodeQueues;
        private final Placement placement;

        /** Allocates the memory. The caller holds WORLDSEMA, and has not stopped the world yet. */
        public Procs(Scheduler s, int count, Placement placement) {
            this.count = count;
            this.placement = placement;
            room = s.allp.room(count, placement);
            if (s.tracer != null) {
                s.tracer.prepare(count);
            }
            order = new VictimOrder(s.config.steal(), count, placement.places());
            nodeQueues = s.config.nodeQueues() ? NodeQueues.make(s.sched, nodes(count, placement)) : 0;
        }

        private static int[] nodes(int count, Placement placement) {
            int[] nodes = new int[count];
            for (int p = 0; p < count; p++) {
                nodes[p] = placement.node(p);
            }
            return nodes;
        }
    }

    /**
     * {@code GOMAXPROCS(n)}: stops the world and sets the number of Ps. From then on sysmon does not change the number. If this method
     * throws, because memory is short or the scheduler is closed, the number has not changed.
     *
     * @return the old number
     */
    public static int setProcs(Scheduler s, int n) {
        // This precedes the wait for other stops, so that sysmon makes no change in that time. It holds even if the change fails.
        s.setProcsByHand();
        GStack.checkAll();
        acquire();
        return resizeHeld(s, n, s.placement);
    }

    /**
     * Changes the number of Ps, for sysmon, which must not wait for goroutines. Returns false, without a change, when another thread has
     * stopped a world, or when the number was set by hand after sysmon had read it.
     *
     * @param placement a new placement, or null to keep the present one
     * @param byHand whether the number of Ps was set by hand. If it was, {@code n} is the present number, and only the placement is to
     *     change
     */
    public static boolean tryResize(Scheduler s, int n, @Nullable Placement placement, boolean byHand) {
        if (!WORLDSEMA.tryAcquire()) {
            return false;
        }
        if (byHand ? n != s.gomaxprocs() : s.procsByHand()) { // setProcs sets procsByHand before it waits for WORLDSEMA.
            WORLDSEMA.release();
            return false;
        }
        int _ = resizeHeld(s, n, placement == null ? s.placement : placement);
        return true;
    }

    private static int resizeHeld(Scheduler s, int n, Placement placement) {
        Procs procs;
        try {
            if (s.isStopped()) {
                throw closed(); // A closed scheduler would never release the memory of Procs.
            }
            procs = new Procs(s, n, placement);
        } catch (Throwable t) {
            WORLDSEMA.release();
            throw t;
        }
        stop(s);
        int old = Schedt.GOMAXPROCS.getOpaque(s.sched);
        try {
            prepareMoves(s, n, old);
        } catch (Throwable t) {
            startTheWorld(s, null);
            NodeQueues.drop(procs.nodeQueues);
            throw t;
        }
        startTheWorld(s, procs);
        return old;
    }

    /** Allocates memory for the timers to be moved. Their number is known only in a stopped world, where no timer can be added. */
    private static void prepareMoves(Scheduler s, int n, int old) {
        int timers = 0;
        for (int i = n; i < old; i++) {
            long pp = Idle.allp(s.sched, i);
            s.timers.prepareMove(pp, Idle.allp(s.sched, 0), timers);
            timers += P.TIMERSLEN.getOpaque(pp);
        }
    }

    /** Starts the world again with the Ps of {@code procs}, or with as many Ps as before if it is null. Allocates nothing. */
    static void startTheWorld(Scheduler s, @Nullable Procs procs) {
        TraceEvents.world(s, Ev.STW_END);
        long sched = s.sched;
        Machine m = self(s);
        SchedLock.lock(sched);
        long runnable = procresize(s, procs, m);
        Schedt.GCWAITING.setVolatile(sched, 0);
        if (Schedt.SYSMONWAIT.get(sched) != 0) {
            Schedt.SYSMONWAIT.setVolatile(sched, 0);
            Note.ring(Schedt.sysmonnoteAddress(sched));
        }
        SchedLock.unlock(sched);
        while (runnable != 0) {
            long pp = runnable;
            runnable = P.LINK.get(pp);
            P.LINK.set(pp, 0);
            Threads.startm(s, pp, false);
        }
        Wakep.wakep(s);
        SchedStat.STOPPED.add(sched, System.nanoTime() - s.stopBegan);
        Object event = s.stopEvent;
        s.stopEvent = null;
        Recorder.starting(event, s, s.stopTook);
        GStack.exit(GStack.current());
        WORLDSEMA.release();
    }

    /**
     * Makes the first Ps alive and all others dead. Called in a stopped world under sched.lock. Allocates nothing.
     *
     * @param to the new number of Ps; null to keep the present one
     * @param m the M that goes on with a P, or null
     * @return the Ps with local work, linked by p.link; they are idle and in no list
     */
    public static long procresize(Scheduler s, @Nullable Procs to, @Nullable Machine m) {
        long sched = s.sched;
        int old = Schedt.GOMAXPROCS.getOpaque(sched);
        int procs = to == null ? old : to.count;
        long now = System.nanoTime();
        if (Schedt.PROCRESIZETIME.get(sched) != 0) {
            Schedt.TOTALTIME.set(sched, Schedt.TOTALTIME.get(sched) + old * (now - Schedt.PROCRESIZETIME.get(sched)));
        }
        Schedt.PROCRESIZETIME.setVolatile(sched, now);
        if (to != null) {
            s.allp.grow(to.room);
        }
        if (m != null && P.ID.get(m.pp()) >= procs) {
            // The caller's P dies, and the caller goes on with the first P.
            long pp = m.pp();
            P.M.setOpaque(pp, 0);
            M.detachP(m.mp);
            long p0 = Idle.allp(sched, 0);
            PStatus.set(p0, PStatus.PIDLE);
            Threads.acquirep(m, p0);
        } else if (m != null) {
            PStatus.set(m.pp(), PStatus.PRUNNING);
        }
        for (int i = procs; i < old; i++) {
            destroy(s, Idle.allp(sched, i));
        }
        Schedt.GOMAXPROCS.setOpaque(sched, procs);
        if (to != null) {
            s.victimOrder = to.order;
            s.placement = to.placement;
            NodeQueues.use(sched, to.nodeQueues);
            for (Processor pr : s.procs()) {
                pr.setNode(to.placement.node(P.ID.get(pr.pp)));
                TraceEvents.place(s.tracer, P.ID.get(pr.pp), pr.node());
            }
        }
        long runnable = 0;
        for (int i = procs - 1; i >= 0; i--) {
            long pp = Idle.allp(sched, i);
            if (m != null && m.pp() == pp) {
                continue;
            }
            PStatus.set(pp, PStatus.PIDLE);
            if (Runq.runqempty(pp)) {
                Idle.pidleput(sched, pp, now);
            } else {
                P.LINK.set(pp, runnable);
                runnable = pp;
            }
        }
        return runnable;
    }

    /**
     * Makes the P dead (P5). Its Gs move, in their order, to the head of {@code sched.arrived}. Its timers move to the first P, and its
     * caches are emptied.
     */
    private static void destroy(Scheduler s, long pp) {
        long sched = s.sched;
        long last = 0;
        for (long gp = Runq.runqget(pp) & ~Runq.INHERIT; gp != 0; gp = Runq.runqget(pp) & ~Runq.INHERIT) {
            GlobalRunq.globrunqputbehind(sched, last, gp);
            last = gp;
        }
        s.timers.move(pp, Idle.allp(sched, 0));
        GFree.gfpurge(sched, pp);
        SudogCache.purge(pp);
        s.proc(pp).trim();
        Idle.maskClear(Schedt.IDLEPMASK.getAcquire(sched), P.ID.get(pp));
        Idle.maskClear(Schedt.TIMERPMASK.getAcquire(sched), P.ID.get(pp));
        PStatus.set(pp, PStatus.PDEAD);
    }

    /** Stops the P of a running M that saw gcwaiting. The M sleeps until it is needed again. */
    static void gcstopm(Machine m) {
        Scheduler s = m.s;
        if (M.SPINNING.get(m.mp) != 0) {
            M.SPINNING.setOpaque(m.mp, 0);
            Wakep.stopSpinning(s.sched);
        }
        long pp = Threads.releasep(m);
        SchedLock.lock(s.sched);
        if (Schedt.GCWAITING.getAcquire(s.sched) == 0) {
            // The world was started before this M had the lock. That is impossible, because its P had not stopped.
            SchedLock.unlock(s.sched);
            throw Throw.of("gcstopm: not waiting for gc");
        }
        stopped(s, pp);
        SchedLock.unlock(s.sched);
        Threads.stopm(m);
    }

    /** Stops and counts a P that its M has released. Called under sched.lock. */
    public static void stopped(Scheduler s, long pp) {
        PStatus.set(pp, PStatus.PGCSTOP);
        countStopped(s.sched);
    }

    private static void countStopped(long sched) {
        int left = Schedt.STOPWAIT.get(sched) - 1;
        Schedt.STOPWAIT.set(sched, left);
        if (left == 0) {
            Note.wakeup(Schedt.stopnoteAddress(sched));
        }
    }

    /**
     * Stops the world, runs {@code body}, and starts it again with as many Ps as it had. Called from any thread. The body must not wait
     * for a goroutine.
     */
    public static void withWorldStopped(Scheduler s, Runnable body) {
        stopTheWorld(s);
        JdkThreads.pin(); // While body waits for a lock, its frames stay on the thread: see GStack.pinIfDeep.
        try {
            body.run();
        } finally {
            JdkThreads.unpin();
            startTheWorld(s, null);
        }
    }
}
