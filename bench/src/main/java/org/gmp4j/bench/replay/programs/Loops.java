// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.time.Duration;
import java.util.List;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.Select;
import org.gmp4j.check.Invariants;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.jdk.Stacks;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;

/** Programs of the whole loop. */
final class Loops {
    private Loops() {
    }

    /** A thread starts goroutines on idle Ps: each must run, though only some submits wake an M. */
    static final class Submits extends OfLoop {
        private final int procs;
        private final int n;

        Submits(int procs, int n) {
            this.procs = procs;
            this.n = n;
        }

        @Override
        protected void begin() {
            start(procs);
            lane("go", () -> {
                for (int i = 0; i < n; i++) {
                    Newproc.newproc(s, done::incrementAndGet);
                }
            });
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == n, "of " + n + " goroutines " + done.get() + " have run");
        }
    }

    /** Two threads start goroutines at the same time. */
    static final class TwoSubmitters extends OfLoop {
        @Override
        protected void begin() {
            start(2);
            for (int i = 0; i < 2; i++) {
                lane("go" + i, () -> Newproc.newproc(s, done::incrementAndGet));
            }
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 2, "of 2 goroutines " + done.get() + " have run");
        }
    }

    /** A goroutine starts others, whose starts wake Ms that steal them; the ring overflows. */
    static final class Spawns extends OfLoop {
        private final int procs;
        private final int n;

        Spawns(int procs, int n) {
            this.procs = procs;
            this.n = n;
        }

        @Override
        protected void begin() {
            start(procs);
            Newproc.newproc(s, () -> {
                for (int i = 0; i < n; i++) {
                    Go.go(done::incrementAndGet);
                }
            });
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == n, "of " + n + " goroutines " + done.get() + " have run");
        }
    }

    /** Goroutines ready each other through a channel. */
    static final class PingPong extends OfLoop {
        private final int size;

        PingPong(int size) {
            this.size = size;
        }

        @Override
        protected void begin() {
            start(2);
            Chan<Integer> there = Chan.make(size);
            Chan<Integer> back = Chan.make(size);
            Newproc.newproc(s, () -> {
                for (int i = 0; i < 2; i++) {
                    there.send(i);
                    check(back.recv() == i, "another element came back");
                }
                done.incrementAndGet();
            });
            Newproc.newproc(s, () -> {
                for (int i = 0; i < 2; i++) {
                    back.send(there.recv());
                }
                done.incrementAndGet();
            });
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 2, "a goroutine has not ended");
        }
    }

    /** A thread readies goroutines that wait on a channel. */
    static final class ReadyFromOutside extends OfLoop {
        @Override
        protected void begin() {
            start(2);
            Chan<Integer> c = Chan.make(0);
            for (int i = 0; i < 2; i++) {
                Newproc.newproc(s, () -> {
                    Integer _ = c.recv();
                    done.incrementAndGet();
                });
            }
            lane("send", () -> {
                c.send(1);
                c.send(2);
            });
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 2, "a goroutine has not ended");
        }
    }

    /** A goroutine's select is run twice while two others send, and once more beside a close. */
    static final class Selects extends OfLoop {
        private int got;

        @Override
        protected void begin() {
            start(2);
            Chan<Integer> c = Chan.make(0);
            Chan<Integer> d = Chan.make(0);
            Newproc.newproc(s, () -> {
                for (int i = 0; i < 2; i++) {
                    int _ = Select.of().recv(c, v -> got += v).recv(d, v -> got += v).run();
                }
                done.incrementAndGet();
            });
            Newproc.newproc(s, () -> {
                c.send(1);
                done.incrementAndGet();
            });
            Newproc.newproc(s, () -> {
                d.send(10);
                done.incrementAndGet();
            });
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 3 && got == 11, "the select received " + got);
        }
    }

    /** A reader of a condition that another goroutine signals, and one that gives up after a time. */
    static final class Limited extends OfLoop {
        private int got;
        private int sent;

        @Override
        protected void begin() {
            start(2);
            Chan<Integer> c = Chan.make(0);
            Newproc.newproc(s, () -> {
                got += c.recvOkWithin(Duration.ofNanos(5_000)) == null ? 0 : 1;
                done.incrementAndGet();
            });
            Newproc.newproc(s, () -> {
                sent += c.sendWithin(1, Duration.ofNanos(5_000)) ? 1 : 0;
                done.incrementAndGet();
            });
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 2 && got == sent, "sent " + sent + ", received " + got);
        }
    }

    /** Timers that are stopped and set again while they are due. */
    static final class Timers extends OfLoop {
        @Override
        protected void begin() {
            start(2);
            Newproc.newproc(s, () -> {
                Timer t = Time.afterFunc(Duration.ofNanos(10_000), done::incrementAndGet);
                Go.gosched();
                boolean stopped = t.stop();
                boolean _ = t.reset(Duration.ofNanos(stopped ? 2_000 : 3_000));
                Go.sleep(Duration.ofNanos(1_000));
                if (!stopped) {
                    done.addAndGet(10);
                }
            });
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 1 || done.get() == 12, "a timer has fired " + done.get() % 10 + " times");
        }
    }

    /** Goroutines yield to each other. */
    static final class Yields extends OfLoop {
        @Override
        protected void begin() {
            start(2);
            for (int i = 0; i < 3; i++) {
                Newproc.newproc(s, () -> {
                    Go.gosched();
                    Go.gosched();
                    done.incrementAndGet();
                });
            }
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 3, "a goroutine has not ended");
        }
    }

    /** Goroutines sleep for different times. */
    static final class Sleeps extends OfLoop {
        @Override
        protected void begin() {
            start(2);
            for (int i = 1; i <= 3; i++) {
                long nanos = 10_000L * (4 - i);
                Newproc.newproc(s, () -> {
                    long due = now() + nanos;
                    Go.sleep(Duration.ofNanos(nanos));
                    check(now() >= due, "a sleep ended early");
                    done.incrementAndGet();
                });
            }
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 3, "a sleeper was not woken");
        }
    }

    /** Goroutines in system calls, whose Ps others take. */
    static final class Calls extends OfLoop {
        @Override
        protected void begin() {
            start(1);
            for (int i = 0; i < 2; i++) {
                Newproc.newproc(s, () -> {
                    try {
                        Integer _ = Go.blocking(done::incrementAndGet);
                    } catch (Exception e) {
                        failed(e);
                    }
                    Go.gosched();
                    done.incrementAndGet();
                });
            }
            lane("sysmon", new Retakes(this));
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 4, "a call has not ended");
        }
    }

    /** Goroutines in a Mutex, with hand-overs. */
    static final class Mutexes extends OfLoop {
        private int count;

        @Override
        protected void begin() {
            start(2);
            Mutex m = new Mutex();
            for (int i = 0; i < 3; i++) {
                Newproc.newproc(s, () -> {
                    m.lock();
                    int n = count;
                    Go.gosched();
                    count = n + 1;
                    m.unlock();
                });
            }
        }

        @Override
        protected void end() {
            super.end();
            check(count == 3, "two goroutines were in the mutex");
        }
    }

    /** A goroutine waits for a group of others. */
    static final class Group extends OfLoop {
        @Override
        protected void begin() {
            start(2);
            Newproc.newproc(s, () -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < 3; i++) {
                    wg.go(done::incrementAndGet);
                }
                wg.await();
                check(done.get() == 3, "the waiter went on before all had ended");
                done.incrementAndGet();
            });
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 4, "the waiter was left");
        }
    }

    /** The number of Ps changes while goroutines run, wait in the rings of Ps that die, and sleep there. */
    static final class Resizes extends OfLoop {
        private static final int N = 5;

        @Override
        protected void begin() {
            start(2);
            Newproc.newproc(s, () -> {
                for (int i = 0; i < N; i++) {
                    long nanos = 1_000L * i;
                    Go.go(() -> {
                        Go.go(done::incrementAndGet);
                        Go.sleep(Duration.ofNanos(nanos));
                        done.incrementAndGet();
                    });
                }
                Go.gosched();
            });
            lane("procs", () -> {
                while (done.get() == 0) {
                    Thread.onSpinWait();
                }
                int _ = StopTheWorld.setProcs(s, 1);
                int _ = StopTheWorld.setProcs(s, 3);
            });
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 2 * N && s.gomaxprocs() == 3, "of " + 2 * N + " goroutines " + done.get() + " have ended");
        }
    }

    /** A goroutine, perhaps on a P that dies, changes the number of Ps. */
    static final class ResizesInside extends OfLoop {
        @Override
        protected void begin() {
            start(2);
            for (int i = 0; i < 2; i++) {
                boolean resizes = i == 1;
                Newproc.newproc(s, () -> {
                    Go.go(done::incrementAndGet);
                    if (resizes) {
                        int _ = Go.gomaxprocs(1);
                        Go.go(done::incrementAndGet);
                        int _ = Go.gomaxprocs(3);
                    }
                    Go.gosched();
                    done.incrementAndGet();
                });
            }
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 5 && s.gomaxprocs() == 3, "of 5 goroutines " + done.get() + " have ended");
        }
    }

    /** The world is stopped again and again while goroutines run, call the kernel, and end. */
    static final class Stops extends OfLoop {
        private int stopped;
        private boolean inside;

        @Override
        protected void begin() {
            start(2);
            for (int i = 0; i < 2; i++) {
                Newproc.newproc(s, () -> {
                    try {
                        Integer _ = Go.blocking(done::incrementAndGet);
                    } catch (Exception e) {
                        failed(e);
                    }
                    Go.go(done::incrementAndGet);
                    Go.gosched();
                    done.incrementAndGet();
                });
            }
            for (int i = 0; i < 2; i++) {
                lane("stops" + i, () -> StopTheWorld.withWorldStopped(s, () -> {
                    check(!inside, "two threads have stopped the world");
                    inside = true;
                    List<String> broken = Invariants.check(s);
                    check(broken.isEmpty(), broken.isEmpty() ? "" : broken.getFirst());
                    inside = false;
                    stopped++;
                }));
            }
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 6 && stopped == 2, "done " + done.get() + ", stopped " + stopped);
        }
    }

    /** A goroutine is locked to its thread. */
    static final class Locked extends OfLoop {
        @Override
        protected void begin() {
            start(2);
            Chan<Integer> c = Chan.make(0);
            Newproc.newproc(s, () -> {
                Go.lockOSThread();
                Integer _ = c.recv();
                Go.gosched();
                Go.unlockOSThread();
                done.incrementAndGet();
            });
            Newproc.newproc(s, () -> {
                c.send(1);
                Go.gosched();
                done.incrementAndGet();
            });
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 2, "a goroutine has not ended");
        }
    }
}
