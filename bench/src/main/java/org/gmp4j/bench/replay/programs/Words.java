// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.util.ArrayList;
import java.util.List;

import org.gmp4j.bench.replay.Case;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GFree;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.queue.SudogCache;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;

/** Programs of the words and lists that all threads of a scheduler share. */
final class Words {
    private Words() {
    }

    /** Two Ps and a thread without one at the global queue. */
    static final class Global extends Case {
        private final Structs s = new Structs(2, 6);

        @Override
        protected void begin() {
            lane("puts", () -> {
                for (int i = 0; i < 6; i += 2) {
                    SchedLock.lock(s.sched);
                    GlobalRunq.globrunqput(s.sched, s.gs[i]);
                    GlobalRunq.globrunqputhead(s.sched, s.gs[i + 1]);
                    SchedLock.unlock(s.sched);
                }
            });
            for (int p = 0; p < 2; p++) {
                long pp = s.ps[p];
                lane("P" + p, () -> {
                    for (int i = 0; i < 2; i++) {
                        if (Schedt.RUNQSIZE.getOpaque(s.sched) != 0) {
                            SchedLock.lock(s.sched);
                            boolean _ = s.took(GlobalRunq.globrunqget(s.sched, pp));
                            SchedLock.unlock(s.sched);
                            while (s.took(Runq.runqget(pp))) {
                                continue;
                            }
                        }
                    }
                });
            }
        }

        @Override
        protected void end() {
            s.drain();
            s.all(6);
        }
    }

    /** Bits of a mask that two threads change at the same time. */
    static final class Mask extends Case {
        private final Structs s = new Structs(3, 0);

        @Override
        protected void begin() {
            long mask = Schedt.IDLEPMASK.getAcquire(s.sched);
            Idle.maskSet(mask, 2);
            lane("sets", () -> Idle.maskSet(mask, 0));
            lane("changes", () -> {
                Idle.maskSet(mask, 1);
                Idle.maskClear(mask, 2);
            });
        }

        @Override
        protected void end() {
            long mask = Schedt.IDLEPMASK.getAcquire(s.sched);
            check(Idle.maskRead(mask, 0) && Idle.maskRead(mask, 1) && !Idle.maskRead(mask, 2), "P6: a bit of the mask is lost");
        }
    }

    /** Spinners are counted by several threads. */
    static final class Spinners extends Case {
        private final Structs s = new Structs(1, 0);

        @Override
        protected void begin() {
            for (int i = 0; i < 2; i++) {
                lane("T" + i, () -> {
                    long _ = Schedt.addSpinners(s.sched, Schedt.SPINS);
                    int _ = Schedt.addNpidle(s.sched, 1);
                    long _ = Schedt.addSpinners(s.sched, -Schedt.SPINS);
                });
            }
        }

        @Override
        protected void end() {
            check(Schedt.nmspinningVolatile(s.sched) == 0, "M7: nmspinning is not 0");
            check(Schedt.NPIDLE.getVolatile(s.sched) == 2, "npidle is not 2");
        }
    }

    /** A status changes while another thread holds the G for its stack trace. */
    static final class Scan extends Case {
        private final Structs s = new Structs(1, 1);

        @Override
        protected void begin() {
            long gp = s.gs[0];
            lane("runs", () -> {
                GStatus.casgstatus(gp, GStatus.GRUNNABLE, GStatus.GRUNNING);
                GStatus.casgstatus(gp, GStatus.GRUNNING, GStatus.GWAITING);
            });
            lane("scans", () -> {
                for (int from : new int[] {GStatus.GRUNNABLE, GStatus.GRUNNING}) {
                    if (GStatus.castogscanstatus(gp, from)) {
                        check(GStatus.readgstatus(gp) == (from | GStatus.GSCAN), "G6: the G has moved while it was held");
                        GStatus.casfromgscanstatus(gp, from);
                    }
                }
            });
        }

        @Override
        protected void end() {
            check(GStatus.readgstatus(s.gs[0]) == GStatus.GWAITING, "the G is not where its last step took it");
        }
    }

    /** Dead Gs go from one P through the common list to another. */
    static final class FreeGs extends Case {
        private final Structs s = new Structs(2, 10);
        private final List<Long> taken = new ArrayList<>();

        @Override
        protected void begin() {
            for (int p = 0; p < 2; p++) {
                int from = p * 5;
                long pp = s.ps[p];
                lane("P" + p, () -> {
                    for (int i = from; i < from + 5; i++) {
                        GFree.gfput(s.sched, pp, s.gs[i]);
                    }
                    SchedLock.lock(s.sched);
                    GFree.gfpurge(s.sched, pp);
                    SchedLock.unlock(s.sched);
                    for (int i = 0; i < 3; i++) {
                        long gp = GFree.gfget(s.sched, pp);
                        if (gp != 0) {
                            taken.add(gp);
                        }
                    }
                });
            }
        }

        @Override
        protected void end() {
            for (long pp : s.ps) {
                for (long gp = GFree.gfget(s.sched, pp); gp != 0; gp = GFree.gfget(s.sched, pp)) {
                    taken.add(gp);
                }
            }
            check(taken.size() == 10 && taken.stream().distinct().count() == 10, "free Gs are lost, or in two hands");
        }
    }

    /** Threads without a P and two Ps share the list of free sudogs. */
    static final class Sudogs extends Case {
        private final Structs s = new Structs(2, 0);
        private final List<Long> held = new ArrayList<>();

        @Override
        protected void begin() {
            for (int i = 0; i < 3; i++) {
                long pp = i == 2 ? 0 : s.ps[i];
                lane(i == 2 ? "none" : "P" + i, () -> {
                    long a = SudogCache.acquire(pp);
                    long b = SudogCache.acquire(pp);
                    hold(a);
                    hold(b);
                    held.remove(a);
                    SudogCache.release(pp, a);
                });
            }
        }

        private void hold(long sg) {
            check(!held.contains(sg), "a sudog was given out twice");
            held.add(sg);
        }

        @Override
        protected void end() {
            check(held.size() == 3, "sudogs are lost");
        }
    }

    /**
     * What has arrived precedes what Ps have put off, and each keeps its order, but woken Gs go ahead as far as the policy lets them.
     */
    static final class Arrived extends Case {
        private final Structs s = new Structs(1, 9);

        @Override
        protected void begin() {
            lane("arrives", () -> {
                SchedLock.lock(s.sched);
                GlobalRunq.globrunqputarrived(s.sched, s.gs[0]);
                SchedLock.unlock(s.sched);
                SchedLock.lock(s.sched);
                G.SCHEDLINK.set(s.gs[1], s.gs[2]);
                GlobalRunq.globrunqputarrived(s.sched, s.gs[1], s.gs[2], 2);
                for (int i = 5; i < s.gs.length; i++) {
                    GlobalRunq.globrunqputahead(s.sched, s.gs[i]);
                }
                SchedLock.unlock(s.sched);
            });
            lane("puts", () -> {
                SchedLock.lock(s.sched);
                GlobalRunq.globrunqput(s.sched, s.gs[3]);
                SchedLock.unlock(s.sched);
                SchedLock.lock(s.sched);
                GlobalRunq.globrunqput(s.sched, s.gs[4]);
                SchedLock.unlock(s.sched);
            });
        }

        @Override
        protected void end() {
            for (int i : new int[] {5, 6, 7, 0, 8, 1, 2, 3, 4}) {
                long next = GlobalRunq.pop(s.sched);
                check(next == s.gs[i], "the global queue has G" + (next == 0 ? 0 : G.GOID.get(next)) + " where G" + (i + 1) + " belongs");
                boolean _ = s.took(next);
            }
            s.all(s.gs.length);
        }
    }

    /**
     * Woken Gs go ahead of the others that have arrived, three before each of them, while a P takes from both lists. An other is taken
     * before a woken one only if three woken ones have been taken since the other before it.
     */
    static final class Ahead extends Case {
        private static final int WOKEN = 6;
        private static final int MOST = 3;
        private static final int COUNT = 9;
        private final Structs s = new Structs(1, COUNT);
        /** The other Gs that wait in the queue. For each woken G, the other Gs that waited when it came. */
        private final List<Long> others = new ArrayList<>();
        private final List<List<Long>> waited = new ArrayList<>();
        /** How many woken Gs may still go ahead of an other, by its number. */
        private final int[] left = new int[COUNT];
        private int waiting;
        private int since;
        private int taken;

        private void locked(Runnable change) {
            SchedLock.lock(s.sched);
            change.run();
            SchedLock.unlock(s.sched);
        }

        @Override
        protected void begin() {
            lane("wakes", () -> {
                for (int i = 0; i < WOKEN; i++) {
                    long gp = s.gs[i];
                    locked(() -> {
                        waiting++;
                        waited.add(List.copyOf(others));
                        GlobalRunq.globrunqputahead(s.sched, gp);
                    });
                }
            });
            lane("arrives", () -> {
                for (int i = WOKEN; i < COUNT - 1; i++) {
                    int k = i;
                    locked(() -> {
                        others.add(s.gs[k]);
                        left[k] = MOST * others.size();
                        GlobalRunq.globrunqputarrived(s.sched, s.gs[k]);
                    });
                }
            });
            lane("puts", () -> locked(() -> GlobalRunq.globrunqput(s.sched, s.gs[COUNT - 1])));
            lane("P", () -> {
                for (int i = 0; taken < COUNT; i++) {
                    boolean turn = i % 2 != 0;
                    locked(() -> took(turn ? GlobalRunq.globrunqturn(s.sched, s.ps[0]) : GlobalRunq.pop(s.sched)));
                    Thread.onSpinWait();
                }
            });
        }

        private void took(long gp) {
            if (!s.took(gp)) {
                return;
            }
            taken++;
            int i = (int) G.GOID.get(gp) - 1;
            if (i < WOKEN) {
                waiting--;
                since++;
                for (long other : waited.get(i)) {
                    int k = (int) G.GOID.get(other) - 1;
                    check(!others.contains(other) || left[k]-- > 0, "more than three woken Gs went ahead of one");
                }
            } else if (others.remove(gp)) {
                check(waiting == 0 || since >= MOST, "a woken G waits behind one that it goes ahead of");
                since = 0;
            }
            since = waiting == 0 && others.isEmpty() ? 0 : since;
        }

        @Override
        protected void end() {
            s.all(COUNT);
        }
    }

    /**
     * A P takes Gs from the global queue, whether {@code sched.runq} comes first or not. A thread puts some Gs there and a preempted
     * goroutine others. No G gets into the ring. Unless {@code sched.runq} comes first, the Gs of {@code sched.arrived} do.
     */
    static final class Turns extends Case {
        private final Structs s = new Structs(1, 5);
        private int taken;

        private void put(int i) {
            SchedLock.lock(s.sched);
            GlobalRunq.globrunqput(s.sched, s.gs[i]);
            SchedLock.unlock(s.sched);
        }

        private void arrives(int i) {
            SchedLock.lock(s.sched);
            GlobalRunq.globrunqputarrived(s.sched, s.gs[i]);
            SchedLock.unlock(s.sched);
        }

        @Override
        protected void begin() {
            lane("puts", () -> {
                put(0);
                put(1);
                put(2);
            });
            lane("arrives", () -> {
                arrives(3);
                arrives(4);
            });
            lane("P", () -> {
                for (int i = 0; taken < s.gs.length; i++) {
                    take(s.ps[0], i % 2 == 0);
                    Thread.onSpinWait();
                }
            });
        }

        private void take(long pp, boolean turn) {
            P.GLOBALDUE.setOpaque(pp, 1);
            long turns = PStat.NGLOBAL.getOpaque(pp);
            SchedLock.lock(s.sched);
            boolean arrived = GlobalRunq.anyArrived(s.sched);
            long gp = turn ? GlobalRunq.globrunqturn(s.sched, pp) : GlobalRunq.globrunqget(s.sched, pp);
            SchedLock.unlock(s.sched);
            check(Runq.runqempty(pp), "a G of the global queue is in a ring");
            if (s.took(gp)) {
                taken++;
                check(turn || !arrived || gp == s.gs[3] || gp == s.gs[4], "what has arrived waits behind what was put off");
            }
            check(!turn || P.GLOBALDUE.getOpaque(pp) == 0, "the queue is due after its turn");
            check(gp == 0 || !turn || PStat.NGLOBAL.getOpaque(pp) == turns + 1, "a turn was not counted");
            check(gp == 0 || arrived || P.GLOBALDUE.getOpaque(pp) == 0, "the queue is due though a G was taken from it");
        }

        @Override
        protected void end() {
            s.drain();
            s.all(s.gs.length);
        }
    }
}
