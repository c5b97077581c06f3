// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.check;

import static org.gmp4j.testing.Raw.plantInt;
import static org.gmp4j.testing.Raw.plantLong;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.lock.LockRank;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;
import org.gmp4j.testing.Raw;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each check of {@link Invariants} fires on a planted fault: the field is broken off-heap, the check is run, the field is
 * put back, the check is run again. Nothing of the scheduler runs in between.
 */
@Tag("ring")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class InvariantsTest {
    private static final int FEW_LOOKS = 2;
    private static final int RUNNABLE = 4;
    private static final long A_WHILE = 10_000_000;

    /** Plants a fault and returns what takes it away. */
    private interface Fault extends Supplier<Runnable> {
    }

    private static Stream<Arguments> each(Map<String, Fault> faults) {
        return faults.entrySet().stream().map(f -> Arguments.of(f.getKey(), f.getValue()));
    }

    private static void fires(Scheduler s, boolean stopped, String name, Fault fault) {
        assertEquals(List.of(), Invariants.look(s, stopped, 100), "before");
        Runnable away = fault.get();
        List<String> found;
        try {
            found = Invariants.look(s, stopped, FEW_LOOKS);
        } finally {
            away.run();
        }
        String invariant = name.replaceAll(" .*", "");
        assertTrue(found.stream().anyMatch(v -> v.startsWith(invariant + ": ")), name + " gave " + found);
        assertEquals(List.of(), Invariants.look(s, stopped, 100), "after");
    }

    // The world is stopped by a goroutine that has the only P; two Gs are runnable there, one in common, one waits, some are dead.

    private long sched;
    private long pp;
    private long mp;
    private Machine machine;
    private long self;
    private volatile long waiting;
    private long global;

    @ParameterizedTest(name = "{0}")
    @MethodSource("stoppedFaults")
    void stopped(String name, Fault fault) {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)))) {
            gmp.run(() -> {
                Chan<Integer> never = Chan.make();
                Go.defer(never::close);
                Go.go(() -> {
                    waiting = GStack.current().gp();
                    never.recv();
                });
                for (int i = 0; i < 8; i++) {
                    Go.go(() -> { });
                }
                Scheduler s = GStack.current().scheduler();
                sched = s.sched;
                self = GStack.current().gp();
                AtomicBoolean tested = new AtomicBoolean();
                while (!tested.get()) {
                    TestGmp.awaitOthers();
                    for (int i = 0; i < RUNNABLE; i++) {
                        Go.go(() -> { });
                    }
                    StopTheWorld.withWorldStopped(s, () -> tested.set(whileStopped(s, name, fault)));
                }
            });
        }
    }

    /** Returns false if sysmon has taken the P meanwhile, on a busy machine, and the goroutines have run. */
    private boolean whileStopped(Scheduler s, String name, Fault fault) {
        machine = Machine.current();
        mp = machine.mp;
        pp = machine.pp();
        if (Runq.runnext(pp) == 0 || Runq.tail(pp) - Runq.head(pp) != RUNNABLE - 1) {
            return false;
        }
        global = Runq.runqget(pp) & ~Runq.INHERIT; // From runnext, into common.
        SchedLock.lock(sched);
        GlobalRunq.globrunqput(sched, global);
        SchedLock.unlock(sched);
        fires(s, true, name, fault);
        return true;
    }

    /** A thread without a P that adds an alarm in a stopped world breaks no invariant between its two stores. */
    @Test
    void anAlarmThatIsBeingAdded() throws InterruptedException {
        AtomicReference<Runnable> planted = new AtomicReference<>();
        Thread adds = new Thread(() -> {
            while (planted.get() == null) {
                Thread.onSpinWait();
            }
            LockSupport.parkNanos(A_WHILE);
            planted.get().run();
        });
        adds.start();
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                Go.sleep(Duration.ofNanos(1)); // The heap has memory now.
                Scheduler s = GStack.current().scheduler();
                StopTheWorld.withWorldStopped(s, () -> {
                    assertEquals(List.of(), Invariants.check(s)); // The next one is fast.
                    planted.set(plantInt(Struct.P, "timersLen", Machine.current().pp(), 1));
                    assertEquals(List.of(), Invariants.check(s));
                });
            });
        }
        adds.join();
    }

    private long ring(int i) {
        return Runq.at(pp, Runq.head(pp) + i);
    }

    private Runnable slot(int i, long gp) {
        long addr = pp + Struct.P.offset("runq")
                + (long) (Runq.head(pp) + i & Runq.LEN - 1) * Long.BYTES;
        long old = Mem.LONG.get(addr);
        Mem.LONG.set(addr, gp);
        return () -> Mem.LONG.set(addr, old);
    }

    private Runnable status(long gp, int to) {
        return plantInt(Struct.G, "atomicstatus", gp, to);
    }

    private Runnable globalTail(long gp) {
        long addr = sched + Struct.SCHEDT.offset("runq");
        return plantLong(Struct.GQUEUE, "tail", addr, gp);
    }

    /** A pair with an M that is not the one the goroutine runs on. */
    private Runnable lockedElsewhere(long gp) {
        long other = Mem.alloc(Struct.M, 1);
        Runnable lockedm = plantLong(Struct.G, "lockedm", gp, other);
        Runnable lockedg = plantLong(Struct.M, "lockedg", other, gp);
        return () -> {
            lockedm.run();
            lockedg.run();
            Mem.recycle(Struct.M, other);
        };
    }

    private static Runnable holdsALock(Machine m) {
        m.heldRanks[m.held++] = LockRank.HCHAN;
        return () -> m.held--;
    }

    private long idleBit() {
        return Schedt.IDLEPMASK.getAcquire(sched);
    }

    private Runnable flipIdleBit() {
        flip();
        return this::flip;
    }

    private void flip() {
        if (Idle.maskRead(idleBit(), P.ID.get(pp))) {
            Idle.maskClear(idleBit(), P.ID.get(pp));
        } else {
            Idle.maskSet(idleBit(), P.ID.get(pp));
        }
    }

    Stream<Arguments> stoppedFaults() {
        Map<String, Fault> f = new TreeMap<>();
        f.put("R1 more than fit", () -> plantInt(Struct.P, "runqtail", pp, Runq.head(pp) + Runq.LEN + 1));
        f.put("R1 the head beyond the tail", () -> plantInt(Struct.P, "runqhead", pp, Runq.tail(pp) + 1));
        f.put("R1 no G in a slot", () -> slot(0, 0));
        f.put("R5 runnext in the ring", () -> plantLong(Struct.P, "runnext", pp, ring(0)));
        f.put("R5 runnext waits", () -> plantLong(Struct.P, "runnext", pp, waiting));
        f.put("R5 runnext is no G", () -> plantLong(Struct.P, "runnext", pp, 4096));
        f.put("R6 runqsize", () -> plantInt(Struct.SCHEDT, "runqsize", sched, 2));
        f.put("R7 a G in common that waits", () -> status(global, GStatus.GWAITING));
        f.put("R7 the tail", () -> globalTail(ring(0)));
        f.put("R7 the last that is ahead", () -> plantLong(Struct.SCHEDT, "lastahead", sched, ring(0)));
        f.put("G1 an unknown state", () -> status(waiting, 7));
        f.put("G1 copystack", () -> status(waiting, GStatus.GCOPYSTACK));
        f.put("G2 curg", () -> plantLong(Struct.M, "curg", mp, waiting));
        f.put("G2 g.m", () -> plantLong(Struct.G, "m", self, 0));
        f.put("G2 another runs", () -> status(waiting, GStatus.GRUNNING));
        f.put("G3 in two slots", () -> slot(0, ring(1)));
        f.put("G3 in the ring and in common", () -> slot(0, global));
        f.put("G3 runnable in no queue", () -> status(waiting, GStatus.GRUNNABLE));
        f.put("G3 lost", () -> plantInt(Struct.P, "runqtail", pp, Runq.tail(pp) - 1));
        f.put("G3 a dead one queued", () -> status(ring(0), GStatus.GDEAD));
        f.put("G4 waits in a ring", () -> slot(0, waiting));
        f.put("G4 waits on an M", () -> plantLong(Struct.G, "m", waiting, mp));
        f.put("M1 nmidle", () -> plantInt(Struct.SCHEDT, "nmidle", sched, Schedt.NMIDLE.getOpaque(sched) + 1));
        f.put("M2 spins in a stopped world", () -> plantInt(Struct.M, "spinning", mp, 1));
        f.put("M4 a P", () -> status(self, GStatus.GSYSCALL));
        f.put("M5 a P", () -> plantInt(Struct.M, "incgo", mp, 1));
        f.put("M6 one-sided lock", () -> plantLong(Struct.M, "lockedg", mp, self));
        f.put("M6 one-sided lock of a G", () -> plantLong(Struct.G, "lockedm", waiting, mp));
        f.put("M6 on another M", () -> lockedElsewhere(self));
        f.put("G5 a lock", () -> holdsALock(machine));
        f.put("M7 too many", () -> plantLong(Struct.SCHEDT, "nmspinning", sched, 2));
        f.put("M7 too few", () -> plantLong(Struct.SCHEDT, "nmspinning", sched, -1));
        f.put("M7 more on their way than spin", () -> plantLong(Struct.SCHEDT, "nmspinning", sched, Schedt.IS_ON_ITS_WAY - Schedt.SPINS));
        f.put("M7 too few on their way", () -> plantLong(Struct.SCHEDT, "nmspinning", sched, Schedt.SPINS - Schedt.IS_ON_ITS_WAY));
        f.put("P1 another M", () -> plantLong(Struct.P, "m", pp, 0));
        f.put("P2 npidle", () -> plantInt(Struct.SCHEDT, "npidle", sched, 1));
        f.put("P4 not stopped", () -> plantInt(Struct.P, "status", pp, PStatus.PRUNNING));
        f.put("P4 gcwaiting", () -> plantInt(Struct.SCHEDT, "gcwaiting", sched, 0));
        f.put("P6 the bit", this::flipIdleBit);
        f.put("gfree count", () -> plantInt(Struct.P, "gfreen", pp, P.GFREEN.get(pp) + 1));
        f.put("gfree alive", () -> status(P.GFREE.get(pp), GStatus.GWAITING));
        f.put("gfree a ring", () -> plantLong(Struct.G, "schedlink", P.GFREE.get(pp), P.GFREE.get(pp)));
        f.put("gfree lost", () -> status(waiting, GStatus.GDEAD));
        f.put("gfree common count", () -> plantLong(Struct.SCHEDT, "gfreecount", sched, 1));
        f.put("gcount births", () -> plantLong(Struct.P, "nspawn", pp, Raw.getLong(Struct.P, "nspawn", pp) + 1));
        f.put("gcount deaths", () -> plantLong(Struct.P, "nexit", pp, Raw.getLong(Struct.P, "nexit", pp) + 1));
        f.put("sudog count", () -> plantInt(Struct.P, "sudogn", pp, P.SUDOGN.get(pp) + 1));
        f.put("goid range", () -> plantLong(Struct.P, "goidcache", pp, P.GOIDCACHEEND.get(pp) + 1));
        f.put("timers first", () -> plantLong(Struct.P, "timer0When", pp, 1));
        f.put("stack none", () -> plantInt(Struct.G, "hasstack", waiting, 0));
        return each(f);
    }

    Stream<Arguments> deadPsFaults() {
        Map<String, Fault> f = new TreeMap<>();
        f.put("P5 alive", () -> plantInt(Struct.P, "status", pp, PStatus.PGCSTOP));
        f.put("P5 not drained", () -> plantLong(Struct.P, "runnext", pp, self));
        f.put("P6 the bit", this::flipIdleBit);
        return each(f);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("deadPsFaults")
    void deadPs(String name, Fault fault) throws Exception {
        try (TestGmp gmp = TestGmp.procs(3)) {
            gmp.gmp.setProcs(2);
            gmp.run(() -> {
                Scheduler s = GStack.current().scheduler();
                sched = s.sched;
                pp = s.procs()[2].pp;
                self = GStack.current().gp();
                StopTheWorld.withWorldStopped(s, () -> fires(s, true, name, fault));
            });
        }
    }

    /** All sleep: what a look under sched.lock finds. */
    Stream<Arguments> sampledIdleFaults() {
        Map<String, Fault> f = new TreeMap<>();
        f.put("M1 a P", () -> plantLong(Struct.M, "p", mp, pp));
        f.put("M1 a goroutine", () -> plantLong(Struct.M, "curg", mp, waiting));
        f.put("M1 nmidle", () -> plantInt(Struct.SCHEDT, "nmidle", sched, Schedt.NMIDLE.getOpaque(sched) + 1));
        f.put("M1 a ring", () -> plantLong(Struct.M, "schedlink", mp, Schedt.MIDLE.get(sched)));
        f.put("M2 idle and spinning", () -> plantInt(Struct.M, "spinning", mp, 1));
        f.put("M7 too many", () -> plantLong(Struct.SCHEDT, "nmspinning", sched, 3));
        f.put("P2 an M", () -> plantLong(Struct.P, "m", pp, mp));
        f.put("P2 running", () -> plantInt(Struct.P, "status", pp, PStatus.PRUNNING));
        f.put("P2 work", () -> plantLong(Struct.P, "runnext", pp, waiting));
        f.put("P2 npidle", () -> plantInt(Struct.SCHEDT, "npidle", sched, 3));
        f.put("P3 idle and in a system call", () -> plantInt(Struct.P, "status", pp, PStatus.PSYSCALL));
        f.put("P4 stopped alone", () -> plantInt(Struct.P, "status", pp, PStatus.PGCSTOP));
        f.put("P5 dead", () -> plantInt(Struct.P, "status", pp, PStatus.PDEAD));
        f.put("P6 the bit", this::flipIdleBit);
        f.put("G2 runs nowhere", () -> status(waiting, GStatus.GRUNNING));
        f.put("G5 a lock", () -> holdsALock(machine));
        f.put("M4 in a system call nowhere", () -> status(waiting, GStatus.GSYSCALL));
        f.put("M5 a native call without a goroutine", () -> plantInt(Struct.M, "incgo", mp, 1));
        f.put("M6 one-sided lock", () -> plantLong(Struct.M, "lockedg", mp, waiting));
        f.put("M6 one-sided lock of a G", () -> plantLong(Struct.G, "lockedm", waiting, mp));
        f.put("R1 more than fit", () -> plantInt(Struct.P, "runqtail", pp, Runq.head(pp) + Runq.LEN + 1));
        f.put("R5 runnext waits", () -> plantLong(Struct.P, "runnext", pp, waiting));
        f.put("R6 runqsize", () -> plantInt(Struct.SCHEDT, "runqsize", sched, 1));
        f.put("G1 an unknown state", () -> status(waiting, 5));
        return each(f);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("sampledIdleFaults")
    void sampledIdle(String name, Fault fault) throws Exception {
        try (TestGmp gmp = TestGmp.procs(4)) {
            Chan<Integer> never = Chan.make();
            Scheduler s = scheduler(gmp);
            while (Schedt.MNEXT.get(sched) < 2) { // With one idle M a ring would be no fault.
                gmp.run(() -> {
                    AtomicBoolean ran = new AtomicBoolean();
                    Go.go(() -> ran.set(true));
                    while (!ran.get()) {
                        Thread.onSpinWait();
                    }
                });
            }
            gmp.go(() -> {
                waiting = GStack.current().gp();
                never.recv();
            });
            while (waiting == 0 || Schedt.NPIDLE.getVolatile(sched) != 4) {
                Thread.sleep(1);
            }
            TestGmp.awaitAsleep(s, 0);
            mp = Schedt.MIDLE.get(sched);
            machine = s.machine(mp);
            pp = Schedt.PIDLE.get(sched);
            try {
                fires(s, false, name, fault);
            } finally {
                never.close();
            }
        }
    }

    private Scheduler scheduler(TestGmp gmp) {
        Scheduler s = gmp.scheduler();
        sched = s.sched;
        return s;
    }

    /** One goroutine runs, in a loop of its own: what a look from outside finds. */
    Stream<Arguments> sampledRunningFaults() {
        Map<String, Fault> f = new TreeMap<>();
        f.put("G2 g.m", () -> plantLong(Struct.G, "m", self, 0));
        f.put("G2 curg", () -> plantLong(Struct.M, "curg", mp, 0));
        f.put("G2 m.p", () -> plantLong(Struct.M, "p", mp, 0));
        f.put("M4 a P", () -> status(self, GStatus.GSYSCALL));
        f.put("M5 a P", () -> plantInt(Struct.M, "incgo", mp, 1));
        f.put("M6 one-sided lock", () -> plantLong(Struct.M, "lockedg", mp, self));
        f.put("M6 on another M", () -> lockedElsewhere(self));
        f.put("P4 stopped alone", () -> plantInt(Struct.P, "status", pp, PStatus.PGCSTOP));
        f.put("P5 dead", () -> plantInt(Struct.P, "status", pp, PStatus.PDEAD));
        f.put("M2 no P", () -> {
            Runnable spinning = plantInt(Struct.M, "spinning", mp, 1);
            Runnable p = plantLong(Struct.M, "p", mp, 0);
            return () -> {
                p.run();
                spinning.run();
            };
        });
        f.put("M3 runs", () -> plantInt(Struct.M, "spinning", mp, 1));
        f.put("P1 p.m", () -> plantLong(Struct.P, "m", pp, 0));
        f.put("P1 m.p", () -> plantLong(Struct.M, "p", mp, 0));
        f.put("P2 idle", () -> plantInt(Struct.P, "status", pp, PStatus.PIDLE));
        f.put("P6 the bit", this::flipIdleBit);
        return each(f);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("sampledRunningFaults")
    void sampledRunning(String name, Fault fault) throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Scheduler s = scheduler(gmp);
            CountDownLatch running = new CountDownLatch(1);
            AtomicBoolean stop = new AtomicBoolean();
            gmp.go(() -> {
                self = GStack.current().gp();
                machine = Machine.current();
                mp = machine.mp;
                GStack.enter();
                pp = Machine.current().pp();
                GStack.exit(GStack.current());
                running.countDown();
                while (!stop.get()) {
                    Thread.onSpinWait();
                }
            });
            running.await();
            try {
                fires(s, false, name, fault);
            } finally {
                stop.set(true);
            }
        }
    }

    /** Of three Ps one is dead, which sysmon does not look at; its state is broken. */
    Stream<Arguments> sampledDeadFaults() {
        Map<String, Fault> f = new TreeMap<>();
        f.put("P3 left by nobody", () -> plantInt(Struct.P, "status", pp, PStatus.PSYSCALL));
        f.put("P3 an M", () -> inSyscall(plantLong(Struct.P, "m", pp, mp)));
        f.put("P3 kept from its work", () -> inSyscall(plantLong(Struct.P, "runnext", pp, self)));
        f.put("P5 alive", () -> plantInt(Struct.P, "status", pp, PStatus.PIDLE));
        f.put("P5 a G", () -> plantLong(Struct.P, "runnext", pp, self));
        f.put("P5 a free G", () -> plantLong(Struct.P, "gfree", pp, self));
        f.put("P5 a sudog", () -> plantInt(Struct.P, "sudogn", pp, 1));
        f.put("P5 a timer", () -> plantInt(Struct.P, "timersLen", pp, 1));
        return each(f);
    }

    /** As if the M had left the P in a system call. */
    private Runnable inSyscall(Runnable more) {
        Runnable left = plantLong(Struct.M, "oldp", mp, pp);
        Runnable status = plantInt(Struct.P, "status", pp, PStatus.PSYSCALL);
        return () -> {
            status.run();
            left.run();
            more.run();
        };
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("sampledDeadFaults")
    void sampledDead(String name, Fault fault) throws Exception {
        try (TestGmp gmp = TestGmp.procs(3)) {
            Scheduler s = scheduler(gmp);
            gmp.gmp.setProcs(2);
            gmp.run(() -> self = GStack.current().gp());
            TestGmp.awaitAsleep(s, 0);
            mp = Schedt.MIDLE.get(sched);
            pp = s.procs()[2].pp;
            fires(s, false, name, fault);
        }
    }

    /** P3, M4 and M5 hold of a goroutine in a system call, its P left to it or taken. */
    @Test
    void inASystemCall() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Scheduler s = scheduler(gmp);
            CountDownLatch inside = new CountDownLatch(1);
            AtomicBoolean stop = new AtomicBoolean();
            gmp.go(() -> {
                try {
                    Go.blocking(() -> {
                        inside.countDown();
                        while (!stop.get()) {
                            Thread.onSpinWait();
                        }
                        return 1;
                    });
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            inside.await();
            assertEquals(List.of(), Invariants.sample(s));
            StopTheWorld.withWorldStopped(s, () -> assertEquals(List.of(), Invariants.check(s)));
            while (Schedt.NPIDLE.getVolatile(sched) != 2) {
                Thread.sleep(1); // Sysmon takes the P.
            }
            assertEquals(List.of(), Invariants.sample(s));
            stop.set(true);
        }
    }

    /** G2 as a goroutine sees it of itself. */
    @Test
    void sampledByAGoroutine() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                long gp = GStack.current().gp();
                assertEquals(gp, M.CURG.get(Machine.current().mp));
                fires(GStack.current().scheduler(), false, "G2", () -> plantLong(Struct.G, "m", gp, 0));
            });
        }
    }
}
