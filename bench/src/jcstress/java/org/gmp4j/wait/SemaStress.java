// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.gmp4j.struct.WaitReason;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * {@link Sema} between threads that are no Ms: acquire against release. A lost wake-up shows as a test that does not end.
 * Two actors each: jcstress leaves out what needs more CPUs than there are.
 */
public class SemaStress {
    private static void acquire(Sema s) {
        s.acquire(false, WaitReason.SEMACQUIRE);
    }

    /** The unit comes before, while or after the other goes to sleep; what was written before it is seen. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "woken, sees it, and waits nowhere any more")
    @Outcome(expect = FORBIDDEN, desc = "does not see what was written before the release, or is still counted")
    @State
    public static class ReleaseAgainstAcquire {
        private final Sema sema = new Sema();
        private int data;

        @Actor
        public void releaser() {
            data = 1;
            sema.release(false);
        }

        @Actor
        public void acquirer(II_Result r) {
            acquire(sema);
            r.r1 = data;
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = sema.nwait();
        }
    }

    /** The same, handed over: the unit is the waiter's, if there is one. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "has it, and sees what was written")
    @Outcome(expect = FORBIDDEN, desc = "does not see it")
    @State
    public static class HandoffAgainstAcquire {
        private final Sema sema = new Sema();
        private int data;

        @Actor
        public void releaser() {
            data = 1;
            sema.release(true);
        }

        @Actor
        public void acquirer(I_Result r) {
            acquire(sema);
            r.r1 = data;
        }
    }

    /** Two units, one of them handed over, for one that wants two: it gets both, and none is left. */
    @JCStressTest
    @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "both")
    @Outcome(expect = FORBIDDEN, desc = "something is not seen, or it is still counted as waiting")
    @State
    public static class TwoUnits {
        private final Sema sema = new Sema();
        private int data;

        @Actor
        public void releaser() {
            sema.release(true);
            data = 2;
            sema.release(false);
        }

        @Actor
        public void acquirer(II_Result r) {
            acquire(sema);
            acquire(sema);
            r.r1 = data;
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = sema.nwait();
        }
    }

    /** One unit goes to and fro: each has it alone. */
    @JCStressTest
    @Outcome(id = "4, 0", expect = ACCEPTABLE, desc = "one after the other")
    @Outcome(expect = FORBIDDEN, desc = "two had it at once, or one is counted as waiting")
    @State
    public static class ToAndFro {
        private final Sema sema = new Sema();
        private int count;

        public ToAndFro() {
            sema.release(false);
        }

        private void twice(boolean handoff) {
            for (int i = 0; i < 2; i++) {
                acquire(sema);
                count++;
                sema.release(handoff);
            }
        }

        @Actor
        public void one() {
            twice(false);
        }

        @Actor
        public void two() {
            twice(true);
        }

        @Arbiter
        public void end(II_Result r) {
            r.r1 = count;
            r.r2 = sema.nwait();
        }
    }
}
