// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntSupplier;

import org.gmp4j.affinity.StealOrder;
import org.gmp4j.config.Config;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.report.Report;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.sched.life.Schedinit;
import org.gmp4j.sysmon.Sysmon;
import org.gmp4j.timer.TimerHeaps;
import org.junit.jupiter.api.Test;

/** The number of Ps follows what the machine leaves to the process, until it is set by hand. Limits: TopologyTest. */
class ProcsFollowTest {
    private final AtomicBoolean stop = new AtomicBoolean();

    /** Something runs on it: sysmon looks at no P while all are idle. */
    private Scheduler scheduler(IntSupplier cpus) {
        Config config = new Config(
                2, cpus, Placement.NONE, StealOrder.UNIFORM, false, 0, 10_000_000, 10_000_000, 100, -1, 1 << 20, null, false, false, 0,
                DebugVars.OFF);
        Scheduler s = Schedinit.schedinit(config, new TimerHeaps(), Netpoll.NONE, Sysmon::new, Report.ALL);
        Newproc.newproc(s, () -> {
            while (!stop.get()) {
                Preempt.point();
            }
        });
        return s;
    }

    private void close(Scheduler s) throws InterruptedException {
        stop.set(true);
        assertTrue(Closing.close(s, -1));
    }

    private static void await(Scheduler s, int procs) throws InterruptedException {
        while (s.gomaxprocs() != procs) {
            Thread.sleep(1);
        }
    }

    @Test
    void untilSetByHand() throws InterruptedException {
        AtomicInteger cpus = new AtomicInteger(2);
        AtomicInteger asked = new AtomicInteger();
        Scheduler s = scheduler(() -> {
            asked.incrementAndGet();
            return cpus.get();
        });
        cpus.set(5);
        await(s, 5);
        cpus.set(1);
        await(s, 1);
        assertEquals(1, StopTheWorld.setProcs(s, 3));
        cpus.set(4);
        int before = asked.get();
        Thread.sleep(2_200); // Longer than two periods, of which one may have begun.
        assertTrue(asked.get() <= before + 1, () -> "asked " + (asked.get() - before) + " times");
        assertEquals(3, s.gomaxprocs());
        close(s);
    }

    /** The kernel does not tell for a while: the scheduler goes on with what it has, and asks again. */
    @Test
    void notToldForAWhile() throws InterruptedException {
        AtomicInteger asked = new AtomicInteger();
        Scheduler s = scheduler(() -> {
            if (asked.incrementAndGet() <= 2) {
                throw new NativeException("sched_getaffinity(1)", Errno.EPERM);
            }
            return 5;
        });
        await(s, 5);
        assertEquals(3, asked.get());
        close(s);
    }

    /** It is set while sysmon asks what the machine has. */
    @Test
    void setByHandMeanwhile() throws InterruptedException {
        AtomicReference<Thread> setter = new AtomicReference<>();
        CountDownLatch asked = new CountDownLatch(1);
        Scheduler s = scheduler(() -> {
            Thread t = setter.get();
            if (t == null) {
                return 2;
            }
            try {
                if (asked.getCount() != 0) {
                    t.start();
                    asked.countDown();
                }
                t.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return 4;
        });
        setter.set(new Thread(() -> StopTheWorld.setProcs(s, 3)));
        asked.await();
        setter.get().join();
        Thread.sleep(50); // Sysmon goes on at once.
        assertEquals(3, s.gomaxprocs());
        close(s);
    }
}
