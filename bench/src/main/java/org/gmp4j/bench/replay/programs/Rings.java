// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import org.gmp4j.bench.replay.Case;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.G;

/** Programs of a P's ring and runnext: owners push and take, thieves steal. No G may be lost or taken twice. */
final class Rings {
    private static final long POLITE = 0;

    private Rings() {
    }

    /** A case with Ps and Gs, at whose end all Gs have been taken once. */
    private abstract static class OfQueue extends Case {
        final Structs s;

        OfQueue(int procs, int goroutines) {
            s = new Structs(procs, goroutines);
        }

        @Override
        protected void end() {
            s.drain();
            s.all(s.gs.length);
        }

        void push(int p, int g, boolean next) {
            Runq.runqput(s.sched, s.ps[p], s.gs[g], next);
        }

        boolean take(int p) {
            return s.took(Runq.runqget(s.ps[p]));
        }

        void steal(int thief, int victim, boolean runnext) {
            long gp = Runq.runqsteal(s.ps[thief], s.ps[victim], runnext, POLITE);
            if (s.took(gp)) {
                while (take(thief)) {
                    continue;
                }
            }
        }
    }

    /** The owner takes what a thief steals. */
    static final class TakeAndSteal extends OfQueue {
        private final int pushed;

        TakeAndSteal(int pushed) {
            super(2, pushed + 1);
            this.pushed = pushed;
        }

        @Override
        protected void begin() {
            for (int i = 0; i < pushed; i++) {
                push(0, i, false);
            }
            lane("own", () -> {
                boolean _ = take(0);
                push(0, pushed, false);
                boolean _ = take(0);
            });
            lane("thief", () -> steal(1, 0, false));
        }
    }

    /** Two thieves at one ring. */
    static final class TwoThieves extends OfQueue {
        TwoThieves() {
            super(3, 3);
        }

        @Override
        protected void begin() {
            for (int i = 0; i < 3; i++) {
                push(0, i, false);
            }
            lane("one", () -> steal(1, 0, false));
            lane("two", () -> steal(2, 0, false));
        }
    }

    /** Thieves and the owner, with a ring that wraps around. */
    static final class WrapsAround extends OfQueue {
        WrapsAround() {
            super(3, 9);
        }

        @Override
        protected void begin() {
            lane("own", () -> {
                for (int i = 0; i < 9; i++) {
                    push(0, i, false);
                    if (i % 3 == 2) {
                        boolean _ = take(0);
                    }
                }
            });
            lane("one", () -> steal(1, 0, false));
            lane("two", () -> {
                steal(2, 0, false);
                steal(2, 0, false);
            });
        }
    }

    /** The ring overflows into the global queue while a thief steals. */
    static final class Overflow extends OfQueue {
        Overflow() {
            super(2, 6);
        }

        @Override
        protected void begin() {
            for (int i = 0; i < 4; i++) {
                push(0, i, false);
            }
            lane("own", () -> {
                push(0, 4, false);
                push(0, 5, false);
            });
            lane("thief", () -> steal(1, 0, false));
        }
    }

    /** The owner fills runnext and moves what was there into the ring, while a thief takes both. */
    static final class Kick extends OfQueue {
        Kick() {
            super(2, 2);
        }

        @Override
        protected void begin() {
            push(0, 0, true);
            lane("own", () -> push(0, 1, true));
            lane("thief", () -> steal(1, 0, true));
        }
    }

    /** Owner and thief take runnext, which the owner fills again. */
    static final class Runnext extends OfQueue {
        Runnext() {
            super(2, 2);
        }

        @Override
        protected void begin() {
            push(0, 0, true);
            lane("own", () -> {
                boolean _ = take(0);
                push(0, 1, true);
                boolean _ = take(0);
            });
            lane("thief", () -> steal(1, 0, true));
        }
    }

    /** Two thieves take one runnext. */
    static final class RunnextOfTwo extends OfQueue {
        RunnextOfTwo() {
            super(3, 1);
        }

        @Override
        protected void begin() {
            push(0, 0, true);
            lane("one", () -> steal(1, 0, true));
            lane("two", () -> steal(2, 0, true));
        }
    }

    /** A list goes into the ring, its rest to the global queue, beside a thief. */
    static final class Batch extends OfQueue {
        Batch() {
            super(2, 7);
        }

        @Override
        protected void begin() {
            push(0, 0, false);
            push(0, 1, false);
            for (int i = 2; i < 6; i++) {
                G.SCHEDLINK.set(s.gs[i], s.gs[i + 1]);
            }
            lane("own", () -> Runq.runqputbatch(s.sched, s.ps[0], s.gs[2], 5));
            lane("thief", () -> steal(1, 0, false));
        }
    }

    /** A P that always has a G never looks empty. */
    static final class NeverEmpty extends OfQueue {
        NeverEmpty() {
            super(1, 3);
        }

        @Override
        protected void begin() {
            push(0, 0, true);
            lane("own", () -> {
                push(0, 1, true);
                boolean _ = take(0);
                push(0, 2, true);
            });
            lane("looks", () -> check(!Runq.runqempty(s.ps[0]), "a P with a G in its queue looks empty"));
        }
    }
}
