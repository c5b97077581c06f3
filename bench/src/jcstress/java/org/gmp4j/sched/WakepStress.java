// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.G;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.Structs;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * {@link Wakep}'s protocol with the steps that the runtime itself takes: one that submits work and then looks for a spinner,
 * against the last spinner, which gives its P up, stops spinning and then looks for work. At least one sees the other.
 */
public class WakepStress {
    /** A P with an owner that submits, and a P whose M, the only spinner, is about to sleep. */
    abstract static class Fixture {
        final long sched = Structs.sched();
        final long pp = Structs.p(0);
        final long spinners = Structs.p(1);
        final long gp = Structs.g(1);

        Fixture() {
            long _ = Schedt.addSpinners(sched, Schedt.SPINS);
        }

        /** Step 3 of the submitter, as {@link Wakep#wakep} begins. */
        final boolean wakes() {
            return Schedt.nmspinningVolatile(sched) == 0 && Schedt.NPIDLE.getVolatile(sched) != 0;
        }

        /** Steps 1 and 2 of the spinner. */
        final void stopSpinning() {
            SchedLock.lock(sched);
            PStatus.set(spinners, PStatus.PIDLE);
            Idle.pidleput(sched, spinners, 0);
            SchedLock.unlock(sched);
            Wakep.stopSpinning(sched);
        }

        /** Step 3 of the spinner. */
        final boolean findsLocal() {
            return !Runq.runqempty(pp);
        }

        final boolean findsGlobal() {
            SchedLock.lock(sched);
            boolean found = Schedt.RUNQSIZE.getOpaque(sched) != 0;
            SchedLock.unlock(sched);
            return found;
        }

        final void free() {
            Structs.freeG(gp);
            Structs.freeP(pp, spinners);
            Structs.freeSched(sched);
        }
    }

    /** A yielded G goes to the ring: the fence after the release of the tail. */
    @JCStressTest
    @Outcome(id = {"true, false", "false, true", "true, true"}, expect = ACCEPTABLE, desc = "one sees the other")
    @Outcome(expect = FORBIDDEN, desc = "the G waits while the P sleeps")
    @State
    public static class ToTheRing extends Fixture {
        @Actor
        public void submitter(ZZ_Result r) {
            Runq.runqput(sched, pp, gp, false);
            r.r1 = wakes();
        }

        @Actor
        public void spinner(ZZ_Result r) {
            stopSpinning();
            r.r2 = findsLocal();
        }

        @Arbiter
        public void end() {
            free();
        }
    }

    /** A new G goes to runnext: the CAS. */
    @JCStressTest
    @Outcome(id = {"true, false", "false, true", "true, true"}, expect = ACCEPTABLE, desc = "one sees the other")
    @Outcome(expect = FORBIDDEN, desc = "the G waits while the P sleeps")
    @State
    public static class ToRunnext extends Fixture {
        @Actor
        public void submitter(ZZ_Result r) {
            Runq.runqput(sched, pp, gp, true);
            r.r1 = wakes();
        }

        @Actor
        public void spinner(ZZ_Result r) {
            stopSpinning();
            r.r2 = findsLocal();
        }

        @Arbiter
        public void end() {
            free();
        }
    }

    /** A list goes to the ring. */
    @JCStressTest
    @Outcome(id = {"true, false", "false, true", "true, true"}, expect = ACCEPTABLE, desc = "one sees the other")
    @Outcome(expect = FORBIDDEN, desc = "the G waits while the P sleeps")
    @State
    public static class AsABatch extends Fixture {
        @Actor
        public void submitter(ZZ_Result r) {
            G.SCHEDLINK.set(gp, 0);
            Runq.runqputbatch(sched, pp, gp, 1);
            r.r1 = wakes();
        }

        @Actor
        public void spinner(ZZ_Result r) {
            stopSpinning();
            r.r2 = findsLocal();
        }

        @Arbiter
        public void end() {
            free();
        }
    }

    /** From a thread without a P, to the global queue: the exchange that frees the lock. */
    @JCStressTest
    @Outcome(id = {"true, false", "false, true", "true, true"}, expect = ACCEPTABLE, desc = "one sees the other")
    @Outcome(expect = FORBIDDEN, desc = "the G waits while the P sleeps")
    @State
    public static class ToTheGlobalQueue extends Fixture {
        @Actor
        public void submitter(ZZ_Result r) {
            SchedLock.lock(sched);
            GlobalRunq.globrunqput(sched, gp);
            SchedLock.unlock(sched);
            r.r1 = wakes();
        }

        @Actor
        public void spinner(ZZ_Result r) {
            stopSpinning();
            r.r2 = findsGlobal();
        }

        @Arbiter
        public void end() {
            free();
        }
    }

    /** Of two submitters that both see no spinner, one makes a spinner. */
    @JCStressTest
    @Outcome(id = {"true, false", "false, true"}, expect = ACCEPTABLE, desc = "one of them")
    @Outcome(expect = FORBIDDEN, desc = "two for one P, or none")
    @State
    public static class OneSpinner {
        private final long sched = Structs.sched();

        @Actor
        public void one(ZZ_Result r) {
            r.r1 = Schedt.NMSPINNING.compareAndSet(sched, 0, Schedt.IS_ON_ITS_WAY);
        }

        @Actor
        public void two(ZZ_Result r) {
            r.r2 = Schedt.NMSPINNING.compareAndSet(sched, 0, Schedt.IS_ON_ITS_WAY);
        }

        @Arbiter
        public void end() {
            Structs.freeSched(sched);
        }
    }

    /** One that sees an M on its way sees when that was woken, not an earlier time. */
    @JCStressTest
    @Outcome(id = {"false, false", "false, true", "true, true"}, expect = ACCEPTABLE, desc = "its own time")
    @Outcome(id = "true, false", expect = FORBIDDEN, desc = "late from the start")
    @State
    public static class WokenAt {
        private final long sched = Structs.sched();

        @Actor
        public void wakes(ZZ_Result r) {
            boolean _ = Wakep.tryAddOnItsWay(sched, 0);
        }

        @Actor
        public void submits(ZZ_Result r) {
            r.r1 = Schedt.onTheirWay(Schedt.NMSPINNING.getVolatile(sched)) != 0;
            r.r2 = Schedt.WOKENAT.getOpaque(sched) != 0;
        }

        @Arbiter
        public void end() {
            Structs.freeSched(sched);
        }
    }
}
