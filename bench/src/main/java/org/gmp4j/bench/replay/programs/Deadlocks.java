// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Descriptors;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.gmp4j.wait.Limits;

/** Programs of deadlocks: each is reported once all sleep, and none is reported while anything may ready a goroutine. */
final class Deadlocks {
    private static final Duration LONG = Duration.ofHours(1);
    private static final long SLICE = 1_000_000;

    private Deadlocks() {
    }

    private static Program of(String name, String what, Supplier<Case> maker) {
        return Program.ofLoop(name, what, maker).in("deadlock");
    }

    static List<Program> all() {
        return List.of(
                of("deadlock", "a deadlock is reported when all sleep, and not before", Deadlocks::deadlock),
                of("deadlock-timer", "a deadlock behind a timer that was stopped is reported before it is due", Deadlocks::behindTimer)
                        .waking(0, 0),
                of("deadlock-timer-outside", "the same, and an M sleeps for the timer meanwhile", Deadlocks::behindTimerOfThread)
                        .waking(0, 0),
                of("deadlock-timer-of-thread", "a deadlock behind a timer that a thread has stopped is reported at once",
                        Deadlocks::behindTimerOfPlainThread).waking(0, 0),
                of("deadlock-timer-moved", "a timer is stopped as it leaves a closed scheduler, and the deadlock of another is reported",
                        Deadlocks::behindMovedTimer).waking(0, 0),
                of("deadlock-locked", "a deadlock of goroutines that are locked to their threads", Deadlocks::locked),
                of("deadlock-net", "a spinner finds the packet for which another M sleeps in the poller, and then all wait",
                        Deadlocks::behindPoller),
                of("no-deadlock", "a thread unparks a goroutine as the last M falls asleep", Deadlocks::noneForUnpark),
                of("no-deadlock-alarm", "a timer of a thread readies a goroutine, and another is stopped as it is due",
                        Deadlocks::noneForAlarm).waking(0, 0),
                of("no-deadlock-stopped", "a timer of a thread readies a goroutine, and another thread sets and stops its own meanwhile",
                        Deadlocks::noneForStopped).waking(0, 0),
                of("no-deadlock-thread", "a thread that waits for a goroutine sends to it afterwards", Deadlocks::noneForThread),
                of("no-deadlock-start", "a thread starts goroutines as the last M falls asleep", Deadlocks::noneForStart),
                of("no-deadlock-locked", "a goroutine is handed to its own thread as the other one sleeps",
                        () -> none(1, 2, Calls::readiesLocked)),
                of("no-deadlock-sleep", "a goroutine sleeps while the others wait for it", Deadlocks::noneForSleep),
                of("no-deadlock-call", "a goroutine is in a call while the others wait for it", Deadlocks::noneForCall));
    }

    /** A case whose goroutines end up waiting for each other: that is reported, when {@code parts} parts are done. */
    private static final class Dead extends OfLoop {
        private final int parts;
        private final Consumer<Dead> body;
        private long due = Long.MAX_VALUE;
        private boolean reported;

        Dead(int parts, Consumer<Dead> body) {
            this.parts = parts;
            this.body = body;
            findingDeadlocks();
        }

        @Override
        protected void begin() {
            start(2);
            body.accept(this);
        }

        /** Says before which time the report must come. */
        void before(long time) {
            due = time;
        }

        @Override
        void fatal(String message) {
            check(doneCount() == parts, "a deadlock was reported while a goroutine could run");
            check(now() < due, "the deadlock was reported when a timer was due that was stopped");
            reported = true;
            exit();
        }

        @Override
        protected void end() {
            check(reported, "all goroutines are asleep, and no deadlock was reported");
            noneRunnable();
        }
    }

    private static Case deadlock() {
        return new Dead(2, d -> {
            Chan<Integer> c = Chan.make(0);
            d.go(() -> {
                Go.go(() -> {
                    d.done();
                    Integer _ = c.recv();
                });
                Go.gosched();
                d.done();
                Integer _ = c.recv();
            });
        });
    }

    private static Case behindTimer() {
        Dead dead = new Dead(0, d -> {
            d.before(d.now() + LONG.toNanos());
            Chan<Integer> c = Chan.make(0);
            d.go(() -> {
                Timer t = Time.afterFunc(LONG, d::done);
                Go.go(() -> {
                    boolean _ = t.stop();
                    Integer _ = c.recv();
                });
                Integer _ = c.recv();
            });
        });
        dead.withSysmon(SLICE);
        return dead;
    }

    /** The second goroutine comes to stop the timer when the first one's M sleeps in the poller for it. */
    private static Case behindTimerOfThread() {
        Dead dead = new Dead(1, d -> {
            d.before(d.now() + LONG.toNanos());
            Chan<Integer> c = Chan.make(0);
            Timer[] timer = {null};
            d.go(() -> {
                timer[0] = Time.afterFunc(LONG, () -> { });
                d.done();
                Integer _ = c.recv();
            });
            d.go(() -> {
                while (d.doneCount() == 0) {
                    Go.gosched();
                }
                for (int i = 0; i < 20; i++) {
                    Thread.onSpinWait();
                }
                boolean _ = timer[0].stop();
                Integer _ = c.recv();
            });
        });
        dead.withSysmon(SLICE);
        return dead;
    }

    /** The timer's entry stays in the heap for a while. The last M may fall asleep as that is swept: then sysmon finds the deadlock. */
    private static Case behindTimerOfPlainThread() {
        Dead dead = new Dead(2, d -> {
            d.before(d.now() + LONG.toNanos());
            Chan<Integer> c = Chan.make(0);
            d.lane("sets", () -> {
                check(Time.afterFunc(LONG, () -> { }).stop(), "the timer had fired");
                d.go(() -> {
                    Go.go(() -> {
                        d.done();
                        Integer _ = c.recv();
                    });
                    d.done();
                    Integer _ = c.recv();
                });
            });
        });
        dead.withSysmon(SLICE);
        return dead;
    }

    /** A thread stops timers as their entries are moved out of a scheduler that has ended. They do not hold the report up. */
    private static Case behindMovedTimer() {
        int n = 3;
        Dead dead = new Dead(1, d -> {
            d.before(d.now() + LONG.toNanos());
            Scheduler closed = d.s;
            Timer[] timers = new Timer[n];
            Cell over = new Cell();
            Newproc.newproc(closed, () -> {
                for (int i = 0; i < n; i++) {
                    timers[i] = Time.afterFunc(LONG, () -> { });
                }
                over.add(1);
            });
            d.start(1);
            d.lane("closes", () -> {
                try {
                    check(Closing.close(closed, -1), "a close without a limit has ended early");
                } catch (InterruptedException e) {
                    Case.failed(e);
                }
                over.add(1);
            });
            d.lane("stops", () -> {
                while (over.get() < 1 || d.living("M") > 0) {
                    Thread.onSpinWait();
                }
                for (Timer timer : timers) {
                    check(timer.stop(), "the timer had fired");
                }
                while (over.get() < 2) {
                    Thread.onSpinWait();
                }
                d.go(() -> {
                    d.done();
                    Integer _ = Chan.<Integer>make().recv();
                });
            });
        });
        dead.withSysmon(SLICE);
        return dead;
    }

    private static Case behindPoller() {
        int reads = 4;
        Dead dead = new Dead(reads + 1, d -> {
            Chan<Integer> c = Chan.make(0);
            int number = Descriptors.open();
            PollFd fd = new PollFd(number);
            d.go(() -> {
                for (int i = 0; i < reads; i++) {
                    long _ = fd.read(MemorySegment.ofArray(new byte[1]), Limits.DEFAULT);
                    d.done();
                }
                Integer _ = c.recv();
            });
            d.go(() -> {
                Go.gosched();
                d.done();
                Integer _ = c.recv();
            });
            d.lane("sends", () -> {
                for (int i = 0; i < reads; i++) {
                    d.until(i);
                    int _ = Descriptors.add(number, 1);
                }
            });
        });
        dead.withNetwork();
        dead.withSysmon(SLICE);
        dead.spinning(20_000);
        return dead;
    }

    private static Case locked() {
        return new Dead(2, d -> {
            Chan<Integer> c = Chan.make(0);
            for (int i = 0; i < 2; i++) {
                boolean locks = i == 0;
                d.go(() -> {
                    if (locks) {
                        Go.lockOSThread();
                    }
                    Go.gosched();
                    d.done();
                    Integer _ = c.recv();
                });
            }
        });
    }

    /** A case without a deadlock, in which a report is a failure. */
    private static Case none(int procs, int parts, Consumer<Loop> body) {
        Loop loop = new Loop(procs, parts, body);
        loop.findingDeadlocks();
        return loop;
    }

    private static Case noneForUnpark() {
        return none(2, 2, l -> {
            Chan<Integer> c = Chan.make(0);
            l.go(() -> {
                Integer _ = c.recv();
                l.done();
            });
            Thread waiter = l.thread(() -> {
                LockSupport.park();
                c.send(1);
                l.done();
            });
            l.lane("unpark", () -> LockSupport.unpark(waiter));
        });
    }

    /** The goroutine comes when the second timer is set, which sends to it. */
    private static Case noneForAlarm() {
        return none(2, 1, l -> {
            Chan<Integer> c = Chan.make(0);
            l.lane("sets", () -> {
                Timer first = Time.afterFunc(Duration.ofNanos(4_000), () -> { });
                Case.spin(7);
                boolean _ = first.stop();
                Timer _ = Time.afterFunc(Duration.ofNanos(50_000), () -> c.send(1));
                l.go(() -> {
                    Integer _ = c.recv();
                    l.done();
                });
            });
        });
    }

    private static Case noneForStopped() {
        return none(2, 1, l -> {
            Chan<Integer> c = Chan.make(0);
            l.lane("sets", () -> {
                Timer _ = Time.afterFunc(Duration.ofNanos(50_000), () -> c.send(1));
                l.go(() -> {
                    Integer _ = c.recv();
                    l.done();
                });
            });
            l.lane("stops", () -> {
                for (int i = 0; i < 3; i++) {
                    boolean _ = Time.afterFunc(Duration.ofNanos(60_000), () -> { }).stop();
                }
            });
        });
    }

    private static Case noneForThread() {
        return none(2, 1, l -> {
            Chan<Integer> there = Chan.make(0);
            Chan<Integer> back = Chan.make(0);
            l.lane("thread", () -> {
                Integer _ = there.recv();
                back.send(1);
            });
            l.lane("go", () -> {
                while (!l.isAsleep("thread")) {
                    Thread.onSpinWait(); // Only a thread that waits in a call of ours is known to the scheduler.
                }
                l.go(() -> {
                    there.send(1);
                    Integer _ = back.recv();
                    l.done();
                });
            });
        });
    }

    private static Case noneForStart() {
        return none(1, 3, l -> l.lane("go", () -> l.go(3, l::done)));
    }

    private static Case noneForSleep() {
        return none(2, 2, l -> {
            Chan<Integer> c = Chan.make(0);
            l.go(() -> {
                Integer _ = c.recv();
                l.done();
            });
            l.go(() -> {
                Loop.sleep(20_000);
                c.send(1);
                l.done();
            });
        });
    }

    private static Case noneForCall() {
        return none(2, 2, l -> {
            Chan<Integer> c = Chan.make(0);
            l.go(() -> {
                Integer _ = c.recv();
                l.done();
            });
            l.go(() -> {
                Loop.blocking(() -> Thread.onSpinWait());
                c.send(1);
                l.done();
            });
            l.lane("sysmon", new Retakes(l));
        });
    }
}
