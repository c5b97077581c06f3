// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Descriptors;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.Schedt;

/**
 * Programs with a sysmon, whose scans are those of the production class: it takes Ps from calls and from goroutines that run on, polls,
 * and starts threads. What waits must run within some time slices.
 */
final class Watches {
    /** A time slice, in ns. */
    private static final long SLICE = 100_000;
    /** The least time, in ns, in which sysmon scans if it sleeps lightly. A deep sleep lasts ten times as long. */
    private static final long SOON = 5_000_000;

    private Watches() {
    }

    private static Program of(String name, String what, int procs, int parts, Consumer<Watched> body) {
        return Program.ofLoop(name, what, () -> new Watched(procs, parts, body)).in("sysmon").waking(0, 0);
    }

    /** A program whose goroutines yield only where they call the runtime. */
    private static Program cooperative(String name, String what, int procs, int parts, Consumer<Watched> body) {
        return Program.ofLoop(name, what, () -> new Watched(procs, parts, body).cooperative()).in("sysmon").waking(0, 0);
    }

    static List<Program> all() {
        return List.of(
                of("retakes-call", "a goroutine in a call waits for one that needs its P", 1, 2, Watches::call),
                of("retakes-hog", "a goroutine that calls nothing waits for one that needs its P", 1, 2, Watches::hog),
                of("retakes-sleeper", "a pinned thread that parks waits for one that needs its P", 1, 2, Watches::sleeper),
                of("retakes-two", "two that call nothing wait for two others", 2, 4, Watches::hogs),
                cooperative("preempts", "a goroutine that yields only where it calls the runtime waits for another", 1, 2, Watches::caller),
                of("preempts-calls", "a goroutine that makes one short call after the other waits for another", 1, 2, Watches::shortCalls),
                of("preempts-pair", "two that ready each other wait for another, and for one that a thread starts", 1, 4, Watches::pair),
                of("polls-beside-hog", "a byte comes while the only P has a goroutine that calls nothing", 1, 2, Watches::byteBesideHog),
                cooperative("polls-beside-hogs", "a byte comes while goroutines take the P in turn", 1, 1, Watches::byteBesideHogs),
                of("close-lingers", "a close that stays in the kernel keeps no P", 1, 2, Watches::closeLingers),
                of("close-on-sysmon", "sysmon is refused a close, which would wait for it", 1, 1, Watches::closeOnSysmon),
                of("starts-late", "sysmon starts the threads that could not be started", 2, 2, Watches::shortage).failingStarts(1),
                of("hears-start", "sysmon sleeps deeply as a thread starts goroutines that need it", 1, 2, Watches::deepSleep),
                of("hears-world", "sysmon sleeps deeply as the world starts again", 1, 2, Watches::stoppedWorld),
                of("hears-queue", "sysmon rests as a thread starts a goroutine beside one that runs on", 1, 2, Watches::rest));
    }

    /** A case with a sysmon. The run ends when all parts are done, as sysmon goes on for ever. */
    private static final class Watched extends OfLoop {
        private final int procs;
        private final int parts;
        private final Consumer<Watched> body;
        private long end = Long.MAX_VALUE;

        Watched(int procs, int parts, Consumer<Watched> body) {
            this.procs = procs;
            this.parts = parts;
            this.body = body;
            withNetwork();
            withSysmon(SLICE);
        }

        @Override
        protected void begin() {
            start(procs);
            body.accept(this);
        }

        /** Says that all parts are done {@code nanos} from now. */
        void within(long nanos) {
            end = now() + nanos;
        }

        /** Does a part, and ends the run with the last one. */
        void part() {
            check(now() < end, "what waits for a P has waited for " + (now() - end) + " ns too long");
            done();
            if (doneCount() == parts) {
                exit();
            }
        }

        @Override
        protected boolean mayRest(String lane) {
            return true;
        }

        @Override
        protected void end() {
            check(doneCount() == parts, "of " + parts + " parts " + doneCount() + " were done");
        }
    }

    private static void call(Watched w) {
        w.within(10 * SLICE);
        w.go(() -> {
            Go.go(w::part);
            Loop.blocking(() -> w.until(1));
            w.part();
        });
    }

    private static void hog(Watched w) {
        w.within(SOON);
        w.go(() -> {
            Go.go(w::part);
            w.until(1);
            w.part();
        });
    }

    private static void hogs(Watched w) {
        w.within(2 * SOON);
        for (int i = 0; i < 2; i++) {
            w.go(() -> {
                Go.go(w::part);
                w.until(2);
                w.part();
            });
        }
    }

    /** The thread keeps its M, which sleeps in the kernel. */
    private static void sleeper(Watched w) {
        w.within(SOON);
        Thread waiter = w.thread(() -> {
            JdkThreads.pin();
            LockSupport.park();
            JdkThreads.unpin();
            w.part();
        });
        w.go(() -> {
            w.part();
            LockSupport.unpark(waiter);
        });
    }

    private static void caller(Watched w) {
        w.within(SOON);
        w.go(() -> {
            Chan<Integer> c = Chan.make(1);
            Go.go(w::part);
            while (w.doneCount() == 0) {
                boolean _ = c.trySend(1);
                Thread.onSpinWait();
            }
            w.part();
        });
    }

    private static void shortCalls(Watched w) {
        w.within(SOON);
        w.go(() -> {
            Go.go(w::part);
            while (w.doneCount() == 0) {
                Loop.blocking(() -> Case.spin(40));
            }
            w.part();
        });
    }

    private static void pair(Watched w) {
        w.within(SOON);
        Chan<Integer> there = Chan.make(0);
        Chan<Integer> back = Chan.make(0);
        w.go(() -> {
            Go.go(w::part);
            while (w.doneCount() < 2) {
                there.send(1);
                Integer _ = back.recv();
            }
            there.send(2);
            w.part();
        });
        w.go(() -> {
            while (there.recv() == 1) {
                back.send(1);
            }
            w.part();
        });
        w.lane("go", () -> {
            w.until(1);
            w.go(w::part);
        });
    }

    /** Adds a goroutine that reads a byte. Returns its descriptor. */
    private static int reads(Watched w) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        w.go(() -> {
            Network.checkByte(fd);
            w.part();
        });
        return d;
    }

    private static void byteBesideHog(Watched w) {
        w.within(SOON);
        int d = reads(w);
        w.lane("sends", () -> Descriptors.add(d, 1));
        w.go(() -> {
            w.until(1);
            w.part();
        });
    }

    /** Those who take the P in turn were preempted, so what comes is not behind them. */
    private static void byteBesideHogs(Watched w) {
        int hogs = 12;
        int d = reads(w);
        AtomicInteger slices = new AtomicInteger();
        for (int i = 0; i < hogs; i++) {
            w.go(() -> {
                Chan<Integer> c = Chan.make(1);
                slices.incrementAndGet();
                while (w.doneCount() == 0) {
                    boolean _ = c.trySend(1);
                    Thread.onSpinWait();
                }
            });
        }
        w.lane("sends", () -> {
            while (slices.get() < hogs) {
                Thread.onSpinWait();
            }
            w.within(9 * SLICE);
            int _ = Descriptors.add(d, 1);
        });
    }

    private static void closeLingers(Watched w) {
        w.within(SOON);
        int d = Descriptors.open();
        Descriptors.linger(d, 4 * (int) (SOON / 500));
        w.go(() -> {
            Go.go(() -> {
                w.part();
                w.part();
            });
            boolean _ = new PollFd(d).close();
        });
    }

    /** Sysmon runs a user's function once a second. */
    private static void closeOnSysmon(Watched w) {
        w.s.setEverySecond(() -> {
            try {
                boolean _ = Closing.close(w.s, -1);
                Case.failed(new AssertionError("sysmon has closed its scheduler"));
            } catch (IllegalStateException e) {
                w.part();
            } catch (InterruptedException e) {
                Case.failed(e);
            }
        });
    }

    private static void shortage(Watched w) {
        w.lane("go", () -> w.go(() -> {
            Go.go(w::part);
            w.part();
        }));
    }

    /** Adds a lane that waits until sysmon sleeps in a certain way, and starts one goroutine that runs on and another. */
    private static void asItSleeps(Watched w, int how, long nanos) {
        w.lane("go", () -> {
            while (Schedt.SYSMONWAIT.getAcquire(w.s.sched) != how) {
                if (how == Schedt.SYSMON_RESTS && Schedt.SYSMONWAIT.getAcquire(w.s.sched) == Schedt.SYSMON_SLEEPS) {
                    w.go(() -> { });
                }
                Thread.onSpinWait();
            }
            w.within(nanos);
            w.go(() -> {
                w.until(1);
                w.part();
            });
            w.go(w::part);
        });
    }

    private static void deepSleep(Watched w) {
        asItSleeps(w, Schedt.SYSMON_SLEEPS, SOON);
    }

    private static void rest(Watched w) {
        asItSleeps(w, Schedt.SYSMON_RESTS, SOON);
    }

    private static void stoppedWorld(Watched w) {
        AtomicBoolean slept = new AtomicBoolean();
        w.go(() -> {
            while (!slept.get()) {
                Thread.onSpinWait();
            }
            Go.go(w::part);
            w.until(1);
            w.part();
        });
        w.lane("stops", () -> StopTheWorld.withWorldStopped(w.s, () -> {
            while (Schedt.SYSMONWAIT.getAcquire(w.s.sched) != Schedt.SYSMON_SLEEPS) {
                Thread.onSpinWait();
            }
            w.within(SOON);
            slept.set(true);
        }));
    }
}
