// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.struct.Schedt;

/** Programs of new work: threads and goroutines start goroutines, and Ms are woken for them, steal them, and sleep again. */
final class Starts {
    /** For so long, in ns, no M is late. */
    private static final long LATE = 50_000;

    private Starts() {
    }

    private static Program of(String name, String what, Supplier<Case> maker) {
        return Program.ofLoop(name, what, maker);
    }

    static List<Program> all() {
        return List.of(
                of("submits", "a thread starts goroutines on two idle Ps", () -> submits(2, 3)),
                of("submits-one", "a thread starts goroutines on one idle P", () -> submits(1, 3)),
                of("submitters", "two threads start goroutines", Starts::submitters),
                of("spawns", "a goroutine starts seven others on two Ps", () -> spawns(2, 7)),
                of("spawns-3", "a goroutine starts four others on three Ps", () -> spawns(3, 4)),
                of("spawns-busy", "a goroutine starts others while spinners do not sleep", Starts::spawnsBusy).watching(),
                of("submits-two", "a thread that starts two at once wakes one M for them", Starts::startsTwo).waking(0, 0),
                of("meet-rounds", "a thread starts two that meet, again and again, while Ms spin for some time", Starts::meetsInRounds),
                of("yields", "three goroutines yield on two Ps", Starts::yields),
                of("pair", "two that ready each other run beside two others that yield", () -> pair(false)),
                of("pair-arrived", "the same, and a thread starts one more", () -> pair(true)),
                of("meet-submits", "a thread starts two that meet", () -> meets(2, 1)),
                of("meet-submits-3", "a thread starts three that meet", () -> meets(3, 1)),
                of("meet-submitters", "three threads start three that meet", () -> meets(3, 3)),
                of("meet-spawns", "a goroutine starts one that it meets", () -> meetsSpawned(2)),
                of("meet-spawns-3", "a goroutine starts two that it meets", () -> meetsSpawned(3)),
                of("meet-tree", "a goroutine starts one that starts one, and all meet", Starts::meetsTree),
                of("meet-taken", "an M is taken for a P with work while it looks for the last time", Starts::meetsTaken),
                of("meet-given-up", "the same M had seen work for which it was relied on", Starts::meetsGivenUp),
                of("meet-handoff", "a P is handed off while a spinner finds work and more is started", Starts::meetsHandoff),
                of("meet-resized", "goroutines meet on Ps that are added", Starts::meetsResized).in("procs"));
    }

    private static Case submits(int procs, int n) {
        return new Loop(procs, n, l -> l.lane("go", () -> l.go(n, l::done))).withoutBlocking();
    }

    private static Case submitters() {
        return new Loop(2, 2, l -> {
            l.lane("go0", () -> l.go(l::done));
            l.lane("go1", () -> l.go(l::done));
        }).withoutBlocking();
    }

    /** The ring has four places, so it overflows. */
    private static Case spawns(int procs, int n) {
        return new Loop(procs, n, l -> l.go(() -> goes(n, l::done))).withoutBlocking();
    }

    private static void goes(int n, Runnable fn) {
        for (int i = 0; i < n; i++) {
            Go.go(fn);
        }
    }

    /** Under a policy of spinning no M begins to spin beside as many others as half of the busy Ps. */
    private static Case spawnsBusy() {
        int procs = 4;
        return new Loop(procs, 6, l -> {
            l.go(() -> goes(6, () -> {
                Go.gosched();
                l.done();
            }));
            l.watch(() -> {
                long spinners = Schedt.NMSPINNING.getVolatile(l.s.sched);
                int spinning = Schedt.spinning(spinners) - Schedt.onTheirWay(spinners);
                check(spinning <= (procs + 1) / 2, "M7: " + spinning + " Ms spin for " + procs + " Ps");
            });
        }).spinning(20_000);
    }

    /** The M that was woken for the first finds the second as well, or wakes another M for it. */
    private static Case startsTwo() {
        return new Loop(3, 2, l -> l.lane("go", () -> {
            long begun = l.now();
            l.go(2, l::done);
            int onTheirWay = Schedt.onTheirWay(Schedt.NMSPINNING.getVolatile(l.s.sched));
            check(onTheirWay < 2 || l.now() > begun + LATE, "another M was woken though the first was not late");
        }));
    }

    /** Some spins are in vain. What is left to a spinner does not wait for what that has found. */
    private static Case meetsInRounds() {
        int rounds = 4;
        return new Loop(2, 2 * rounds, l -> l.lane("go", () -> {
            for (int i = 1; i <= rounds; i++) {
                int all = 2 * i;
                l.go(2, () -> l.meet(all));
                l.until(all);
                Case.spin(5 * i);
            }
        })).spinning(4_000);
    }

    private static Case yields() {
        return new Loop(2, 3, l -> l.go(3, () -> {
            Go.gosched();
            Go.gosched();
            l.done();
        })).withoutBlocking();
    }

    /** The pair has no end while one of the others waits. There is no sysmon, which would end the slice that they share. */
    private static Case pair(boolean arrives) {
        int others = arrives ? 3 : 2;
        return new Loop(1, others + 2, l -> {
            Chan<Integer> there = Chan.make(0);
            Chan<Integer> back = Chan.make(0);
            l.go(() -> {
                Go.go(l::done);
                Go.go(l::done);
                while (l.doneCount() < others) {
                    there.send(1);
                    Integer _ = back.recv();
                }
                there.close();
                l.done();
            });
            l.go(() -> {
                while (there.recvOk().ok()) {
                    back.send(1);
                }
                l.done();
            });
            if (arrives) {
                l.lane("go", () -> {
                    l.until(2);
                    l.go(l::done);
                });
            }
        });
    }

    private static Case meets(int n, int threads) {
        return new Loop(n, n, l -> {
            for (int t = 0; t < threads; t++) {
                l.lane("go" + t, () -> l.go(n / threads, () -> l.meet(n)));
            }
        }).withoutBlocking();
    }

    private static Case meetsSpawned(int n) {
        return new Loop(n, n, l -> l.go(() -> {
            goes(n - 1, () -> l.meet(n));
            l.meet(n);
        })).withoutBlocking();
    }

    private static Case meetsTree() {
        return new Loop(3, 3, l -> l.go(() -> {
            Go.go(() -> {
                Go.go(() -> l.meet(3));
                l.meet(3);
            });
            l.meet(3);
        })).withoutBlocking();
    }

    /** The P of a goroutine that blocks has work, and goes to an M that may be about to sleep. What a thread starts is for the other P. */
    private static Case meetsTaken() {
        return new Loop(2, 3, l -> {
            l.go(() -> {
                Go.go(() -> l.meet(3));
                Loop.blocking(() -> l.meet(3));
            });
            l.lane("go", () -> l.go(() -> l.meet(3)));
            l.lane("sysmon", Retakes.untilTaken(l));
        });
    }

    /**
     * A goroutine that ends at once brings a second M. When that is about to sleep, and is on the idle list already, the first goroutine,
     * which is locked to its thread, starts another and waits, so its P goes to the second M; and a thread starts one more. So it goes on
     * for some rounds.
     */
    private static Case meetsGivenUp() {
        int rounds = 3;
        return new Loop(2, 2 * rounds + 2, l -> {
            Chan<Integer> c = Chan.make(1);
            AtomicInteger listed = new AtomicInteger();
            IntConsumer anMIsListed = round -> {
                l.until(2 * round + 1);
                while (listed.get() <= round && Schedt.NMIDLE.getOpaque(l.s.sched) == 0) {
                    Thread.onSpinWait();
                }
                listed.set(round + 1);
            };
            l.go(() -> {
                Go.lockOSThread();
                Go.go(l::done);
                for (int i = 0; i < rounds; i++) {
                    int all = 2 * i + 3;
                    anMIsListed.accept(i);
                    Go.go(() -> {
                        l.meet(all);
                        c.send(1);
                    });
                    Integer _ = c.recv();
                }
                Go.unlockOSThread();
                l.done();
            });
            l.lane("go", () -> {
                for (int i = 0; i < rounds; i++) {
                    int all = 2 * i + 3;
                    anMIsListed.accept(i);
                    l.go(() -> l.meet(all));
                }
            });
        });
    }

    private static Case meetsHandoff() {
        return new Loop(3, 4, l -> {
            l.go(() -> {
                Go.go(() -> l.meet(4));
                Loop.blocking(() -> l.meet(4));
            });
            l.lane("go0", () -> l.go(() -> l.meet(4)));
            l.lane("go1", () -> l.go(() -> l.meet(4)));
            l.lane("sysmon", Retakes.untilTaken(l));
        });
    }

    private static Case meetsResized() {
        return new Loop(1, 3, l -> {
            l.lane("procs", () -> check(StopTheWorld.setProcs(l.s, 3) == 1, "there was another number of Ps"));
            l.lane("go", () -> l.go(3, () -> {
                while (l.s.gomaxprocs() < 3) {
                    Go.gosched();
                }
                l.meet(3);
            }));
        });
    }
}
