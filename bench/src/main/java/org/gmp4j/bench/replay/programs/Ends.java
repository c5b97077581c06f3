// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.bench.replay.Threads;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.jdk.Stacks;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;

/** Programs of the JDK's parks, of deadlocks, and of the end of a scheduler. */
final class Ends {
    private Ends() {
    }

    /** Two goroutines that wait for each other's threads to park and be unparked early. */
    static final class Parks extends OfLoop {
        private Thread waiter;

        @Override
        protected void begin() {
            start(2);
            waiter = Stacks.newThread(s, () -> {
                LockSupport.park();
                done.incrementAndGet();
                LockSupport.park();
                done.incrementAndGet();
            });
            lane("start", () -> {
                Threads.start(waiter);
                LockSupport.unpark(waiter);
            });
            lane("unpark", () -> {
                while (done.get() == 0) {
                    Thread.onSpinWait();
                }
                LockSupport.unpark(waiter);
            });
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 2, "an unpark is lost");
        }
    }

    /** A virtual thread parks and then waits on a channel, while the JDK submits it late and twice. */
    static final class ParksLate extends OfLoop {
        @Override
        protected void begin() {
            start(2);
            Chan<Integer> c = Chan.make(0);
            Thread waiter = Stacks.newThread(s, () -> {
                LockSupport.park();
                check(c.recv() == 1, "another element came");
                done.incrementAndGet();
                LockSupport.park();
                done.incrementAndGet();
            });
            Threads.start(waiter);
            lane("unpark", () -> {
                LockSupport.unpark(waiter);
                c.send(1);
                LockSupport.unpark(waiter);
            });
            for (int i = 0; i < 2; i++) {
                lane("dump" + i, () -> {
                    Threads.submit(waiter);
                    Threads.submit(waiter);
                });
            }
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 2, "an unpark is lost");
        }
    }

    /** A thread unparks the only goroutine that can go on, as the last M falls asleep: that is no deadlock. */
    static final class NoDeadlock extends OfLoop {
        @Override
        protected void begin() {
            start(2, 0, true);
            Chan<Integer> c = Chan.make(0);
            Newproc.newproc(s, () -> {
                Integer _ = c.recv();
                done.incrementAndGet();
            });
            Thread waiter = Stacks.newThread(s, () -> {
                LockSupport.park();
                c.send(1);
                done.incrementAndGet();
            });
            Threads.start(waiter);
            lane("unpark", () -> LockSupport.unpark(waiter));
        }

        @Override
        protected void end() {
            super.end();
            check(done.get() == 2, "a goroutine has not ended");
        }
    }

    /** A channel on which nothing comes: the deadlock is reported once all sleep, and not earlier. */
    static final class Deadlock extends OfLoop {
        private boolean reported;

        @Override
        protected void begin() {
            start(2, 0, true);
            Chan<Integer> c = Chan.make(0);
            Newproc.newproc(s, () -> {
                Go.go(() -> {
                    done.incrementAndGet();
                    Integer _ = c.recv();
                });
                Go.gosched();
                done.incrementAndGet();
                Integer _ = c.recv();
            });
        }

        @Override
        void fatal(String message) {
            check(done.get() == 2, "a deadlock was reported while a goroutine could run");
            reported = true;
            exit();
        }

        @Override
        protected void end() {
            check(reported, "all goroutines are asleep, and no deadlock was reported");
        }
    }

    /** The deadlock of goroutines one of which has stopped a timer: it is reported before the timer would have been due. */
    static final class DeadlockBehindTimer extends OfLoop {
        private static final Duration LONG = Duration.ofHours(1);
        private boolean reported;
        private long due;

        @Override
        protected void begin() {
            start(2, 0, true);
            due = now() + LONG.toNanos();
            Chan<Integer> c = Chan.make(0);
            Newproc.newproc(s, () -> {
                Timer t = Time.afterFunc(LONG, done::incrementAndGet);
                Go.go(() -> {
                    boolean _ = t.stop();
                    Integer _ = c.recv();
                });
                Integer _ = c.recv();
            });
        }

        @Override
        void fatal(String message) {
            check(now() < due, "the deadlock was reported when a timer was due that was stopped");
            reported = true;
            exit();
        }

        @Override
        protected void end() {
            check(reported, "all goroutines are asleep, and no deadlock was reported");
        }
    }

    /** The scheduler is closed while its goroutines run. */
    static final class Closes extends OfLoop {
        private boolean closed;

        @Override
        protected void begin() {
            start(2);
            Newproc.newproc(s, () -> {
                Go.go(done::incrementAndGet);
                Go.gosched();
                done.incrementAndGet();
            });
            lane("close", () -> {
                try {
                    closed = Closing.close(s, -1);
                } catch (InterruptedException e) {
                    failed(e);
                }
            });
        }

        @Override
        protected boolean mayRest(String lane) {
            return false;
        }

        @Override
        protected void end() {
            check(closed && done.get() == 2, "the scheduler was closed with goroutines that have not ended");
        }
    }
}
