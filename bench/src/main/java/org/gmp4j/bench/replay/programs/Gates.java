// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Preempt;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;

/**
 * Programs of the gate between a thread and its P, by which others take the P again and again. A goroutine that is inside the runtime keeps
 * its P, and one that is outside loses it as in a system call.
 */
final class Gates {
    private Gates() {
    }

    private static Program of(String name, String what, Supplier<Case> maker) {
        return Program.ofLoop(name, what, maker);
    }

    static List<Program> all() {
        return List.of(
                of("gate", "a goroutine that is inside the runtime keeps its P", () -> inside(1)),
                of("gate-two", "the same on two Ps", () -> inside(2)),
                of("gate-nested", "a goroutine that was told to yield does so when it leaves the runtime altogether", Gates::nested),
                of("gate-scan", "a goroutine is held for its stack trace as its P is taken", Gates::scan),
                of("gate-parks", "Ps are taken from threads that the JDK parks", Gates::parks),
                of("gate-spawns", "Ps are taken from goroutines that start others", Gates::spawns));
    }

    /** Adds a lane that takes Ps by the gate, and hands them off, until all parts are done. */
    private static void takes(Loop l, int parts) {
        l.withEachP("takes", parts, p -> {
            if (Gate.take(l.s, P.M.getOpaque(p.pp), P.SCHEDTICK.getOpaque(p.pp))) {
                boolean _ = Retakes.handOff(l.s, p.pp);
            }
        });
    }

    private static Case inside(int procs) {
        int n = procs + 1;
        return new Loop(procs, n, l -> {
            l.go(n, () -> {
                for (int i = 0; i < 3; i++) {
                    GStack st = GStack.enter();
                    long mp = st.machine().mp;
                    long pp = M.P.getOpaque(mp);
                    for (int k = 0; k < 3; k++) {
                        check(pp != 0 && M.P.getOpaque(mp) == pp && P.M.getOpaque(pp) == mp && PStatus.get(pp) == PStatus.PRUNNING,
                                "a goroutine that is inside the runtime has lost its P");
                        Thread.onSpinWait();
                    }
                    GStack.exit(st);
                    Thread.onSpinWait();
                }
                l.done();
            });
            takes(l, n);
        });
    }

    private static Case nested() {
        return new Loop(2, 3, l -> l.go(3, () -> {
            for (int i = 0; i < 2; i++) {
                GStack st = GStack.enter();
                long mp = st.machine().mp;
                long pp = st.pp();
                boolean _ = Preempt.preemptone(pp);
                GStack inner = GStack.enter();
                GStack.exit(inner);
                check(st.machine().mp == mp && M.P.getOpaque(mp) == pp, "a goroutine that is inside the runtime has yielded");
                GStack.exit(st);
            }
            l.done();
        }));
    }

    private static Case scan() {
        return new Loop(1, 2, l -> {
            long[] running = {0};
            l.go(2, () -> {
                running[0] = GStack.mine().gp();
                Case.spin(3);
                Go.gosched();
                running[0] = GStack.mine().gp();
                Case.spin(3);
                l.done();
            });
            l.lane("scans", () -> {
                while (l.doneCount() < 2) {
                    long gp = running[0];
                    if (gp != 0 && GStatus.castogscanstatus(gp, GStatus.GRUNNING)) {
                        Thread.onSpinWait();
                        check(GStatus.readgstatus(gp) == (GStatus.GRUNNING | GStatus.GSCAN), "G6: the G has moved while it was held");
                        for (Machine m : l.s.machines()) {
                            check(M.CURG.getOpaque(m.mp) != gp || M.P.getOpaque(m.mp) != 0, "a P was taken from a G that was held");
                        }
                        GStatus.casfromgscanstatus(gp, GStatus.GRUNNING);
                    }
                    Thread.onSpinWait();
                }
            });
            takes(l, 2);
        });
    }

    private static Case parks() {
        return new Loop(2, 4, l -> {
            Thread[] threads = new Thread[2];
            for (int i = 0; i < 2; i++) {
                threads[i] = l.thread(() -> {
                    for (int k = 0; k < 3; k++) {
                        LockSupport.park();
                    }
                    l.done();
                });
            }
            l.go(2, () -> {
                Go.gosched();
                Go.gosched();
                l.done();
            });
            l.lane("unparks", () -> {
                while (l.doneCount() < 4) {
                    LockSupport.unpark(threads[0]);
                    LockSupport.unpark(threads[1]);
                    Thread.onSpinWait();
                }
            });
            takes(l, 4);
        });
    }

    private static Case spawns() {
        return new Loop(2, 8, l -> {
            l.go(2, () -> {
                Chan<Integer> c = Chan.make(4);
                for (int i = 0; i < 3; i++) {
                    Go.go(() -> {
                        c.send(1);
                        l.done();
                    });
                    Thread.onSpinWait();
                }
                for (int i = 0; i < 3; i++) {
                    Integer _ = c.recv();
                }
                l.done();
            });
            takes(l, 8);
        });
    }
}
