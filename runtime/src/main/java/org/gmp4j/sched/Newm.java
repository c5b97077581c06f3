// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.print.ThrowableText;
import org.gmp4j.sched.base.Allm;
import org.gmp4j.sched.base.CleanStart;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Recorder;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.Host.HostThread;
import org.gmp4j.struct.M;

/**
 * How new Ms are made and begin: {@code newm newosproc mstart}. All objects of a new M are made before its thread starts. If the thread
 * itself found no memory for them, the M's P would be lost.
 */
public final class Newm {
    /** The result of {@link #tryNewm} when it has succeeded. */
    private static final String STARTED = "";
    private static final String NO_HEAP = "the heap is full";
    private static final String NO_THREAD = "the system gives no more threads, or memory for one";
    private static final String LIMIT = "all that maxThreads allows are blocked";

    private Newm() {
    }

    /**
     * Makes a new M that begins with {@code pp}. If that fails, {@link Shortage} takes care of the P. Throws only when it ends the
     * process.
     */
    static void newm(Scheduler s, long pp, boolean spinning) {
        String why = s.shortage;
        if (why == null) {
            why = tryNewm(s, pp, spinning);
        }
        if (why != STARTED) {
            Shortage.without(s, pp, spinning, why);
        }
    }

    private static String reason(boolean heap) {
        return heap ? NO_HEAP : NO_THREAD;
    }

    /** Runs the code that {@link #tryNewm} needs when there is no memory, because the first use of a string constant allocates. */
    public static boolean rehearse() {
        return ThrowableText.isHeap(new OutOfMemoryError("GC overhead")) && !ThrowableText.isHeap(new OutOfMemoryError("none"))
                && reason(true) != reason(false) && LIMIT != STARTED;
    }

    /** Makes and starts a new M and returns {@link #STARTED}. If that fails, changes nothing and returns the reason. */
    private static String tryNewm(Scheduler s, long pp, boolean spinning) {
        Machine m = null;
        try {
            m = s.allm.allocm();
            if (m == null) {
                return STARTED; // The scheduler has ended. The goroutine for which the caller wanted an M has ended too.
            }
            if (m == Allm.TOO_MANY) {
                return LIMIT;
            }
            s.spare.hold();
            newosproc(m, pp, spinning);
            return STARTED;
        } catch (OutOfMemoryError | NativeException e) {
            if (m != null) {
                M.NEXTP.set(m.mp, 0);
                M.SPINNING.setOpaque(m.mp, 0);
                s.mexited(m); // The end of the scheduler need not wait for this thread.
                Threads.free(m); // This comes last, because another thread may take the M at once.
            }
            boolean heap = ThrowableText.isHeap(e);
            if (!heap && s.config.program()) {
                throw s.reports.fatal(s, "runtime: failed to create new OS thread (have %d already): %s\n"
                        .formatted(s.mcount(), e.getMessage()), "newosproc");
            }
            if (!heap) {
                s.spare.letGo();
            }
            return reason(heap);
        }
    }

    /** Makes and starts the thread of a new M. */
    private static void newosproc(Machine m, long pp, boolean spinning) {
        Scheduler s = m.s;
        long stack = s.config.maxStack() + Headroom.OF_THREAD;
        Mstart mstart = new Mstart(m, stack);
        HostThread thread = new HostThread(m, mstart, s.name + "-M" + M.ID.get(m.mp), stack);
        M.NEXTP.set(m.mp, pp);
        if (spinning) {
            Wakep.startSpinning(m);
            Wakep.allowForNewThread(s.sched);
        }
        CleanStart.start(thread);
    }

    /** The task of a new M's thread: {@link #mstart}, with the right amount of stack. */
    private static final class Mstart implements Runnable {
        private final Machine m;
        private final long stack;
        private boolean shortened;

        Mstart(Machine m, long stack) {
            this.m = m;
            this.stack = stack;
        }

        @Override
        public void run() {
            if (shortened) {
                mstart(m);
            } else {
                shortened = true;
                Headroom.runOn(stack, this);
            }
        }
    }

    /** Runs the M on its thread until the M ends. */
    private static void mstart(Machine m) {
        try {
            M.LOCKS.setOpaque(m.mp, 1); // It is 1 on g0, so that no thread takes the M's P: see Gate.
            begin(m);
            M.PROCID.set(m.mp, OsThread.gettid());
            Threads.takeNextp(m);
            Recorder.machine(m, true);
            Schedule.schedule(m);
        } catch (Threads.Exit e) {
            Recorder.machine(m, false);
            m.s.mexited(m);
        } catch (Throwable e) {
            m.s.reports.broken(m.s, e);
        }
    }

    /** Brings the calling thread into a clean state: see {@link CleanStart}. If there is no memory for it, awaitP tries again. */
    static void begin(Machine m) {
        try {
            CleanStart.begin();
            m.s.realtime.begin(0);
            m.begun = true;
        } catch (OutOfMemoryError e) {
            m.begun = false;
        }
    }
}
