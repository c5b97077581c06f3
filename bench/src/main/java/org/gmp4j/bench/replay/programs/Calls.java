// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.util.List;
import java.util.function.Supplier;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Preempt;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.upkeep.Upkeep;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.sync.Mutex;

/** Programs of goroutines without a P, or with a thread of their own: system calls, locked threads, pinned stacks, Ms that end or fail. */
final class Calls {
    private static final long IDLE = 10_000;

    private Calls() {
    }

    private static Program of(String name, String what, Supplier<Case> maker) {
        return Program.ofLoop(name, what, maker);
    }

    static List<Program> all() {
        return List.of(
                of("calls", "system calls whose P is taken", Calls::calls),
                of("calls-two", "two Ps are taken from calls and from goroutines that run", Calls::callsOfTwo),
                of("calls-at-once", "a goroutine whose last call lost its P gives it up at once in the next", () -> callsAtOnce(true)),
                of("calls-kept", "one that lost it as its slice was over keeps it, and so does one after a short call",
                        () -> callsAtOnce(false)),
                of("meet-calls", "a goroutine in a call meets one that needs its P", Calls::meetsInCall),
                of("preempted", "goroutines at a channel and a lock are told to yield, and lose their Ps", Calls::preempted),
                of("slices", "a P is asked for in a time slice that has ended", Slices::new).watching(),
                of("slice-after-told", "what runs after a goroutine that was told to yield has a slice of its own", Calls::sliceAfterTold),
                of("slice-of-taken", "a goroutine that gets a P that was taken has a slice of its own", Calls::sliceOfTaken),
                of("preempted-pinned", "pinned goroutines that are told to yield keep their Ms", Calls::preemptedPinned),
                of("locked", "a goroutine is locked to its thread", () -> new Loop(2, 2, Calls::readiesLocked)),
                of("locked-ends", "a goroutine ends that is locked to its thread", Calls::lockedEnds),
                of("locked-twice", "a goroutine that has locked its thread twice keeps it until the second unlock", Calls::lockedTwice),
                of("locked-sleeps", "a locked goroutine sleeps beside one that sleeps for longer", Calls::lockedSleeps)
                        .waking(0, 1),
                of("pinned", "a goroutine that is pinned waits, and yields", Calls::pinned),
                of("pinned-locked", "a pinned wait does not end the lock of a thread", Calls::pinnedLocked),
                of("idle-few", "as many Ms stay as there are Ps, however long they sleep", Calls::idleFew).waking(4, 0),
                of("idle-ms", "Ms that are not needed end while they are wanted again", Calls::idleMs).waking(4, 0),
                of("no-threads", "threads cannot be started, and sysmon tries again", Calls::noThreads).failingStarts(2),
                of("no-threads-meet", "the same for goroutines that need all Ps", Calls::noThreadsMeet).failingStarts(2));
    }

    private static Case calls() {
        return new Loop(1, 4, l -> {
            l.go(2, () -> {
                Loop.blocking(l::done);
                Go.gosched();
                l.done();
            });
            l.lane("sysmon", new Retakes(l));
        });
    }

    private static Case callsOfTwo() {
        return new Loop(2, 6, l -> {
            l.go(3, () -> {
                Loop.blocking(() -> {
                    Thread.onSpinWait();
                    l.done();
                });
                Go.go(l::done);
            });
            l.lane("sysmon", new Retakes(l));
        });
    }

    private static Case meetsInCall() {
        return new Loop(1, 2, l -> {
            l.go(() -> {
                Go.go(() -> l.meet(2));
                Loop.blocking(() -> l.meet(2));
            });
            l.lane("sysmon", Retakes.untilTaken(l));
        });
    }

    /** No other thread takes the P a second time. What waits for it in the second call meets the caller, or runs after the call. */
    private static Case callsAtOnce(boolean lasts) {
        return new Loop(1, 4, l -> l.go(() -> {
            long pp = GStack.mine().pp();
            l.lane("takes", () -> {
                P.LONGCALL.setOpaque(pp, lasts ? 1 : 0);
                while (!Retakes.handOff(l.s, pp)) {
                    Thread.onSpinWait();
                }
            });
            Go.go(l::done);
            Loop.blocking(() -> l.until(1));
            Go.go(l::done);
            Loop.blocking(() -> {
                if (lasts) {
                    l.until(2);
                } else {
                    check(PStatus.get(pp) == PStatus.PSYSCALL, "a short call has given its P up");
                }
            });
            Go.gosched();
            Go.go(l::done);
            Loop.blocking(() -> check(PStatus.get(pp) == PStatus.PSYSCALL, "a call after a short one has given its P up"));
            l.done();
        }));
    }

    private static Case preempted() {
        return new Loop(2, 2, l -> {
            Chan<Integer> c = Chan.make(0);
            Mutex m = new Mutex();
            Cell inside = new Cell();
            for (int i = 0; i < 2; i++) {
                boolean sends = i == 0;
                l.go(() -> {
                    m.lock();
                    inside.add(1);
                    Thread.onSpinWait();
                    check(inside.get() == 1, "two goroutines are in the lock");
                    inside.add(-1);
                    m.unlock();
                    if (sends) {
                        c.send(1);
                    } else {
                        Integer _ = c.recv();
                    }
                    l.done();
                });
            }
            l.lane("sysmon", new Retakes(l));
        });
    }

    /** The P that is taken is that of the goroutine that was seen to run, and of no later one. */
    private static final class Slices extends OfLoop {
        private long pp;
        private long mp;
        private int tick;

        @Override
        protected void begin() {
            start(1);
            pp = s.procs()[0].pp;
            go(3, () -> {
                Go.gosched();
                done();
                Go.gosched();
            });
            lane("sysmon", () -> {
                for (int i = 0; i < 6; i++) {
                    mp = P.M.getOpaque(pp);
                    tick = P.SCHEDTICK.getOpaque(pp);
                    Thread.onSpinWait();
                    if (Gate.take(s, mp, tick)) {
                        Retakes.handOff(s, pp);
                    }
                    mp = 0;
                }
            });
        }

        @Override
        protected void watch() {
            check(mp == 0 || M.GATE.getOpaque(mp) != M.GATE_TAKING || PStatus.get(pp) != PStatus.PSYSCALL
                    || P.SCHEDTICK.getOpaque(pp) == tick, "a goroutine has lost its P for one that ran before it");
        }
    }

    private static int tick() {
        return P.SCHEDTICK.getOpaque(GStack.mine().pp());
    }

    /** It is told, and yields at a call of the runtime, or as it calls gosched. The one that it has started runs next. */
    private static Case sliceAfterTold() {
        return new Loop(1, 4, l -> {
            Chan<Integer> c = Chan.make(1);
            for (int i = 0; i < 2; i++) {
                boolean asks = i == 0;
                l.go(() -> {
                    int told = tick();
                    Go.go(() -> {
                        check(tick() != told, "a goroutine has the slice of one that was told to yield");
                        l.done();
                    });
                    check(Preempt.preemptone(GStack.mine().pp()), "nobody runs on the P");
                    if (asks) {
                        Go.gosched();
                    } else {
                        boolean _ = c.trySend(1);
                    }
                    l.done();
                });
            }
        });
    }

    /** The P goes to another M with the goroutine that would have inherited the slice. */
    private static Case sliceOfTaken() {
        return new Loop(1, 2, l -> {
            l.go(() -> {
                int taken = tick();
                Go.go(() -> {
                    check(tick() != taken, "a goroutine has the slice of one whose P was taken");
                    l.meet(2);
                });
                Loop.blocking(() -> l.meet(2));
            });
            l.lane("sysmon", Retakes.untilTaken(l));
        });
    }

    private static Case preemptedPinned() {
        return new Loop(2, 2, l -> {
            l.go(2, () -> {
                Chan<Integer> c = Chan.make(1);
                JdkThreads.pin();
                for (int i = 0; i < 4; i++) {
                    boolean _ = c.trySend(1);
                    Thread.onSpinWait();
                }
                JdkThreads.unpin();
                l.done();
            });
            l.withEachP("tells", 2, p -> Preempt.preemptone(p.pp));
        }).withoutBlocking();
    }

    /** A goroutine readies one that is locked to its thread, whose M then needs a P. */
    static void readiesLocked(Loop l) {
        Chan<Integer> c = Chan.make(0);
        l.go(() -> {
            Go.lockOSThread();
            Integer _ = c.recv();
            Go.gosched();
            Go.unlockOSThread();
            l.done();
        });
        l.go(() -> {
            c.send(1);
            Go.gosched();
            l.done();
        });
    }

    /** Its M ends with it, so no other goroutine runs there, and its P goes to another M. */
    private static Case lockedEnds() {
        return new Loop(1, 3, l -> l.go(() -> {
            Go.lockOSThread();
            Machine mine = Machine.of();
            for (int i = 0; i < 2; i++) {
                Go.go(() -> {
                    check(Machine.of() != mine, "a goroutine runs on a thread that another one had locked when it ended");
                    l.done();
                });
            }
            l.done();
        }));
    }

    private static Case lockedTwice() {
        return new Loop(2, 3, l -> {
            l.go(() -> {
                Go.lockOSThread();
                Go.lockOSThread();
                Go.unlockOSThread();
                Machine mine = Machine.of();
                for (int i = 0; i < 3; i++) {
                    Go.gosched();
                    check(Machine.of() == mine, "a goroutine has left the thread that it had locked twice and unlocked once");
                }
                Go.unlockOSThread();
                l.done();
            });
            l.go(2, () -> {
                Go.gosched();
                Go.gosched();
                l.done();
            });
        });
    }

    /** The other goroutine's timer is in the heap of another P, and the M in the poller sleeps for it. */
    private static Case lockedSleeps() {
        return new Loop(2, 3, l -> {
            long end = l.now() + 1_000_000_000L;
            l.go(() -> {
                Loop.sleep(2_000_000_000L);
                l.done();
            });
            l.go(() -> {
                Go.lockOSThread();
                Loop.sleep(20_000);
                check(l.now() < end, "nobody knew of the timer of a goroutine that is locked to its thread");
                Go.unlockOSThread();
                l.done();
            });
            l.go(() -> {
                Loop.sleep(20_000);
                check(l.now() < end, "nobody knew of a timer that was set while the M in the poller slept");
                l.done();
            });
        });
    }

    /** A wait and a yield with a frame below that cannot be moved: the M parks with the goroutine, and others run meanwhile. */
    private static Case pinned() {
        return new Loop(1, 3, l -> {
            Chan<Integer> c = Chan.make(0);
            l.go(() -> {
                JdkThreads.pin();
                Integer _ = c.recv();
                l.done();
                while (l.doneCount() < 2) {
                    Go.gosched();
                }
                JdkThreads.unpin();
                l.done();
            });
            l.go(() -> {
                c.send(1);
                l.done();
            });
        });
    }

    private static Case pinnedLocked() {
        return new Loop(2, 4, l -> {
            Chan<Integer> c = Chan.make(0);
            l.go(() -> {
                Go.lockOSThread();
                Machine mine = Machine.of();
                JdkThreads.pin();
                Integer _ = c.recv();
                JdkThreads.unpin();
                for (int i = 0; i < 3; i++) {
                    Go.gosched();
                    check(Machine.of() == mine, "a pinned wait has ended the lock of a thread");
                }
                Go.unlockOSThread();
                l.done();
            });
            l.go(() -> {
                c.send(1);
                l.done();
            });
            l.go(2, () -> {
                for (int i = 0; i < 3; i++) {
                    Go.gosched();
                }
                l.done();
            });
        });
    }

    /** Calls bring three Ms for one P; two of them may end, unless a P is given to them at that moment. */
    private static Case idleMs() {
        Loop loop = new Loop(1, 7, l -> {
            l.go(3, () -> {
                Loop.blocking(() -> l.meet(3));
                Loop.sleep(2 * IDLE);
                l.done();
            });
            l.lane("sysmon", Retakes.until(l, () -> l.doneCount() >= 3));
            l.lane("late", () -> {
                l.until(4);
                l.go(l::done);
            });
            l.end(() -> check(l.living("M") >= 1, "no M is left, though Ms end only beside others"));
        });
        loop.endingIdleMs(IDLE);
        return loop;
    }

    private static Case idleFew() {
        Loop loop = new Loop(2, 2, l -> {
            l.go(2, () -> l.meet(2));
            l.lane("looks", () -> {
                long end = l.now() + 5 * IDLE;
                l.until(2);
                while (l.now() < end) {
                    Thread.onSpinWait();
                }
                check(l.living("M") >= 2, "an M has ended though there are no more than Ps");
            });
        });
        loop.endingIdleMs(IDLE);
        return loop;
    }

    /** Does sysmon's part where an M cannot be made, until all parts are done. */
    private static void retries(Loop l, int parts) {
        l.lane("sysmon", () -> {
            Upkeep upkeep = new Upkeep(l.s);
            for (int i = 1; l.doneCount() < parts; i++) {
                upkeep.shortage(l.now() + i * 2_000_000_000L);
                Thread.onSpinWait();
            }
        });
    }

    private static Case noThreads() {
        return new Loop(2, 4, l -> {
            l.lane("go", () -> l.go(() -> {
                Go.go(l::done);
                Go.go(l::done);
                Go.gosched();
                l.done();
            }));
            l.lane("more", () -> l.go(l::done));
            retries(l, 4);
        });
    }

    private static Case noThreadsMeet() {
        return new Loop(2, 2, l -> {
            l.lane("go", () -> l.go(() -> {
                Go.go(() -> l.meet(2));
                l.meet(2);
            }));
            retries(l, 2);
        });
    }
}
