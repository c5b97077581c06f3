// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.gmp4j.struct.G;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Struct;
import org.gmp4j.testing.Structs;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * {@link Runq}: the owner against thieves. Gs are named 1, 2, 4, 8 by their goid, which is written plainly before the G is
 * queued and read plainly by whoever takes it: a G whose contents are not visible counts as {@link #UNSEEN}.
 */
public class RunqStress {
    private static final int UNSEEN = 1 << 20;

    private static int name(long gp) {
        if (gp == 0) {
            return 0;
        }
        long id = G.GOID.get(gp & ~Runq.INHERIT);
        return id == 0 ? UNSEEN : (int) id;
    }

    /** Takes all that is left of a scheduler with these Ps; each G adds its name. */
    private static int drain(long sched, long... ps) {
        int sum = 0;
        for (long pp : ps) {
            for (long gp = Runq.runqget(pp); gp != 0; gp = Runq.runqget(pp)) {
                sum += name(gp);
            }
        }
        for (long gp = GlobalRunq.pop(sched); gp != 0; gp = GlobalRunq.pop(sched)) {
            sum += name(gp);
        }
        return sum;
    }

    /** A P with a ring that is about to wrap, a thief's P, and Gs. */
    abstract static class Fixture {
        final long sched = Structs.sched();
        final long owner = Structs.p();
        final long thief = Structs.p();
        final long[] gs;

        /** @param queued how many of the Gs stand in the ring already */
        Fixture(int count, int queued) {
            start(owner, -2);
            gs = new long[count];
            for (int i = 0; i < count; i++) {
                gs[i] = Structs.g(i < queued ? 1L << i : 0);
                if (i < queued) {
                    Runq.runqput(sched, owner, gs[i], false);
                }
            }
        }

        static void start(long pp, int at) {
            Mem.INT.set(pp + Struct.P.offset("runqhead"), at);
            Mem.INT.set(pp + Struct.P.offset("runqtail"), at);
        }

        /** The owner names the G and queues it. */
        void put(int i, boolean next) {
            G.GOID.set(gs[i], 1L << i);
            Runq.runqput(sched, owner, gs[i], next);
        }

        int get() {
            return name(Runq.runqget(owner));
        }

        /** Steals and runs all that was stolen. */
        int steal(long by, boolean runnext) {
            int sum = name(Runq.runqsteal(by, owner, runnext, 0));
            for (long gp = Runq.runqget(by); gp != 0; gp = Runq.runqget(by)) {
                sum += name(gp);
            }
            return sum;
        }

        int left() {
            return drain(sched, owner, thief);
        }

        void free() {
            Structs.freeG(gs);
            Structs.freeP(owner, thief);
            Structs.freeSched(sched);
        }
    }

    /** One G: its owner or the thief gets it, with what was written to it. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the owner has it")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the thief has it")
    @Outcome(expect = FORBIDDEN, desc = "lost, taken twice, or not visible")
    @State
    public static class PutGetSteal extends Fixture {
        public PutGetSteal() {
            super(1, 0);
        }

        @Actor
        public void owner(II_Result r) {
            put(0, false);
            r.r1 = get();
        }

        @Actor
        public void thief(II_Result r) {
            r.r2 = steal(thief, false);
        }

        @Arbiter
        public void end() {
            free();
        }
    }

    /** The same through runnext. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the owner has it")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the thief has it")
    @Outcome(expect = FORBIDDEN, desc = "lost, taken twice, or not visible")
    @State
    public static class RunnextGetSteal extends Fixture {
        public RunnextGetSteal() {
            super(1, 0);
        }

        @Actor
        public void owner(II_Result r) {
            put(0, true);
            r.r1 = get();
        }

        @Actor
        public void thief(II_Result r) {
            r.r2 = steal(thief, true);
        }

        @Arbiter
        public void end() {
            free();
        }
    }

    /** A new runnext kicks the old one into the ring while a thief takes either. */
    @JCStressTest
    @Outcome(id = "0, 3", expect = ACCEPTABLE, desc = "both are left")
    @Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "the thief took the first")
    @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "the thief found the ring empty and took the second")
    @Outcome(expect = FORBIDDEN, desc = "lost, taken twice, or not visible")
    @State
    public static class KickAndSteal extends Fixture {
        public KickAndSteal() {
            super(2, 0);
            put(0, true);
        }

        @Actor
        public void owner() {
            put(1, true);
        }

        @Actor
        public void thief(II_Result r) {
            r.r1 = steal(thief, true);
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = left();
            free();
        }
    }

    /** While the G moves from runnext to the ring, the queue never looks empty. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "not empty")
    @Outcome(expect = FORBIDDEN, desc = "looked empty")
    @State
    public static class KickLooksFull extends Fixture {
        public KickLooksFull() {
            super(2, 0);
            put(0, true);
        }

        @Actor
        public void owner() {
            put(1, true);
        }

        @Actor
        public void looker(I_Result r) {
            r.r1 = Runq.runqempty(owner) ? 1 : 0;
        }

        @Arbiter
        public void end() {
            free();
        }
    }

    /** Owner and thief at one ring of four: the sum is right when none is lost and none is taken twice. */
    @JCStressTest
    @Outcome(id = "15", expect = ACCEPTABLE, desc = "each once")
    @Outcome(expect = FORBIDDEN, desc = "lost, taken twice, or not visible")
    @State
    public static class GetAndGrab extends Fixture {
        private int owned;
        private int stolen;

        public GetAndGrab() {
            super(4, 4);
        }

        @Actor
        public void owner() {
            owned = get() + get();
        }

        @Actor
        public void thief() {
            stolen = steal(thief, true);
        }

        @Arbiter
        public void end(I_Result r) {
            r.r1 = owned + stolen + left();
            free();
        }
    }

    /** Two thieves at one ring. */
    @JCStressTest
    @Outcome(id = "15", expect = ACCEPTABLE, desc = "each once")
    @Outcome(expect = FORBIDDEN, desc = "lost, taken twice, or not visible")
    @State
    public static class GrabAndGrab extends Fixture {
        private final long other = Structs.p();
        private int first;
        private int second;

        public GrabAndGrab() {
            super(4, 4);
        }

        @Actor
        public void thief() {
            first = steal(thief, true);
        }

        @Actor
        public void otherThief() {
            second = steal(other, true);
        }

        @Arbiter
        public void end(I_Result r) {
            r.r1 = first + second + left();
            free();
            Structs.freeP(other);
        }
    }

    /** The owner refills slots that the thief may be about to read: with rings of four each put reuses one. */
    @JCStressTest
    @Outcome(id = "63", expect = ACCEPTABLE, desc = "each once")
    @Outcome(expect = FORBIDDEN, desc = "lost, taken twice, or not visible")
    @State
    public static class RefillAndGrab extends Fixture {
        private int owned;
        private int stolen;

        public RefillAndGrab() {
            super(6, 4);
        }

        @Actor
        public void owner() {
            owned = get();
            put(4, false);
            owned += get();
            put(5, false);
        }

        @Actor
        public void thief() {
            stolen = steal(thief, false);
        }

        @Arbiter
        public void end(I_Result r) {
            r.r1 = owned + stolen + left();
            free();
        }
    }

    /** The owner pushes into a full ring, half of which goes to the global queue or to the thief. */
    @JCStressTest
    @Outcome(id = "31", expect = ACCEPTABLE, desc = "each once")
    @Outcome(expect = FORBIDDEN, desc = "lost, taken twice, or not visible")
    @State
    public static class OverflowAndGrab extends Fixture {
        private int stolen;

        public OverflowAndGrab() {
            super(5, 4);
        }

        @Actor
        public void owner() {
            put(4, false);
        }

        @Actor
        public void thief() {
            stolen = steal(thief, false);
        }

        @Arbiter
        public void end(I_Result r) {
            r.r1 = stolen + left();
            free();
        }
    }
}
