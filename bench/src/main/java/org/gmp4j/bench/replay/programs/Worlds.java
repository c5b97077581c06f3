// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.check.Invariants;
import org.gmp4j.queue.Idle;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.gmp4j.time.Time;

/** Programs of stopped worlds: checks, a new number of Ps, and the end of a scheduler. */
final class Worlds {
    private Worlds() {
    }

    private static Program of(String name, String what, Supplier<Case> maker) {
        return Program.ofLoop(name, what, maker);
    }

    static List<Program> all() {
        return List.of(
                of("stops", "two threads stop the world, and check it", Worlds::stops),
                of("stops-calls", "the world is stopped while Ps are taken from calls", Worlds::stopsCalls),
                of("stops-in-call", "a goroutine stays in a call until the world was stopped", Worlds::stopsInCall),
                of("stops-running", "a goroutine runs on until the world was stopped", Worlds::stopsRunning),
                of("stops-handoff", "the world is stopped as Ps are taken from calls while an M spins", Worlds::stopsHandoff),
                of("stops-inside", "a goroutine stops the world, and waits for a thread meanwhile", Worlds::stopsInside),
                of("stops-pinned", "a pinned goroutine is told to yield as the world stops", Worlds::stopsPinned),
                of("resizes", "the number of Ps changes while goroutines run", Worlds::resizes).in("procs"),
                of("resizes-inside", "a goroutine changes the number of Ps", Worlds::resizesInside).in("procs"),
                of("resizes-down", "what a P that dies has kept goes to others", Worlds::resizesDown).in("procs"),
                of("resizes-two", "two threads change the number of Ps", Worlds::resizesByTwo).in("procs"),
                of("closes", "the scheduler is closed while goroutines run", () -> closes(1)).in("close"),
                of("closes-two", "two threads close the scheduler", () -> closes(2)).in("close"),
                of("closes-submit", "a scheduler is closed while a thread starts a goroutine", Worlds::closesSubmit).in("close"),
                of("closes-waits", "a scheduler is closed whose goroutines have waited", Worlds::closesAfterWaits).in("close"),
                of("closes-timer", "a scheduler is closed that has a timer set", Worlds::closesWithTimer).in("close"),
                of("closes-resized", "a scheduler is closed while its number of Ps changes", Worlds::closesResized).in("close"));
    }

    private static void checkStopped(Loop l) {
        List<String> broken = Invariants.check(l.s);
        check(broken.isEmpty(), broken.isEmpty() ? "" : broken.getFirst());
    }

    /** Adds two lanes that stop the world and check that they are alone. */
    private static Runnable stoppers(Loop l) {
        Cell inside = new Cell();
        Cell stopped = new Cell();
        for (int i = 0; i < 2; i++) {
            l.lane("stops" + i, () -> StopTheWorld.withWorldStopped(l.s, () -> {
                check(inside.get() == 0, "two threads have stopped the world");
                inside.set(1);
                checkStopped(l);
                inside.set(0);
                stopped.add(1);
            }));
        }
        return () -> check(stopped.get() == 2, "the world was stopped " + stopped.get() + " times for 2");
    }

    private static Case stops() {
        return new Loop(2, 6, l -> {
            l.go(2, () -> {
                Loop.blocking(l::done);
                Go.go(l::done);
                Go.gosched();
                l.done();
            });
            l.end(stoppers(l));
        });
    }

    private static Case stopsCalls() {
        return new Loop(2, 4, l -> {
            l.go(2, () -> {
                Loop.blocking(() -> {
                    Thread.onSpinWait();
                    l.done();
                });
                Go.gosched();
                l.done();
            });
            l.lane("sysmon", new Retakes(l));
            l.end(stoppers(l));
        });
    }

    private static Case stopsInCall() {
        return new Loop(2, 2, l -> {
            l.go(() -> {
                Loop.blocking(() -> l.until(1));
                l.done();
            });
            l.lane("stops", () -> StopTheWorld.withWorldStopped(l.s, l::done));
        });
    }

    /** A P that is taken has no work, and there are spinners: so it goes to the idle list, or counts as stopped. */
    private static Case stopsHandoff() {
        int calls = 4;
        Loop loop = new Loop(3, 2, l -> {
            l.go(2, () -> {
                for (int i = 0; i < calls; i++) {
                    Loop.blocking(() -> Case.spin(6));
                }
                l.done();
            });
            l.withEachP("sysmon", 2, p -> Retakes.handOff(l.s, p.pp));
            for (int i = 0; i < 2; i++) {
                l.lane("stops" + i, () -> {
                    StopTheWorld.withWorldStopped(l.s, () -> checkStopped(l));
                    StopTheWorld.withWorldStopped(l.s, () -> checkStopped(l));
                });
            }
        });
        loop.spinning(10_000);
        return loop;
    }

    /** It calls nothing, so its P is taken. */
    private static Case stopsRunning() {
        return new Loop(2, 3, l -> {
            l.go(2, () -> {
                l.until(1);
                Go.gosched();
                l.done();
            });
            l.lane("stops", () -> StopTheWorld.withWorldStopped(l.s, () -> {
                checkStopped(l);
                l.done();
            }));
        });
    }

    /** The goroutine that has stopped the world parks, as at a lock of the JDK's. It keeps its M, or no goroutine would start the world. */
    private static Case stopsInside() {
        return new Loop(2, 2, l -> {
            Thread waiter = l.thread(() -> {
                StopTheWorld.withWorldStopped(l.s, () -> {
                    LockSupport.park();
                    checkStopped(l);
                });
                l.done();
            });
            l.go(l::done);
            l.lane("unpark", () -> LockSupport.unpark(waiter));
        });
    }

    private static Case stopsPinned() {
        return new Loop(2, 3, l -> {
            l.go(2, () -> {
                JdkThreads.pin();
                while (l.doneCount() == 0) {
                    boolean _ = Chan.make(1).trySend(1); // A call of the runtime, which yields if it was told to.
                    Thread.onSpinWait();
                }
                JdkThreads.unpin();
                l.done();
            });
            l.lane("stops", () -> StopTheWorld.withWorldStopped(l.s, l::done));
        });
    }

    /** Goroutines run, wait in the rings of Ps that die, and sleep there. */
    private static Case resizes() {
        int n = 5;
        return new Loop(2, 2 * n, l -> {
            l.go(() -> {
                for (int i = 0; i < n; i++) {
                    long nanos = 1_000L * i;
                    Go.go(() -> {
                        Go.go(l::done);
                        Loop.sleep(nanos);
                        l.done();
                    });
                }
                Go.gosched();
            });
            l.lane("procs", () -> {
                l.until(1);
                int _ = StopTheWorld.setProcs(l.s, 1);
                int _ = StopTheWorld.setProcs(l.s, 3);
            });
            l.end(() -> check(l.s.gomaxprocs() == 3, "there are " + l.s.gomaxprocs() + " Ps"));
        });
    }

    /** The goroutine may run on a P that dies. */
    private static Case resizesInside() {
        return new Loop(2, 5, l -> {
            for (int i = 0; i < 2; i++) {
                boolean resizes = i == 1;
                l.go(() -> {
                    Go.go(l::done);
                    if (resizes) {
                        int _ = Go.gomaxprocs(1);
                        Go.go(l::done);
                        int _ = Go.gomaxprocs(3);
                    }
                    Go.gosched();
                    l.done();
                });
            }
            l.end(() -> check(l.s.gomaxprocs() == 3, "there are " + l.s.gomaxprocs() + " Ps"));
        });
    }

    /** Goroutines that have ended and waits that are over leave slots and sudogs with their P, and timers in its heap. */
    private static Case resizesDown() {
        return new Loop(3, 6, l -> {
            Chan<Integer> c = Chan.make(0);
            l.go(3, () -> {
                c.send(1);
                l.done();
            });
            l.go(3, () -> {
                Integer _ = c.recv();
                l.done();
            });
            l.lane("procs", () -> {
                l.until(4);
                int _ = StopTheWorld.setProcs(l.s, 1);
            });
            l.end(() -> {
                for (int i = 1; i < 3; i++) {
                    long pp = Idle.allp(l.s.sched, i);
                    check(P.GFREE.get(pp) == 0 && P.SUDOGCACHE.get(pp) == 0, "a P that is dead has kept free Gs or sudogs");
                }
            });
        });
    }

    private static Case resizesByTwo() {
        return new Loop(1, 4, l -> {
            l.go(2, () -> {
                Go.go(l::done);
                Go.gosched();
                l.done();
            });
            l.lane("two", () -> StopTheWorld.setProcs(l.s, 2));
            l.lane("three", () -> StopTheWorld.setProcs(l.s, 3));
            l.end(() -> check(l.s.gomaxprocs() >= 2, "the number of Ps did not change"));
        });
    }

    /** A case that is closed: nothing of the scheduler can be checked at the end, but that its threads have ended. */
    private static final class Closed extends OfLoop {
        private final int procs;
        private final int parts;
        private final Consumer<Closed> body;
        private int closed;
        private Processor[] ps;

        Closed(int procs, int parts, Consumer<Closed> body) {
            this.procs = procs;
            this.parts = parts;
            this.body = body;
        }

        @Override
        protected void begin() {
            start(procs);
            ps = s.procs();
            body.accept(this);
        }

        /** Adds a lane that closes it. */
        void close(String lane) {
            lane(lane, () -> {
                try {
                    check(Closing.close(s, -1), "a close without a limit has ended early");
                    check(living("M") == 0 && Schedt.CLOSING.getAcquire(s.sched) != 0, "a close has returned while an M runs");
                    closed++;
                } catch (InterruptedException e) {
                    failed(e);
                }
            });
        }

        @Override
        protected boolean mayRest(String lane) {
            return lane.equals("timers");
        }

        @Override
        protected void end() {
            for (Processor p : ps) {
                check(P.SUDOGCACHE.get(p.pp) == 0, "free sudogs are left with a scheduler that was closed");
            }
            check(closed > 0 && doneCount() == parts, "of " + parts + " parts " + doneCount() + " were done when it was closed");
        }
    }

    private static Case closes(int times) {
        return new Closed(2, 2, c -> {
            c.go(() -> {
                Go.go(c::done);
                Go.gosched();
                c.done();
            });
            for (int i = 0; i < times; i++) {
                c.close("close" + i);
            }
        });
    }

    /**
     * The start is refused, or its goroutine ends before the scheduler does. It comes when the second M is on the idle list, and perhaps
     * still awake.
     */
    private static Case closesSubmit() {
        return new Closed(2, 3, c -> {
            AtomicBoolean begun = new AtomicBoolean();
            c.go(() -> {
                Go.go(c::done);
                while (!begun.get()) {
                    Thread.onSpinWait();
                }
                c.done();
            });
            c.lane("go", () -> {
                while (Schedt.NMIDLE.getOpaque(c.s.sched) == 0) {
                    Thread.onSpinWait();
                }
                begun.set(true);
                if (Plain.isRefused(() -> c.go(c::done))) {
                    c.done();
                }
            });
            c.close("close");
        });
    }

    private static Case closesAfterWaits() {
        return new Closed(2, 2, c -> {
            Chan<Integer> to = Chan.make(0);
            c.go(() -> {
                to.send(1);
                c.done();
            });
            c.go(() -> {
                Integer _ = to.recv();
                c.done();
            });
            c.close("close");
        });
    }

    /** The timer is due long after the close. It is moved out of the scheduler, and fires there. */
    private static Case closesWithTimer() {
        return new Closed(2, 2, c -> {
            c.go(() -> {
                var _ = Time.afterFunc(Duration.ofMillis(50), c::done);
                c.done();
            });
            c.close("close");
        });
    }

    private static Case closesResized() {
        return new Closed(2, 2, c -> {
            c.go(() -> {
                Go.go(c::done);
                Go.gosched();
                c.done();
            });
            c.close("close");
            c.lane("procs", () -> {
                boolean _ = Plain.isRefused(() -> StopTheWorld.setProcs(c.s, 3));
                boolean _ = Plain.isRefused(() -> StopTheWorld.setProcs(c.s, 1));
            });
        });
    }
}
