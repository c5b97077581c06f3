// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.life;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import org.gmp4j.config.Config;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.sched.Preempt;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.CleanStart;
import org.gmp4j.sched.base.Monitor;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Reports;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.base.Timers;
import org.gmp4j.sched.jdk.Stacks;
import org.gmp4j.struct.RetiredSched;
import org.gmp4j.struct.Schedt;

/** {@code schedinit}: makes schedulers, whose Ps are idle and which have no M yet. */
public final class Schedinit {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private Schedinit() {
    }

    /**
     * Makes a scheduler with the next default name.
     *
     * @param monitor makes the scheduler's sysmon; called before the scheduler is complete
     * @throws OutOfMemoryError when there is no memory for the scheduler, or no thread for its sysmon; then the construction has been
     * undone
     */
    public static Scheduler schedinit(Config config, Timers timers, Netpoll netpoll, Function<Scheduler, Monitor> monitor,
            Reports reports) {
        return schedinit("gmp" + NAMES.getAndIncrement(), config, timers, netpoll, monitor, reports);
    }

    /** Makes a scheduler with a name: see {@link #schedinit(Config, Timers, Netpoll, Function, Reports) schedinit}. */
    public static Scheduler schedinit(String name, Config config, Timers timers, Netpoll netpoll,
            Function<Scheduler, Monitor> monitor, Reports reports) {
        reports.prepare();
        RetiredSched.recycle();
        Preempt.install();
        CleanStart.hook(!config.placement().sets().isEmpty());
        Scheduler s = new Scheduler(name, config, timers, netpoll, monitor, reports, new Stacks.Maker(), new Closing());
        boolean started = false;
        try {
            begin(s);
            started = true;
            return s;
        } finally {
            if (!started) {
                undo(s);
            }
        }
    }

    private static void begin(Scheduler s) {
        Schedt.MAXMCOUNT.set(s.sched, s.config.maxThreads());
        Schedt.LASTPOLL.setVolatile(s.sched, System.nanoTime());
        StopTheWorld.Procs procs = new StopTheWorld.Procs(s, s.config.procs(), s.config.placement());
        SchedLock.lock(s.sched);
        long runnable = StopTheWorld.procresize(s, procs, null);
        SchedLock.unlock(s.sched);
        assert runnable == 0;
        LiveSchedulers.add(s);
        s.monitor().start();
    }

    /** Undoes a failed construction. If there is no memory for that, a struct or two may leak. */
    private static void undo(Scheduler s) {
        LiveSchedulers.remove(s);
        try {
            s.goroutines.deregister();
            s.allp.release();
            RetiredSched.add(s, s.sched); // A thread that has read the list of live schedulers may still use the struct.
        } catch (OutOfMemoryError e) {
            return; // The caller throws its own error.
        }
    }
}
