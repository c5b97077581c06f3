// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import static org.gmp4j.netpoll.EventWaits.add;
import static org.gmp4j.netpoll.EventWaits.await;
import static org.gmp4j.netpoll.EventWaits.awaitWaiters;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Go;
import org.gmp4j.SpinPolicy;
import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.SchedStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sysmon.Unwatched;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who polls the network, and when what was found there has its turn: beside goroutines that are busy, and beside timers. */
class PollTurnsTest {
    private static final long PATIENCE = 10_000_000_000L;
    private static final int MOST_SLICES = 200;

    /** A goroutine that is ready when a time slice ends runs next, before the goroutines whose slices have ended. */
    @Test
    void beforeThoseThatYielded() throws InterruptedException {
        Event event = new Event();
        try (Unwatched gmp = event.unwatched()) {
            gmp.run(() -> {
                event.noneSleepsInThePoller();
                for (int i = 0; i < 4; i++) {
                    Go.go(() -> {
                        while (event.heardAt.get() == 0 && event.slices.get() < MOST_SLICES) {
                            event.slice();
                            Go.gosched();
                        }
                    });
                }
            });
        }
        event.close();
    }

    /**
     * When a goroutine ends, a goroutine that the network has made ready runs before the goroutines that threads have started. The M takes
     * its next goroutine from the global queue, but first it polls if that is due.
     */
    @Test
    void beforeThoseThatThreadsStarted() throws InterruptedException {
        Event event = new Event();
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch queued = new CountDownLatch(1);
        try (Unwatched gmp = event.unwatched()) {
            Newproc.newproc(gmp.s, () -> {
                event.noneSleepsInThePoller();
                held.countDown();
                while (queued.getCount() != 0) {
                    Thread.onSpinWait();
                }
            });
            held.await();
            for (int i = 0; i < MOST_SLICES; i++) {
                Newproc.newproc(gmp.s, event::slice);
            }
            queued.countDown();
        }
        event.close();
    }

    /** An event that a goroutine waits for, and that comes in the slice of another one. No sysmon polls. */
    private static final class Event {
        private static final int COMES_IN = 40;
        private final int fd = EventFd.create();
        final AtomicInteger slices = new AtomicInteger();
        /** The number of slices that had begun when the goroutine ran; 0 before. */
        final AtomicInteger heardAt = new AtomicInteger();
        private long sched;

        /** Returns a scheduler with one P, on which the goroutine waits. An M sleeps in the poller. */
        Unwatched unwatched() {
            Unwatched gmp = new Unwatched(1, PATIENCE, new Netpoller());
            sched = gmp.s.sched;
            Newproc.newproc(gmp.s, () -> {
                long _ = await(fd, 0);
                long _ = await(fd, 0);
                heardAt.set(slices.get());
            });
            while (Schedt.NETPOLLWAITERS.getVolatile(sched) == 0 || Schedt.LASTPOLL.getVolatile(sched) != 0) {
                Thread.onSpinWait();
            }
            return gmp;
        }

        /** Called by a goroutine. The M in the poller finds no idle P, so it leaves the goroutine that waited to the others. */
        void noneSleepsInThePoller() {
            add(fd);
            while (Schedt.RUNQSIZE.getOpaque(sched) == 0) {
                Thread.onSpinWait();
            }
        }

        /** Computes for so long that the next poll is due. */
        void slice() {
            if (slices.incrementAndGet() == COMES_IN) {
                add(fd);
            }
            for (long end = System.nanoTime() + 100_000; System.nanoTime() - end < 0;) {
                Thread.onSpinWait();
            }
        }

        void close() {
            Fd.close(fd);
            assertEquals(COMES_IN, heardAt.get());
        }
    }

    /** Beside a goroutine that does not yield sysmon polls, and the goroutines that it finds run before those that have yielded. */
    @Test
    void sysmonsFindsComeFirst() throws InterruptedException {
        int waiting = 8;
        int[] fds = {EventFd.create(), EventFd.create(), EventFd.create()};
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofSeconds(10)))) {
            AtomicBoolean over = new AtomicBoolean();
            List<String> order = Collections.synchronizedList(new ArrayList<>());
            CountDownLatch done = new CountDownLatch(fds.length + waiting);
            for (int fd : fds) {
                gmp.go(() -> {
                    await(fd, 0);
                    order.add("ready " + fd);
                    done.countDown();
                });
            }
            awaitWaiters(gmp, fds.length);
            long sched = gmp.scheduler().sched; // It asks a goroutine.
            CountDownLatch running = new CountDownLatch(1);
            gmp.go(() -> {
                for (int i = 0; i < waiting; i++) {
                    Go.go(() -> {
                        Go.gosched(); // To the global queue.
                        order.add("waited");
                        done.countDown();
                    });
                }
                Go.gosched(); // Likewise, in front of them. It runs again when all of them have yielded.
                GStack st = GStack.enter(); // Or sysmon takes its P when the thread waits for a collection, say.
                running.countDown();
                while (!over.get()) {
                    Thread.onSpinWait();
                }
                for (long end = System.nanoTime() + 200_000; System.nanoTime() < end;) {
                    Thread.onSpinWait(); // Then an M would poll again.
                }
                add(fds[2]);
                GStack.exit(st);
            });
            running.await();
            int queued = Schedt.RUNQSIZE.getOpaque(sched);
            for (int i = 0; i < 2; i++) {
                add(fds[i]);
                while (Schedt.RUNQSIZE.getOpaque(sched) <= queued + i) { // Those, and what sysmon found.
                    Thread.onSpinWait();
                }
            }
            over.set(true);
            done.await();
            int first = order.indexOf("ready " + fds[0]);
            int second = order.indexOf("ready " + fds[1]);
            assertTrue(first < second && second < order.indexOf("waited"), order.toString());
        }
        for (int fd : fds) {
            Fd.close(fd);
        }
    }

    /** While an M sleeps in epoll for as long as it takes, timers are set by others: the sleep ends for each. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void timersBreakTheSleep(int procs) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            int fd = EventFd.create();
            gmp.go(() -> {
                long _ = await(fd, 0);
            });
            awaitWaiters(gmp, 1);
            for (int i = 0; i < 20; i++) {
                while (Schedt.LASTPOLL.getVolatile(gmp.scheduler().sched) != 0) { // It sleeps, or is about to.
                    Thread.onSpinWait();
                }
                gmp.run(() -> Go.sleep(Duration.ofMillis(1)));
            }
            add(fd);
        }
    }

    /** A goroutine that never yields has the only P: sysmon finds what is ready. */
    @Test
    void sysmonPolls() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            int fd = EventFd.create();
            CountDownLatch woken = new CountDownLatch(1);
            gmp.go(() -> {
                long _ = await(fd, 0);
                woken.countDown();
            });
            awaitWaiters(gmp, 1);
            gmp.run(() -> {
                Scheduler s = GStack.current().scheduler();
                while (Schedt.LASTPOLL.getVolatile(s.sched) == 0) {
                    s.netpoll.wake(s); // Another M sleeps in the poller.
                }
                add(fd);
                while (woken.getCount() != 0) {
                    Thread.onSpinWait();
                }
            });
            Fd.close(fd);
        }
    }

    /** An M left the poller with a goroutine that runs on: while a P is idle, another one goes there. */
    @Test
    void thePollerIsWatchedWhileAPIsIdle() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofMinutes(1)))) {
            int first = EventFd.create();
            int second = EventFd.create();
            AtomicBoolean watched = new AtomicBoolean();
            CountDownLatch ends = new CountDownLatch(2);
            long sched = gmp.scheduler().sched; // It asks a goroutine.
            gmp.go(() -> {
                long _ = await(first, 0);
                for (long end = System.nanoTime() + PATIENCE; !watched.get() && System.nanoTime() - end < 0;) {
                    watched.set(Schedt.LASTPOLL.getVolatile(sched) == 0);
                }
                add(second);
                ends.countDown();
            });
            gmp.go(() -> {
                long _ = await(second, 0);
                ends.countDown();
            });
            awaitWaiters(gmp, 2);
            while (Schedt.LASTPOLL.getVolatile(sched) != 0) {
                Thread.onSpinWait();
            }
            add(first);
            while (ends.getCount() != 0) {
                Thread.onSpinWait();
            }
            assertTrue(watched.get());
            Fd.close(first);
            Fd.close(second);
        }
    }

    /** Under a latency policy the M that spins finds it, though another sleeps in the poller; that needs the CPU, so not each time. */
    @Test
    void aSpinnerPollsBesideTheSleeper() {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "one CPU");
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).spin(SpinPolicy.busy()))) {
            int fd = EventFd.create();
            AtomicBoolean over = new AtomicBoolean();
            AtomicInteger heard = new AtomicInteger();
            CountDownLatch ended = new CountDownLatch(1);
            gmp.go(() -> {
                while (!over.get()) {
                    await(fd, 0);
                    heard.incrementAndGet();
                }
                ended.countDown();
            });
            long sched = gmp.scheduler().sched; // It asks a goroutine.
            long before = SchedStat.NREADY.getOpaque(sched);
            long end = System.nanoTime() + PATIENCE;
            for (int i = 0; SchedStat.NREADY.getOpaque(sched) == before && System.nanoTime() - end < 0; i++) {
                awaitWaiters(gmp, 1);
                while (Schedt.LASTPOLL.getVolatile(sched) != 0 || Schedt.NMSPINNING.getVolatile(sched) == 0) {
                    Thread.onSpinWait();
                }
                add(fd);
                while (heard.get() == i) {
                    Thread.onSpinWait();
                }
            }
            boolean seen = SchedStat.NREADY.getOpaque(sched) > before;
            over.set(true);
            add(fd);
            while (ended.getCount() != 0) {
                Thread.onSpinWait();
            }
            assertTrue(seen);
            Fd.close(fd);
        }
    }
}
