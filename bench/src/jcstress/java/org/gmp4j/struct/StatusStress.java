// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.gmp4j.testing.Structs;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** {@link GStatus} and {@link PStatus}: each transition is one CAS, which publishes what was written before. */
public class StatusStress {
    private static long g(int... path) {
        long gp = Structs.g(0);
        for (int i = 1; i < path.length; i++) {
            GStatus.casgstatus(gp, path[i - 1], path[i]);
        }
        return gp;
    }

    /** newproc's transition releases the new G to whoever sees it runnable. */
    @JCStressTest
    @Outcome(id = "-1", expect = ACCEPTABLE, desc = "not yet runnable")
    @Outcome(id = "7", expect = ACCEPTABLE, desc = "runnable, and all of it is there")
    @Outcome(expect = FORBIDDEN, desc = "runnable before its contents")
    @State
    public static class Published {
        private final long gp = g(GStatus.GIDLE, GStatus.GDEAD);

        @Actor
        public void newproc() {
            G.GOID.set(gp, 7);
            GStatus.casgstatus(gp, GStatus.GDEAD, GStatus.GRUNNABLE);
        }

        @Actor
        public void looker(I_Result r) {
            r.r1 = GStatus.readgstatus(gp) == GStatus.GRUNNABLE ? (int) G.GOID.get(gp) : -1;
        }

        @Arbiter
        public void end() {
            Structs.freeG(gp);
        }
    }

    /** Of two wakers one readies the G. */
    @JCStressTest
    @Outcome(id = {"1, 0", "0, 1"}, expect = ACCEPTABLE, desc = "one of them")
    @Outcome(expect = FORBIDDEN, desc = "both, or none")
    @State
    public static class TwoWakers {
        private final long gp = g(GStatus.GIDLE, GStatus.GDEAD, GStatus.GRUNNABLE, GStatus.GRUNNING, GStatus.GWAITING);

        private int wake() {
            return GStatus.trycasgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE) ? 1 : 0;
        }

        @Actor
        public void one(II_Result r) {
            r.r1 = wake();
        }

        @Actor
        public void two(II_Result r) {
            r.r2 = wake();
        }

        @Arbiter
        public void end() {
            Structs.freeG(gp);
        }
    }

    /** The holder of the scan bit holds the G where it is; the transition waits, and is not lost. */
    @JCStressTest
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "it had moved before the scan")
    @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "held, and nothing changed meanwhile")
    @Outcome(expect = FORBIDDEN, desc = "moved while it was held, or its transition was lost")
    @State
    public static class Scan {
        private final long gp = g(GStatus.GIDLE, GStatus.GDEAD, GStatus.GRUNNABLE, GStatus.GRUNNING, GStatus.GWAITING);

        @Actor
        public void waker() {
            GStatus.casgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE);
            G.GOID.set(gp, 7);
        }

        @Actor
        public void scanner(II_Result r) {
            if (GStatus.castogscanstatus(gp, GStatus.GWAITING)) {
                int same = GStatus.readgstatus(gp) == (GStatus.GWAITING | GStatus.GSCAN) ? 1 : 0;
                same += G.GOID.get(gp) == 0 ? 1 : 0;
                GStatus.casfromgscanstatus(gp, GStatus.GWAITING);
                r.r1 = same;
            }
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = GStatus.readgstatus(gp) == GStatus.GRUNNABLE && G.GOID.get(gp) == 7 ? 1 : 0;
            Structs.freeG(gp);
        }
    }

    /** A P in a system call goes to the M that returns or to sysmon, never to both; sysmon sees what the M left there. */
    @JCStressTest
    @Outcome(id = {"1, 0", "0, 7"}, expect = ACCEPTABLE, desc = "one of them")
    @Outcome(expect = FORBIDDEN, desc = "both, none, or the P's contents are not visible")
    @State
    public static class Retake {
        private final long pp = Structs.p();

        @Actor
        public void m(II_Result r) {
            P.IDLESINCE.set(pp, 7);
            PStatus.setVolatile(pp, PStatus.PSYSCALL);
            r.r1 = PStatus.cas(pp, PStatus.PSYSCALL, PStatus.PRUNNING) ? 1 : 0;
        }

        @Actor
        public void sysmon(II_Result r) {
            int status;
            do {
                status = PStatus.get(pp);
                if (status == PStatus.PSYSCALL && PStatus.cas(pp, PStatus.PSYSCALL, PStatus.PIDLE)) {
                    r.r2 = (int) P.IDLESINCE.get(pp);
                    return;
                }
            } while (status == PStatus.PSYSCALL);
        }

        @Arbiter
        public void end() {
            Structs.freeP(pp);
        }
    }
}
