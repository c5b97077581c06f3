// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import static org.gmp4j.netpoll.EventWaits.add;
import static org.gmp4j.netpoll.EventWaits.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.sched.Newproc;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sysmon.Unwatched;
import org.junit.jupiter.api.Test;

/** An M watches the network while another M that has left the poller runs a goroutine and a P is idle. Sysmon has no thread here. */
final class NetworkWatchTest {
    private static final int PROCS = 2;
    private static final int LONG_ABSENCES = 4;
    private static final int ABSENCES_AWAKE = 8;
    private static final long ABSENCE = 5_000_000;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);

    /** Returns whether an M sleeps in the poller within some time. */
    private static boolean isWatched(long sched) {
        for (long until = System.nanoTime() + PATIENCE; System.nanoTime() - until < 0;) {
            if (Schedt.LASTPOLL.getVolatile(sched) == 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Waits until so many goroutines wait for the network, an M sleeps in the poller, and no other M has a P. An M that still spun could
     * find the next event, and while it has a P the absence of another does not count.
     */
    private static void awaitIdle(long sched, int waiters) {
        while (Schedt.NETPOLLWAITERS.getVolatile(sched) != waiters || Schedt.LASTPOLL.getVolatile(sched) != 0
                || Schedt.NMSPINNING.getVolatile(sched) != 0 || Schedt.NPIDLE.getVolatile(sched) != PROCS) {
            Thread.onSpinWait();
        }
    }

    /** After Ms have stayed away from the poller for long, the next M that leaves it wakes another, which goes there. */
    @Test
    void longAbsencesAreCovered() {
        int one = EventFd.create();
        int other = EventFd.create(); // The goroutine that waits for it wants the network to be watched.
        Semaphore rounds = new Semaphore(0);
        boolean[] watched = new boolean[1];
        try (Unwatched gmp = new Unwatched(PROCS, TimeUnit.MINUTES.toNanos(1), new Netpoller())) {
            long sched = gmp.s.sched;
            Newproc.newproc(gmp.s, () -> {
                for (int i = 0; i < LONG_ABSENCES; i++) {
                    long _ = await(one, 0);
                    for (long until = System.nanoTime() + ABSENCE; System.nanoTime() - until < 0;) {
                        Thread.onSpinWait();
                    }
                    rounds.release();
                }
                long _ = await(one, 0);
                watched[0] = isWatched(sched);
                rounds.release();
            });
            Newproc.newproc(gmp.s, () -> {
                long _ = await(other, 0);
            });
            for (int i = 0; i <= LONG_ABSENCES; i++) {
                awaitIdle(sched, 2);
                add(one);
                rounds.acquireUninterruptibly();
            }
            add(other);
        }
        assertTrue(watched[0]);
        Fd.close(one);
        Fd.close(other);
    }

    /** An M that finds each event by a poll between two goroutines, and so never sleeps in the poller, wakes another as well. */
    @Test
    void anMThatFindsTheNextEventAwake() {
        int[] fds = {EventFd.create(), EventFd.create()};
        int other = EventFd.create();
        Semaphore running = new Semaphore(0);
        Semaphore ended = new Semaphore(0);
        AtomicInteger added = new AtomicInteger();
        AtomicInteger runs = new AtomicInteger();
        boolean[] watched = new boolean[1];
        try (Unwatched gmp = new Unwatched(PROCS, TimeUnit.MINUTES.toNanos(1), new Netpoller())) {
            long sched = gmp.s.sched;
            for (int fd : fds) {
                Newproc.newproc(gmp.s, () -> {
                    for (int i = 0; i < ABSENCES_AWAKE / 2; i++) {
                        long _ = await(fd, 0);
                        int run = runs.incrementAndGet();
                        running.release();
                        if (run < ABSENCES_AWAKE) {
                            for (long until = System.nanoTime() + ABSENCE; added.get() == run || System.nanoTime() - until < 0;) {
                                Thread.onSpinWait();
                            }
                        } else {
                            watched[0] = isWatched(sched);
                        }
                    }
                    ended.release();
                });
            }
            Newproc.newproc(gmp.s, () -> {
                long _ = await(other, 0);
            });
            awaitIdle(sched, 3);
            for (int i = 0; i < ABSENCES_AWAKE; i++) {
                add(fds[i & 1]);
                added.incrementAndGet();
                running.acquireUninterruptibly();
            }
            ended.acquireUninterruptibly(2);
            add(other);
        }
        assertTrue(watched[0]);
        Fd.close(fds[0]);
        Fd.close(fds[1]);
        Fd.close(other);
    }
}
