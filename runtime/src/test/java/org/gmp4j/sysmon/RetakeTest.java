// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

import org.gmp4j.Go;
import org.gmp4j.agent.PointLoader;
import org.gmp4j.agent.Points;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.ffi.gmp.m;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Machines;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.SchedStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@link Retake} tells {@link Sysmon} of when to look again. */
class RetakeTest {
    private static final int CALLS = 1_000;
    private static final Duration QUANTUM = Duration.ofMinutes(1);
    private static final int TRIES = 500;
    private static final int MAX_TRIES = 20;
    private static final long PATIENCE = 10_000_000_000L;
    private static final long SOON = 50_000;
    private static final int SLEEPERS = 5;
    private static final int ASKED = 20;

    private static volatile int sink;

    /** Any code that has points; the test runs a copy that does. */
    public static final class Loop implements LongUnaryOperator {
        @Override
        public long applyAsLong(long n) {
            long sum = 0;
            for (long i = 0; i < n; i++) {
                sum += i ^ n;
            }
            return sum;
        }
    }

    static LongUnaryOperator loop() throws ReflectiveOperationException {
        LongUnaryOperator loop = (LongUnaryOperator) PointLoader.ofCopy(Loop.class).loadClass(Loop.class.getName())
                .getConstructor().newInstance();
        assertTrue(loop.applyAsLong(1) != 0 && Points.any(), "a point has been linked");
        return loop;
    }

    /** How often a loop that no thread wants to stop calls the hook. */
    private static long inVain() throws ReflectiveOperationException {
        LongUnaryOperator loop = loop();
        long before = Points.counters().reached();
        assertTrue(loop.applyAsLong(ArmPoints.PATIENCE * 2) != 0);
        return Points.counters().reached() - before;
    }

    /** One that comes to no point is waited for at once, and then less; the loops of others call the hook no more often. */
    @Test
    void patienceEnds() throws ReflectiveOperationException {
        long mp = Mem.alloc(m.layout(), 1);
        try (TestGmp gmp = TestGmp.procs(1)) {
            Machine lost = Machines.of(gmp.scheduler(), mp);
            M.PROCID.set(mp, 1 << 23);
            ArmPoints points = new ArmPoints();
            assertTrue(loop().applyAsLong(1) != 0);
            assertTrue(points.overran(lost, 1));
            assertEquals(ArmPoints.PATIENCE + 2, inVain(), ArmPoints.PATIENCE / 10);
            assertFalse(points.overran(lost, 1));
            assertEquals(ArmPoints.LATER_PATIENCE, inVain(), ArmPoints.LATER_PATIENCE / 10);
            points.looked(false, System.nanoTime());
        } finally {
            Mem.recycle(m.layout(), mp);
        }
    }

    /** Where the CPU time of a thread cannot be read, sysmon takes the P without it. */
    @Test
    void noClock() throws ReflectiveOperationException {
        LongUnaryOperator loop = loop();
        long mp = Mem.alloc(m.layout(), 1);
        try (TestGmp gmp = TestGmp.procs(1)) {
            Machine unread = Machines.of(gmp.scheduler(), mp);
            M.PROCID.set(mp, 1 << 23); // No thread's.
            ArmPoints points = new ArmPoints();
            assertTrue(points.overran(unread, 1), "asked to yield first");
            assertFalse(points.overran(unread, 1));
            points.looked(false, System.nanoTime());
        } finally {
            Mem.recycle(m.layout(), mp);
        }
    }

    /** One that ran alone for long is told to yield when work comes, and is looked at again as soon as any other. */
    @Test
    void lookedAtCloselyOnceTold() throws ReflectiveOperationException, InterruptedException {
        long until = untilOverOnceTold(false);
        assertTrue(until <= SOON, "the next look is " + until + " ns off");
    }

    /** One that took no nudge the last time yields by itself: that is checked when the next slice may be over. */
    @Test
    void whoCameToAPointIsTrusted() throws ReflectiveOperationException, InterruptedException {
        long until = untilOverOnceTold(true);
        assertTrue(until > SOON && until <= 5 * SOON, "the next look is " + until + " ns off");
    }

    /** How soon sysmon looks again at one that was told to yield; {@code trusted}: it yielded by itself when it was told before. */
    private static long untilOverOnceTold(boolean trusted) throws ReflectiveOperationException, InterruptedException {
        LongUnaryOperator loop = loop();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM))) {
            Scheduler s = gmp.scheduler();
            long pp = s.procs()[0].pp;
            Retake retake = retake(s);
            AtomicBoolean end = new AtomicBoolean();
            CountDownLatch runs = new CountDownLatch(1);
            byte[] bytes = new byte[1 << 20];
            gmp.go(() -> {
                runs.countDown();
                while (!end.get()) {
                    // The JDK's code has no points: told to yield, it runs on a while. And it makes nothing, so that no collection
                    // has its thread sleep.
                    sink = Arrays.hashCode(bytes);
                    if (trusted) {
                        Go.gosched();
                    }
                }
            });
            runs.await();
            long until = Long.MAX_VALUE;
            for (long limit = System.nanoTime() + PATIENCE; until > 5 * SOON && System.nanoTime() < limit;) {
                gmp.go(() -> { // Work that waits: that of the last try may have been run.
                });
                boolean _ = retake.look(System.nanoTime()); // The slice began by now, if sysmon has not seen it.
                long mp = P.M.getOpaque(pp);
                if (mp == 0) {
                    continue; // It has lost its P: no further look is at it.
                }
                WatchedM w = WatchedM.of(s.machine(mp));
                w.awaited = -1;
                long now = System.nanoTime() + QUANTUM.multipliedBy(2).toNanos();
                var _ = retake.look(now);
                if (w.awaited != -1 && w.overrun.prompt() == trusted) { // Else it was inside the runtime, or has just left its slice.
                    until = retake.seen.untilOver(now);
                }
            }
            end.set(true);
            retake.close();
            assertTrue(Points.any(), () -> "no points of " + loop);
            return until;
        }
    }

    /** A thread that is found asleep for the first time when the time of its goroutine is up: the P is not taken from one that runs. */
    @Test
    void aSleeperIsNotOneThatRan() throws InterruptedException {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM))) {
            Scheduler s = gmp.scheduler();
            Retake retake = retake(s);
            for (int i = 0; i < SLEEPERS; i++) {
                AtomicLong mp = new AtomicLong();
                CountDownLatch end = new CountDownLatch(1);
                gmp.go(() -> PinningCall.run(() -> {
                    mp.set(Machine.current().mp);
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }));
                while (mp.get() == 0 || OsThread.state((int) M.PROCID.get(mp.get())) != 'S') {
                    Thread.onSpinWait();
                }
                boolean _ = retake.look(System.nanoTime()); // Nothing waits: it does not look whether the thread sleeps.
                CountDownLatch ran = new CountDownLatch(1);
                gmp.go(ran::countDown);
                var _ = retake.look(System.nanoTime() + QUANTUM.multipliedBy(2).toNanos());
                end.countDown();
                ran.await();
            }
            retake.close();
            assertEquals(0, Stalls.of(s).ran());
        }
    }

    /** All that wait for a P have had a turn after the quantum, unless that makes slices shorter than is wanted. */
    @Test
    void theMoreWaitTheShorterASlice() throws InterruptedException {
        long second = 1_000_000_000;
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofSeconds(5), QUANTUM))) {
            Retake retake = retake(gmp.scheduler());
            for (int waiting : new int[] {0, 1, 6}) {
                AtomicBoolean end = new AtomicBoolean();
                CountDownLatch runs = new CountDownLatch(1);
                CountDownLatch ended = new CountDownLatch(waiting);
                gmp.go(() -> {
                    GStack st = GStack.enter(); // Sysmon cannot take its P now.
                    for (int i = 0; i < waiting; i++) {
                        Go.go(ended::countDown);
                    }
                    runs.countDown();
                    while (!end.get()) {
                        Thread.onSpinWait();
                    }
                    GStack.exit(st);
                });
                runs.await();
                long now = System.nanoTime();
                boolean _ = retake.look(now);
                long until = retake.seen.untilOver(now);
                end.set(true);
                long slice = QUANTUM.toNanos() / Math.max(1, waiting);
                assertTrue(until <= slice && until > slice - 2 * second, waiting + " wait: over in " + until + " ns");
                assertEquals(slice, retake.seen.shortestSlice);
                ended.await(); // They would count the next time.
            }
            retake.close();
        }
    }

    /**
     * A goroutine that no point stops loses its P when its short slice is over, not after a whole quantum. One whose thread sleeps, for
     * a collection or the like, loses it for that: it is tried again.
     */
    @Test
    void aShortSliceEndsWithoutAPoint() {
        int waiting = 2_000;
        byte[] bytes = new byte[1 << 12];
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(10), QUANTUM))) {
            long ran = 0;
            for (int i = 0; i < MAX_TRIES && ran == 0; i++) {
                CountDownLatch left = new CountDownLatch(waiting);
                ran = gmp.call(() -> {
                    for (int k = 0; k < waiting; k++) {
                        Go.go(left::countDown);
                    }
                    long end = System.nanoTime() + QUANTUM.toNanos() / 6;
                    while (left.getCount() != 0 && System.nanoTime() - end < 0) {
                        sink = Arrays.hashCode(bytes);
                    }
                    assertEquals(0, left.getCount());
                    return Stalls.of(Machine.current().s).ran();
                });
            }
            assertTrue(ran > 0, "it lost its P as its thread slept, each time");
        }
    }

    /** Or the first sleep is one that calls end, or a short one. */
    @Test
    void beforeTheFirstLookNothingWasTaken() {
        try (Unwatched gmp = new Unwatched(1_000_000)) {
            assertFalse(gmp.sysmon().retake.seen.tookFromSyscall());
            assertFalse(gmp.sysmon().retake.seen.tookFromSleeper());
        }
    }

    /** A slice counts what its thread ran, not what it waited for a CPU behind other threads. */
    @Test
    void aSliceIsCpuTime() {
        long ms = 1_000_000;
        WatchedM w = new WatchedM();
        w.began(1, 0, 100 * ms);
        assertEquals(0, w.used());
        w.began(1, 20 * ms, 100 * ms);
        assertEquals(0, w.used(), "it slept");
        w.began(1, 22 * ms, 102 * ms);
        assertEquals(2 * ms, w.used());
        w.began(2, TimeUnit.HOURS.toNanos(1), 103 * ms);
        assertEquals(ms, w.used(), "this slice has had no more than since the last scan");
        w.began(3, 2 * ms, 107 * ms);
        assertEquals(2 * ms, w.used(), "before the first scan of a slice it had a CPU, if the thread had one");
        w.began(3, 3 * ms, TimeUnit.HOURS.toNanos(1));
        assertEquals(3 * ms, w.used(), "the clock is another one");
        w.began(3, 4 * ms, 50 * ms);
        assertEquals(4 * ms, w.used(), "and again");
        w.renew();
        w.began(4, 2 * ms, 51 * ms);
        assertEquals(2 * ms, w.used(), "the thread is another one");
    }

    /** Goroutines whose thread seldom has a CPU are asked to yield as often as its CPU time says, and not as the clock does. */
    @Test
    void whoHasNoCpuIsNotAsked() throws InterruptedException {
        long quantum = 10_000_000;
        AtomicBoolean stop = new AtomicBoolean();
        List<Thread> spinners = IntStream.range(0, 6 * Runtime.getRuntime().availableProcessors())
                .mapToObj(_ -> new Thread(() -> spin(stop))).toList();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofNanos(quantum)))) {
            long sched = gmp.scheduler().sched;
            CountDownLatch ended = new CountDownLatch(2);
            spinners.forEach(Thread::start);
            for (int i = 0; i < 2; i++) {
                gmp.go(() -> {
                    while (!stop.get()) {
                        GStack.exit(GStack.enter()); // Yields if it was asked to.
                    }
                    ended.countDown();
                });
            }
            long limit = System.nanoTime() + PATIENCE;
            do { // On a busy machine they may have no CPU for seconds. A few requests would be within the tolerance below.
                Thread.sleep(500);
            } while (SchedStat.NTOLD.getOpaque(sched) < ASKED && System.nanoTime() < limit);
            long asked = SchedStat.NTOLD.getOpaque(sched);
            long cpu = 0;
            for (Machine m : gmp.scheduler().machines()) {
                cpu += ThreadState.cpuNanos(m);
            }
            stop.set(true);
            ended.await();
            assertTrue(asked > 2, "asked " + asked + " times");
            assertTrue(asked <= cpu / quantum + 5, asked + " requests in " + cpu + " ns");
        } finally {
            stop.set(true);
            for (Thread t : spinners) {
                t.join();
            }
        }
    }

    private static void spin(AtomicBoolean stop) {
        while (!stop.get()) {
            Thread.onSpinWait();
        }
    }

    /** A slice whose thread had no CPU for a moment ends when its CPU time is used up, and not some milliseconds later. */
    @Test
    void aMomentWithoutACpuMakesASliceAMomentLonger() throws InterruptedException {
        long moment = 300_000;
        try (Unwatched gmp = new Unwatched(QUANTUM.toNanos())) {
            AtomicLong lost = new AtomicLong();
            Retake retake = new Retake(gmp.s, new Stalls(gmp.s.config.debug())) {
                @Override
                long cpuTime(Machine m, long now) {
                    return now - lost.get();
                }
            };
            gmp.run(() -> {
                Go.go(() -> { });
                long now = System.nanoTime();
                boolean _ = retake.look(now);
                long over = now + retake.seen.untilOver(now);
                lost.set(moment);
                var _ = retake.look(over);
                assertEquals(moment, retake.seen.untilOver(over));
                long later = over + moment / 2;
                lost.addAndGet(moment / 2);
                var _ = retake.look(later);
                assertEquals(QUANTUM.toNanos() / 4, retake.seen.untilOver(later), "it had none since then");
                assertEquals(0, SchedStat.NTOLD.getOpaque(gmp.s.sched));
                lost.set(moment);
                var _ = retake.look(over + moment);
                assertEquals(1, SchedStat.NTOLD.getOpaque(gmp.s.sched));
            });
        }
    }

    /** Where C2 leaves polls out of loops a nudge comes too late: their points are armed. */
    @ParameterizedTest
    @ValueSource(strings = {"Serial", "Parallel", "G1"})
    void loopsWithoutPolls(String collector) {
        Result r = new ChildJvm(UnpolledLoopProgram.class).with("-XX:+Use" + collector + "GC", "-XX:TieredStopAtLevel=4").run();
        assertEquals("in time\n", r.out(), r::toString);
    }

    /** A system call whose P no M wants is new to sysmon once, and does not keep sysmon awake until it ends. */
    @Test
    void aSyscallIsNewOnce() {
        boolean noted = false;
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(QUANTUM))) {
            for (int i = 0; i < CALLS && !noted; i++) {
                noted = gmp.call(() -> {
                    Machine m = Machine.current();
                    long pp = m.attachedP();
                    return Go.blocking(() -> notedWhileInSyscall(retake(m.s), pp));
                });
            }
        }
        assertTrue(noted, "a call that sysmon has seen is new all the time");
    }

    /**
     * Work that was queued since the last look, while an M searches, is no reason to tell a goroutine to yield; it is when it still waits
     * at the next look. (Sysmon looks too, so its look may have been the last.)
     */
    @Test
    void othersTakeWhatIsNew() throws Exception {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(QUANTUM).debug("asyncpreemptoff=1"))) {
            long sched = gmp.scheduler().sched;
            Retake retake = retake(gmp.scheduler());
            assertTrue(gmp.gmp.call(() -> {
                boolean late = false;
                for (int i = 0; i < TRIES && !late; i++) {
                    boolean _ = retake.look(System.nanoTime());
                    long told = SchedStat.NTOLD.getOpaque(sched);
                    long _ = Schedt.addSpinners(sched, Schedt.SPINS); // So no M is woken.
                    try {
                        Go.go(() -> { });
                        late = told(retake, sched) == told && told(retake, sched) == told + 1;
                    } finally {
                        long _ = Schedt.addSpinners(sched, -Schedt.SPINS);
                    }
                    Go.gosched();
                }
                return late;
            }));
        }
    }

    /** Ms on their way do not count for work in the global queue, as they may need any time. */
    @Test
    void theGlobalQueueIsNotNew() throws Exception {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(QUANTUM).debug("asyncpreemptoff=1"))) {
            long sched = gmp.scheduler().sched;
            Retake retake = retake(gmp.scheduler());
            assertTrue(gmp.gmp.call(() -> {
                boolean seen = false;
                for (int i = 0; i < TRIES && !seen; i++) {
                    boolean _ = retake.look(System.nanoTime());
                    long told = SchedStat.NTOLD.getOpaque(sched);
                    long _ = Schedt.addSpinners(sched, Schedt.SPINS); // So no M is woken.
                    try {
                        Thread outside = new Thread(() -> gmp.gmp.go(() -> { }));
                        outside.start();
                        while (outside.isAlive()) {
                            Thread.onSpinWait();
                        }
                        Go.go(() -> { });
                        long now = told(retake, sched);
                        seen = Schedt.RUNQSIZE.getOpaque(sched) > 0; // It was there at that look.
                        assertTrue(!seen || now == told + 1, "left alone");
                    } finally {
                        long _ = Schedt.addSpinners(sched, -Schedt.SPINS);
                    }
                    Go.gosched();
                }
                return seen;
            }));
        }
    }

    /** Sysmon seldom scans a goroutine that has had its quantum and keeps no other waiting: an idle P takes new work. */
    @Test
    void whoRunsAlone() throws Exception {
        Duration quantum = Duration.ofMillis(1);
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(quantum).debug("asyncpreemptoff=1"))) {
            Retake retake = retake(gmp.scheduler());
            assertTrue(gmp.gmp.call(() -> {
                boolean seen = false;
                for (long end = System.nanoTime() + PATIENCE; !seen && System.nanoTime() < end;) { // The other M may still spin.
                    boolean _ = retake.look(System.nanoTime());
                    long later = System.nanoTime() + 2 * quantum.toNanos();
                    var _ = retake.look(later);
                    seen = Schedt.NPIDLE.getVolatile(gmp.scheduler().sched) == 1 && retake.seen.untilOver(later) == quantum.toNanos();
                    Go.gosched();
                }
                return seen;
            }));
        }
    }

    /** A goroutine that has had its quantum is asked to yield only when another waits. */
    @Test
    void whoRunsAloneIsNotTold() throws InterruptedException {
        try (Unwatched gmp = new Unwatched(QUANTUM.toNanos())) {
            Retake retake = retake(gmp.s, new Stalls(gmp.s.config.debug()));
            gmp.run(() -> {
                boolean _ = retake.look(System.nanoTime());
                assertEquals(0, told(retake, gmp.s.sched));
                assertEquals(0, told(retake, gmp.s.sched));
                Go.go(() -> { });
                assertEquals(1, told(retake, gmp.s.sched));
            });
        }
    }

    /** Inside the runtime it is told, and not brought to a point: it looks by itself as it leaves. */
    @Test
    void insideTheRuntimeItNeedsNoPoint() throws ReflectiveOperationException, InterruptedException {
        assertTrue(loop().applyAsLong(1) != 0);
        try (Unwatched gmp = new Unwatched(QUANTUM.toNanos())) {
            Retake retake = retake(gmp.s, new Stalls(gmp.s.config.debug()));
            gmp.run(() -> {
                Go.go(() -> { });
                boolean _ = retake.look(System.nanoTime());
                GStack st = GStack.enter();
                long now = System.nanoTime() + 2 * QUANTUM.toNanos();
                var _ = retake.look(now);
                assertEquals(SOON, retake.seen.untilOver(now));
                assertEquals(-1, WatchedM.of(Machine.current()).awaited);
                GStack.exit(st);
            });
        }
    }

    /** What could not stop one goroutine says nothing of the next, which goes on in the same slice: it has a chance to yield. */
    @Test
    void thatOneCameToNoPointSaysNothingOfTheNext() throws ReflectiveOperationException, InterruptedException {
        assumeTrue(Gate.possible());
        assertTrue(loop().applyAsLong(1) != 0);
        try (Unwatched gmp = new Unwatched(QUANTUM.toNanos())) {
            Retake retake = retake(gmp.s, new Stalls(gmp.s.config.debug()));
            gmp.run(() -> {
                Go.go(() -> { });
                Machine m = Machine.current();
                long tid = M.PROCID.get(m.mp);
                M.PROCID.set(m.mp, 1 << 23); // No thread's: there is no clock, and so no point stops it from the second scan on.
                try {
                    boolean _ = retake.look(System.nanoTime());
                    long now = System.nanoTime() + 2 * QUANTUM.toNanos();
                    assertFalse(retake.look(now), "told");
                    G.PREEMPT.setOpaque(M.CURG.getOpaque(m.mp), 0); // As if it were another.
                    assertFalse(retake.look(now + 1), "told as well");
                    assertTrue(m.attachedP() != 0);
                    assertTrue(retake.look(now + 2), "no point stops it");
                    assertEquals(0, m.attachedP());
                } finally {
                    M.PROCID.set(m.mp, tid);
                }
            });
        }
    }

    /** How many have been told to yield after a look when the quantum is over. */
    private static long told(Retake retake, long sched) {
        boolean _ = retake.look(System.nanoTime() + 2 * QUANTUM.toNanos());
        return SchedStat.NTOLD.getOpaque(sched);
    }

    /** The first G of the ring, and without a ring of runnext, identifies the work: a G behind it changes nothing, a taken one does. */
    @Test
    void whoIsFirst() throws Exception {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).debug("asyncpreemptoff=1"))) {
            assertTrue(gmp.gmp.call(() -> {
                long pp = Machine.current().attachedP();
                WatchedP r = new WatchedP();
                assertFalse(r.changed(pp), "nobody waits, as before");
                Go.go(() -> { });
                assertTrue(r.changed(pp), "one in runnext");
                assertFalse(r.changed(pp));
                Go.go(() -> { });
                assertTrue(r.changed(pp), "the first is in the ring");
                Go.go(() -> { });
                assertFalse(r.changed(pp), "another runnext");
                Go.gosched();
                assertTrue(r.changed(pp), "they have run");
                return true;
            }));
        }
    }

    /** Others are left alone at the first look. */
    @Test
    void aCallLosesItsPAtTheFirstLookIfTheSliceIsOver() throws Exception {
        AtomicBoolean end = new AtomicBoolean();
        int[] calls = new int[3];
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM))) {
            gmp.go(() -> {
                while (!end.get()) {
                    Go.gosched(); // Work waits.
                }
            });
            Retake retake = retake(gmp.scheduler());
            try {
                gmp.call(() -> {
                    boolean took = false;
                    for (int i = 0; i < TRIES; i++) {
                        int before = calls[0];
                        boolean _ = retake.look(System.nanoTime()); // When the slice began is known from here on.
                        int takes = Go.blocking(() -> {
                            boolean left = M.OLDP.get(Machine.current().mp) != 0; // Not given away as the call began.
                            calls[0] += left ? 1 : 0;
                            return left && retake.look(System.nanoTime() + 2 * QUANTUM.toNanos()) ? 1 : 0;
                        });
                        calls[2] += took && calls[0] != before ? 1 : 0;
                        took = takes != 0;
                        calls[1] += takes;
                    }
                    return null;
                });
            } finally {
                end.set(true);
                retake.close();
            }
        }
        assertTrue(calls[1] > calls[0] / 2, Arrays.toString(calls)); // Sysmon, which looks too, may be faster.
        assertTrue(calls[2] > 0, "the next call does not give the P away, as that one did not last");
    }

    private static Retake retake(Scheduler s) {
        return retake(s, Stalls.of(s));
    }

    /** Returns one for which each thread always has a CPU, so that a scan may be in the future. */
    private static Retake retake(Scheduler s, Stalls stalls) {
        return new Retake(s, stalls) {
            @Override
            long cpuTime(Machine m, long now) {
                return now;
            }
        };
    }

    /** Until sysmon has noted the call, which it then does at a look, or has taken the P: only the first will do. */
    private static boolean notedWhileInSyscall(Retake retake, long pp) {
        int tick = P.SYSCALLTICK.getOpaque(pp);
        while (PStatus.get(pp) == PStatus.PSYSCALL && P.SYSCALLTICK.getOpaque(pp) == tick) {
            if (!retake.newSyscall()) {
                return tick != 0 && PStatus.get(pp) == PStatus.PSYSCALL && P.SYSCALLTICK.getOpaque(pp) == tick;
            }
        }
        return false;
    }
}
