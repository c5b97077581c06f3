// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Go;
import org.gmp4j.net.TcpConn;
import org.gmp4j.net.TcpListener;
import org.gmp4j.policy.Turns;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.struct.G;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What waits in the global queue has its turn beside a P that always has something else to run. */
class GlobalTurnTest {
    private static final LongField GLOBALTICK = Struct.P.longField("sysmontick.globaltick");
    private static final LongField OTHERTICK = Struct.P.longField("sysmontick.othertick");
    private static final LongField GLOBALWHEN = Struct.P.longField("sysmontick.globalwhen");
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final int GLOBAL_FIRST = 61;
    private static final Duration QUANTUM = Duration.ofMillis(1);
    private static final int OTHERS = 4;
    private static final Duration NAP = Duration.ofNanos(100_000);
    private static final int ROUNDS = 15;
    private static final int MAX_TRIES = 20;

    /** When it is due, one of the global queue runs before what the P has itself; and only one. */
    @Test
    void oneRunsFirst() throws InterruptedException {
        List<String> order = new ArrayList<>();
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(OTHERS);
        AtomicBoolean queued = new AtomicBoolean();
        Runnable own1 = () -> end(order, ended, "own 1");
        Runnable own2 = () -> end(order, ended, "own 2");
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(LONG))) {
            gmp.go(() -> {
                GStack st = GStack.enter(); // Sysmon takes no P of a goroutine that is inside the runtime.
                try {
                    runs.countDown();
                    while (!queued.get()) {
                        Thread.onSpinWait(); // What others start goes to the global queue meanwhile.
                    }
                    Go.go(own1);
                    Go.go(own2);
                    long pp = Machine.current().pp();
                    P.SCHEDTICK.setOpaque(pp, GLOBAL_FIRST + 1); // Far from the next multiple.
                    // Sysmon, which looks at any time, comes to the same.
                    GLOBALTICK.set(pp, PStat.NGLOBAL.getOpaque(pp));
                    OTHERTICK.set(pp, -1);
                    GLOBALWHEN.set(pp, System.nanoTime() - 2 * Turns.PASSED_OVER * LONG.toNanos());
                    P.GLOBALDUE.setOpaque(pp, 1);
                } finally {
                    GStack.exit(st);
                }
            });
            runs.await();
            gmp.go(() -> end(order, ended, "global 1"));
            gmp.go(() -> end(order, ended, "global 2"));
            queued.set(true);
            ended.await();
        }
        assertEquals(List.of("global 1", "own 2", "own 1", "global 2"), order);
    }

    /** A goroutine that yields when the queue is due lets one run that was put off, and not one that has arrived. */
    @Test
    void aYieldKnowsTheTurn() throws InterruptedException {
        List<String> order = new ArrayList<>();
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(2);
        try (Unwatched w = new Unwatched(LONG.toNanos())) {
            Newproc.newproc(w.s, () -> {
                Go.go(() -> {
                    GStack st = GStack.enter();
                    G.PREEMPT.setOpaque(st.gp, 1);
                    GStack.exit(st); // To sched.runq, from which it is taken alone.
                    end(order, ended, "put off");
                });
                Go.gosched(); // In front of that one.
                runs.countDown();
                while (arrived.getCount() != 0) {
                    Thread.onSpinWait();
                }
                long pp = Machine.current().pp();
                P.SCHEDTICK.setOpaque(pp, GLOBAL_FIRST + 1);
                P.GLOBALDUE.setOpaque(pp, 1);
                Go.gosched();
            });
            runs.await();
            Newproc.newproc(w.s, () -> end(order, ended, "arrived"));
            arrived.countDown();
            ended.await();
        }
        assertEquals(List.of("put off", "arrived"), order);
    }

    /** The turn of the global queue is due some slices after it was first passed over, whether or not others begin between two looks. */
    @Test
    void passedOverForSomeSlices() throws InterruptedException {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(LONG))) {
            Processor pr = gmp.scheduler().procs()[0];
            long pp = pr.pp;
            Retake retake = new Retake(gmp.scheduler(), Stalls.of(gmp.scheduler()));
            AtomicBoolean end = new AtomicBoolean();
            CountDownLatch runs = new CountDownLatch(1);
            gmp.go(() -> {
                GStack st = GStack.enter(); // Sysmon does not take its P.
                runs.countDown();
                while (!end.get()) {
                    Thread.onSpinWait();
                }
                GStack.exit(st);
            });
            runs.await();
            gmp.go(() -> { });
            long slices = Turns.PASSED_OVER * LONG.toNanos();
            boolean due = false;
            try {
                for (int i = 0; i < MAX_TRIES && !due; i++) { // The scheduler's own sysmon, whose clock is another, may take it back.
                    PStat.NGLOBAL.addOpaque(pp, 1);
                    long now = System.nanoTime();
                    boolean _ = retake.look(now);
                    PStat.NLOCAL.addOpaque(pp, 1); // Another has run.
                    var _ = retake.look(now + slices / 3);
                    PStat.NARRIVED.addOpaque(pp, 1); // One that has arrived: that is no turn.
                    var _ = retake.look(now + slices / 2);
                    assertEquals(0, P.GLOBALDUE.getOpaque(pp));
                    var _ = retake.look(now + slices + LONG.toNanos()); // That sysmon may have looked a moment after now.
                    due = P.GLOBALDUE.getOpaque(pp) != 0;
                }
            } finally {
                end.set(true);
            }
            retake.close();
            assertTrue(due);
        }
    }

    /** The first scan of a P, which has already run others, cannot say for how long a G of the global queue has waited. */
    @Test
    void firstScan() throws InterruptedException {
        try (Unwatched gmp = new Unwatched(QUANTUM.toNanos())) {
            long sched = gmp.s.sched;
            gmp.run(() -> {
                long pp = Machine.current().pp();
                GLOBALTICK.set(pp, PStat.NGLOBAL.getOpaque(pp));
                PStat.NLOCAL.addOpaque(pp, 1);
                int size = Schedt.RUNQSIZE.getOpaque(sched);
                Schedt.RUNQSIZE.setOpaque(sched, 1);
                GlobalTurn.look(sched, pp, QUANTUM.toNanos(), System.nanoTime());
                Schedt.RUNQSIZE.setOpaque(sched, size);
                assertEquals(0, P.GLOBALDUE.getOpaque(pp));
            });
        }
    }

    private static void end(List<String> order, CountDownLatch ended, String name) {
        order.add(name);
        ended.countDown();
    }

    /**
     * It is due after some quanta, also beside goroutines each of which goes on with the slice of the one before, however long they
     * are. In a process where points have been linked those keep their P, as they are expected to come to one; and they park before they
     * notice that they are told to yield.
     */
    @ParameterizedTest
    @ValueSource(longs = {400_000, 800_000})
    void soonBesideOthers(long nanos) throws Exception {
        assertTrue(LoopWithPoints.copy().applyAsLong(1) != 0);
        long[] slices = new long[ROUNDS];
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM)); Others others = new Others(gmp, nanos)) {
            for (int i = 0; i < ROUNDS; i++) {
                CountDownLatch ran = new CountDownLatch(1);
                AtomicLong until = new AtomicLong();
                gmp.go(() -> {
                    Go.gosched(); // From now on it waits in sched.runq.
                    until.set(others.slices.get());
                    ran.countDown();
                });
                long before = others.slices.get();
                ran.await();
                slices[i] = until.get() - before;
            }
        }
        Arrays.sort(slices);
        assertTrue(slices[ROUNDS / 2] < GLOBAL_FIRST, Arrays.toString(slices));
    }

    /** Nor do those that need the CPU for long take each turn of the queue before a goroutine whose socket sysmon found ready. */
    @Test
    void aSocketBesideOthersAndAHog() throws Exception {
        assertTrue(LoopWithPoints.copy().applyAsLong(1) != 0);
        BlockingQueue<Long> read = new LinkedBlockingQueue<>();
        long[] slices = new long[ROUNDS];
        AtomicBoolean stop = new AtomicBoolean();
        try (TcpListener listener = TcpListener.listen("127.0.0.1:0");
                TcpConn peer = TcpConn.dial("127.0.0.1:" + listener.addr().getPort());
                TcpConn conn = listener.accept();
                TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM));
                Others others = new Others(gmp, 400_000)) {
            long sched = gmp.scheduler().sched;
            gmp.go(() -> {
                while (!stop.get()) {
                    GStack.exit(GStack.enterChecked());
                }
            });
            gmp.go(() -> {
                try {
                    while (conn.read(ByteBuffer.allocate(1)) == 1) {
                        read.add(others.slices.get());
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            try {
                for (int i = 0; i < ROUNDS; i++) {
                    while (Schedt.NETPOLLWAITERS.getVolatile(sched) != 1) {
                        Thread.onSpinWait();
                    }
                    long before = others.slices.get();
                    peer.write(ByteBuffer.allocate(1));
                    slices[i] = read.take() - before;
                }
            } finally {
                stop.set(true);
                peer.closeWrite();
            }
        }
        Arrays.sort(slices);
        assertTrue(slices[ROUNDS / 2] < GLOBAL_FIRST, Arrays.toString(slices));
    }

    /** Goroutines enough to keep a P for good. */
    private static final class Others implements AutoCloseable {
        final AtomicLong slices = new AtomicLong();
        private final AtomicBoolean stop = new AtomicBoolean();

        Others(TestGmp gmp, long nanos) {
            for (int i = 0; i < OTHERS; i++) {
                gmp.go(() -> {
                    while (!stop.get()) {
                        slices.incrementAndGet();
                        long end = System.nanoTime() + nanos;
                        while (System.nanoTime() < end) {
                            Thread.onSpinWait();
                        }
                        Go.sleep(NAP); // Over before its turn comes again: the P never runs out of them.
                    }
                });
            }
        }

        @Override
        public void close() {
            stop.set(true);
        }
    }
}
