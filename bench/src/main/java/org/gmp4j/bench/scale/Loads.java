// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.scale;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.Select;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;

/** What the series do. Each checks its results. */
final class Loads {
    /** The property that {@link Scaling} sets. */
    static final String PROPERTY = "gmp.scale.operations";

    /** In one run: some 10 to 50 ms. */
    static final int MOST_OPERATIONS = 100_000;
    private static final int OPERATIONS = Integer.getInteger(PROPERTY, MOST_OPERATIONS);
    private static final int BATCH = 100;
    private static final int GOROUTINES_A_P = 4;

    private Loads() {
    }

    // ---- on n Ps

    /** So many goroutines do the same: nothing else runs. */
    private abstract static class Crowd extends Load {
        private final int crowd;
        final int each;

        Crowd(int procs, int crowd) {
            super(procs);
            this.crowd = crowd;
            each = Math.max(1, OPERATIONS / crowd);
        }

        /** Does {@link #each} operations. */
        abstract void one();

        @Override
        long run() {
            WaitGroup all = new WaitGroup();
            for (int i = 0; i < crowd; i++) {
                all.go(this::one);
            }
            all.await();
            return (long) crowd * each;
        }
    }

    /** Makes a load of 4 goroutines a P that yield to each other. */
    static Load yields(int procs) {
        return new Crowd(procs, GOROUTINES_A_P * procs) {
            @Override
            void one() {
                for (int i = 0; i < each; i++) {
                    Go.gosched();
                }
            }
        };
    }

    /** Makes a load of one goroutine a P that starts others, in batches, and waits for them. */
    static Load spawns(int procs) {
        return new Crowd(procs, procs) {
            @Override
            void one() {
                for (int left = each; left > 0; left -= BATCH) {
                    spawn(Math.min(left, BATCH));
                }
            }
        };
    }

    private static void spawn(int n) {
        AtomicLong ran = new AtomicLong();
        WaitGroup all = new WaitGroup();
        for (int i = 0; i < n; i++) {
            all.go(ran::incrementAndGet);
        }
        all.await();
        Load.check(ran.get() == n, "how many goroutines ran");
    }

    /** Makes a load of one pair a P that passes values through an unbuffered channel. */
    static Load passes(int procs) {
        return new Crowd(procs, procs) {
            @Override
            void one() {
                LongChan c = LongChan.make();
                Go.go(() -> {
                    for (int i = 0; i < each; i++) {
                        c.send(i);
                    }
                });
                for (int i = 0; i < each; i++) {
                    check(c.recv() == i, "a pass out of order");
                }
            }
        };
    }

    // ---- n goroutines, 1 P

    /** Makes a load of n goroutines that yield to each other for ever. */
    static Load round(int n) {
        return new Load(1) {
            /** Of all but the measuring one. Not atomic: a goroutine may lose its P in the middle, but rarely does. */
            private long turns;
            private volatile boolean stop;
            /** Closed when all are there. */
            private final LongChan all = LongChan.make();

            {
                gmp.run(() -> {
                    for (int i = 0; i < n; i++) {
                        Go.go(this::turn);
                    }
                    all.close();
                });
            }

            private void turn() {
                long closed = all.recv(); // Else their maker would wait for a whole round after each time slice.
                while (!stop) {
                    turns++;
                    Go.gosched();
                }
            }

            @Override
            long run() {
                long before = turns;
                int own = Math.max(1, OPERATIONS / n);
                for (int i = 0; i < own; i++) {
                    Go.gosched();
                }
                return turns - before + own;
            }

            @Override
            void end() {
                stop = true;
            }
        };
    }

    /** A token goes around n goroutines and the measuring one. */
    static final class Ring extends Load {
        private final LongChan[] links;

        Ring(int n) {
            super(1);
            links = new LongChan[n + 1];
            for (int i = 0; i <= n; i++) {
                links[i] = LongChan.make();
            }
            gmp.run(() -> {
                for (int i = 0; i < n; i++) {
                    LongChan in = links[i];
                    LongChan out = links[i + 1];
                    Go.go(() -> node(in, out));
                    if (i % BATCH == 0) {
                        Go.gosched(); // Those made so far run, and wait.
                    }
                }
            });
        }

        private static void node(LongChan in, LongChan out) {
            long v = in.recv();
            for (; v >= 0; v = in.recv()) {
                out.send(v + 1);
            }
            out.send(v);
        }

        /** Goes around once, and returns the hops. */
        int round() {
            int n = links.length;
            links[0].send(0);
            check(links[n - 1].recv() == n - 1, "the token's count");
            return n;
        }

        @Override
        long run() {
            long hops = 0;
            while (hops < OPERATIONS) {
                hops += round();
            }
            return hops;
        }

        @Override
        void end() {
            links[0].send(-1);
            check(links[links.length - 1].recv() == -1, "the token that ends the ring");
        }
    }

    // ---- n timers

    /** n timers of functions that are not due for an hour or two. A channel's timer is in no heap while no goroutine waits for it. */
    private abstract static class Timers extends Load {
        private static final int DURATIONS = 4096; // Made once, or they would be most of the garbage.

        final Timer[] live;
        final Duration[] later = new Duration[DURATIONS];
        final SplittableRandom random = new SplittableRandom(1);

        Timers(int n) {
            super(1);
            for (int i = 0; i < DURATIONS; i++) {
                later[i] = Duration.ofNanos(random.nextLong(3_600_000_000_000L, 7_200_000_000_000L));
            }
            live = new Timer[n];
            gmp.run(() -> {
                for (int i = 0; i < n; i++) {
                    live[i] = make();
                }
            });
        }

        final Timer make() {
            return Time.afterFunc(duration(), () -> check(false, "a timer fired"));
        }

        final Duration duration() {
            return later[random.nextInt(DURATIONS)];
        }

        @Override
        final long run() {
            for (int i = 0; i < OPERATIONS; i++) {
                check(one(), "a live timer was not");
            }
            return OPERATIONS;
        }

        /** Does an operation, and returns whether the timer was live. */
        abstract boolean one();

        @Override
        final void end() {
            for (Timer t : live) {
                check(t.stop(), "a live timer was not");
            }
        }
    }

    /** Makes a load that makes and stops one more timer among n. */
    static Load timers(int n) {
        return new Timers(n) {
            @Override
            boolean one() {
                return make().stop();
            }
        };
    }

    /** Makes a load that resets any of n timers. */
    static Load resets(int n) {
        return new Timers(n) {
            @Override
            boolean one() {
                return live[random.nextInt(live.length)].reset(duration());
            }
        };
    }

    // ---- n channels

    /** Makes a load of one goroutine that sends to and receives from each channel, one after the other. */
    static Load channels(int n) {
        LongChan[] all = channels(n, 1);
        return new Load(1) {
            @Override
            long run() {
                long operations = 0;
                while (operations < OPERATIONS) {
                    for (LongChan c : all) {
                        c.send(operations);
                        check(c.recv() == operations++, "what a channel held");
                    }
                }
                return operations;
            }
        };
    }

    private static LongChan[] channels(int n, int capacity) {
        LongChan[] all = new LongChan[n];
        for (int i = 0; i < n; i++) {
            all[i] = LongChan.make(capacity);
        }
        return all;
    }

    /** Makes a load of selects over n channels, of which the last is ready. */
    static Load select(int n) {
        LongChan[] all = channels(n, 1);
        long[] got = new long[1];
        Select s = Select.of();
        for (LongChan c : all) {
            s.recvLong(c, v -> got[0] = v);
        }
        return new Load(1) {
            @Override
            long run() {
                int operations = OPERATIONS / n;
                for (int i = 1; i <= operations; i++) {
                    all[n - 1].send(i);
                    check(s.run() == n - 1 && got[0] == i, "a select's case");
                }
                return operations;
            }
        };
    }

    // ---- n in a queue

    /** Makes a load of n receivers of one channel: the first gets a value, runs and waits again. */
    static Load receivers(int n) {
        LongChan c = LongChan.make();
        return new Load(1) {
            private long sent;
            private final AtomicLong received = new AtomicLong(); // A goroutine may lose its P in the middle.

            {
                gmp.run(() -> {
                    for (int i = 0; i < n; i++) {
                        Go.go(this::receive);
                    }
                });
            }

            private void receive() {
                for (long v = c.recv(); v > 0; v = c.recv()) {
                    received.getAndAdd(v);
                }
            }

            @Override
            long run() {
                for (int i = 1; i <= OPERATIONS; i++) {
                    c.send(i);
                    sent += i;
                    Go.gosched();
                }
                for (int i = 0; received.get() != sent && i < OPERATIONS; i++) {
                    Go.gosched(); // Now and then the global queue comes first: the last receiver has not run then.
                }
                check(received.get() == sent, "the sum of what was received");
                return OPERATIONS;
            }

            @Override
            void end() {
                c.close();
            }
        };
    }

    /** Makes a load of n goroutines that wait for one mutex: each unlock lets the next go on. */
    static Load lockers(int n) {
        Mutex m = new Mutex();
        return new Load(1) {
            private long guarded;
            private boolean stop;
            private final AtomicLong turns = new AtomicLong();

            {
                gmp.run(() -> {
                    for (int i = 0; i < n; i++) {
                        Go.go(() -> {
                            while (!turn()) {
                                Go.gosched();
                            }
                        });
                    }
                });
            }

            private boolean turn() {
                m.lock();
                guarded++;
                turns.getAndIncrement();
                boolean last = stop;
                m.unlock();
                return last;
            }

            @Override
            long run() {
                long before = turns.get();
                while (turns.get() - before < OPERATIONS) {
                    boolean _ = turn();
                    Go.gosched();
                }
                long operations = turns.get() - before;
                m.lock();
                check(guarded == turns.get(), "the mutex let two in");
                m.unlock();
                return operations;
            }

            @Override
            void end() {
                m.lock();
                stop = true;
                m.unlock();
            }
        };
    }

    /** Makes a load that starts n goroutines before the first runs, so that those beyond the P's ring wait in the global queue. */
    static Load global(int n) {
        return new Load(1) {
            @Override
            long run() {
                long operations = 0;
                while (operations < OPERATIONS) {
                    spawn(n);
                    operations += n;
                }
                return operations;
            }
        };
    }
}
