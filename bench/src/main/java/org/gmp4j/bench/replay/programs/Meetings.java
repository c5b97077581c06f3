// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.StopTheWorld;

/**
 * Programs in which goroutines meet: each runs on, without a call of the runtime, until all of them run. So none may be left in a queue
 * while a P is idle, as no M would look there later.
 */
final class Meetings {
    private Meetings() {
    }

    /** A case with as many Ps as goroutines that meet. */
    private abstract static class Meeting extends OfLoop {
        final int n;
        private final AtomicInteger there = new AtomicInteger();

        Meeting(int n) {
            this.n = n;
        }

        /** Runs on until all are there. */
        final void meet() {
            there.incrementAndGet();
            while (there.get() < n) {
                Thread.onSpinWait();
            }
        }

        @Override
        protected void end() {
            super.end();
            check(there.get() == n, "of " + n + " goroutines " + there.get() + " have run");
        }
    }

    /** Threads start goroutines that meet. */
    static final class Submits extends Meeting {
        private final int threads;

        Submits(int n, int threads) {
            super(n);
            this.threads = threads;
        }

        @Override
        protected void begin() {
            start(n);
            for (int t = 0; t < threads; t++) {
                lane("go" + t, () -> {
                    for (int i = 0; i < n / threads; i++) {
                        Newproc.newproc(s, this::meet);
                    }
                });
            }
        }
    }

    /** A goroutine starts others, and meets them. */
    static final class Spawns extends Meeting {
        Spawns(int n) {
            super(n);
        }

        @Override
        protected void begin() {
            start(n);
            Newproc.newproc(s, () -> {
                for (int i = 1; i < n; i++) {
                    Go.go(this::meet);
                }
                meet();
            });
        }
    }

    /** Each goroutine starts the next. */
    static final class Tree extends Meeting {
        Tree() {
            super(3);
        }

        @Override
        protected void begin() {
            start(n);
            Newproc.newproc(s, () -> {
                Go.go(() -> {
                    Go.go(this::meet);
                    meet();
                });
                meet();
            });
        }
    }

    /** A goroutine readies others, and meets them. */
    static final class Ready extends Meeting {
        Ready() {
            super(3);
        }

        @Override
        protected void begin() {
            start(n);
            Chan<Integer> c = Chan.make(0);
            for (int i = 1; i < n; i++) {
                Newproc.newproc(s, () -> {
                    Integer _ = c.recv();
                    meet();
                });
            }
            Newproc.newproc(s, () -> {
                for (int i = 1; i < n; i++) {
                    c.send(i);
                }
                meet();
            });
        }
    }

    /** Goroutines sleep, one for longer than the others, and meet. */
    static final class Sleeps extends Meeting {
        Sleeps() {
            super(3);
        }

        @Override
        protected void begin() {
            start(n);
            for (int i = 0; i < n; i++) {
                long nanos = 10_000L + 1_000 * i;
                Newproc.newproc(s, () -> {
                    Go.sleep(Duration.ofNanos(nanos));
                    meet();
                });
            }
        }
    }

    /** One P: a goroutine in a system call meets another, which runs on that P. */
    static final class Calls extends Meeting {
        Calls() {
            super(2);
        }

        @Override
        protected void begin() {
            start(1);
            Newproc.newproc(s, () -> {
                Go.go(this::meet);
                try {
                    Integer _ = Go.blocking(() -> {
                        meet();
                        return 1;
                    });
                } catch (Exception e) {
                    failed(e);
                }
            });
            lane("sysmon", new Retakes(this, true));
        }
    }

    /**
     * Two Ps: a goroutine blocks, and its P, which has work, goes to an M that may be about to sleep; what a thread starts meanwhile is
     * for the other P.
     */
    static final class Taken extends Meeting {
        Taken() {
            super(3);
        }

        @Override
        protected void begin() {
            start(2);
            Newproc.newproc(s, () -> {
                Go.go(this::meet);
                try {
                    Integer _ = Go.blocking(() -> {
                        meet();
                        return 1;
                    });
                } catch (Exception e) {
                    failed(e);
                }
            });
            lane("go", () -> Newproc.newproc(s, this::meet));
            lane("sysmon", new Retakes(this, true));
        }
    }

    /** Three Ps: a goroutine blocks, and its P is handed off while a spinner finds what one thread has started, and another starts more. */
    static final class Handoff extends Meeting {
        Handoff() {
            super(4);
        }

        @Override
        protected void begin() {
            start(3);
            Newproc.newproc(s, () -> {
                Go.go(this::meet);
                try {
                    Integer _ = Go.blocking(() -> {
                        meet();
                        return 1;
                    });
                } catch (Exception e) {
                    failed(e);
                }
            });
            lane("go0", () -> Newproc.newproc(s, this::meet));
            lane("go1", () -> Newproc.newproc(s, this::meet));
            lane("sysmon", new Retakes(this, true));
        }
    }

    /** The number of Ps grows while goroutines wait for Ps. */
    static final class Resized extends Meeting {
        Resized() {
            super(3);
        }

        @Override
        protected void begin() {
            start(1);
            lane("go", () -> {
                int _ = StopTheWorld.setProcs(s, 3);
            });
            lane("more", () -> {
                for (int i = 0; i < n; i++) {
                    Newproc.newproc(s, () -> {
                        while (s.gomaxprocs() < n) {
                            Go.gosched();
                        }
                        meet();
                    });
                }
            });
        }
    }
}
