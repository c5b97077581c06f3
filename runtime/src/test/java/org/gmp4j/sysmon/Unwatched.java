// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.util.concurrent.CountDownLatch;

import org.gmp4j.affinity.StealOrder;
import org.gmp4j.config.Config;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.report.Report;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.base.Monitor;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.sched.life.Schedinit;
import org.gmp4j.timer.TimerHeaps;

/** A scheduler whose sysmon has no thread. A test may scan in its place, at times of its own choice. */
public final class Unwatched implements AutoCloseable {
    public final Scheduler s;
    private volatile Throwable thrown;

    /** With one P and no network. */
    Unwatched(long quantumNanos) {
        this(1, quantumNanos, Netpoll.NONE);
    }

    /** With one P, no network and a range of quanta. */
    Unwatched(long least, long most) {
        this(1, least, most, Netpoll.NONE);
    }

    public Unwatched(int procs, long quantumNanos, Netpoll netpoll) {
        this(procs, quantumNanos, quantumNanos, netpoll);
    }

    private Unwatched(int procs, long least, long most, Netpoll netpoll) {
        s = Schedinit.schedinit(new Config(procs, null, Placement.NONE, StealOrder.UNIFORM, false, 0, most, least, 100, -1,
                1 << 20, (_, t) -> thrown = t, false, false, 0, DebugVars.OFF), new TimerHeaps(), netpoll, Threadless::new,
                Report.ALL);
    }

    /** One that is never started. */
    private record Threadless(Sysmon sysmon) implements Monitor {
        Threadless(Scheduler s) {
            this(new Sysmon(s));
        }

        @Override
        public Watched ofM() {
            return sysmon.ofM();
        }

        @Override
        public Watched ofP() {
            return sysmon.ofP();
        }

        @Override
        public void start() {
        }

        @Override
        public Thread stop() {
            return sysmon.stop();
        }

        @Override
        public boolean isCurrent() {
            return false;
        }
    }

    Sysmon sysmon() {
        return ((Threadless) s.monitor()).sysmon;
    }

    /** On a goroutine, to its end. */
    public void run(Runnable fn) throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        Newproc.newproc(s, () -> {
            try {
                fn.run();
            } finally {
                ended.countDown();
            }
        });
        ended.await();
    }

    /** Waits for its goroutines. */
    @Override
    public void close() {
        try {
            boolean _ = Closing.close(s, -1);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        sysmon().retake.close();
        if (thrown != null) {
            throw new AssertionError("a goroutine threw", thrown);
        }
    }
}
