// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.Select;
import org.gmp4j.WaitInterruptedException;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.bench.replay.Threads;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Inject;
import org.gmp4j.sched.Park;
import org.gmp4j.sched.jdk.Stacks;
import org.gmp4j.struct.G;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;

/** Programs of waits of goroutines: what they wait for, a timer or the JDK readies them, from a goroutine or another thread. */
final class Wakes {
    private Wakes() {
    }

    private static Program of(String name, String what, Supplier<Case> maker) {
        return Program.ofLoop(name, what, maker);
    }

    static List<Program> all() {
        return List.of(
                of("ping-pong", "two goroutines ready each other", () -> pingPong(0)),
                of("ping-pong-1", "two goroutines and channels with a buffer", () -> pingPong(1)),
                of("ready", "a thread readies goroutines", Wakes::ready),
                of("inject", "goroutines are readied as C code does it, while Ms and sysmon take them", Wakes::inject),
                of("meet-ready", "a goroutine readies two that it meets", Wakes::meetsReadied),
                of("select", "a goroutine selects twice, two send", Wakes::select),
                of("mutexes", "three goroutines in a Mutex", Wakes::mutexes),
                of("group", "a goroutine waits for three", Wakes::group),
                of("semas-of-gs", "waiters of many semaphores with two roots", Wakes::semaphores),
                of("give-up", "a send and a receive that each give up after a time", Wakes::giveUp),
                of("timers", "a timer is stopped and set again", Wakes::timers),
                of("sleeps", "three goroutines sleep", Wakes::sleeps),
                of("meet-sleeps", "a goroutine meets two that have slept", Wakes::meetsSleepers),
                of("sleep-earlier", "a goroutine sleeps for less than the M in the poller", Wakes::sleepsEarlier).waking(0, 1),
                of("timer-earlier", "a timer is set to an earlier time", Wakes::timerEarlier).waking(0, 1),
                of("timer-beside-busy", "a timer of a goroutine that runs on, beside the M in the poller", Wakes::timerBesideBusy)
                        .waking(0, 1),
                of("sleep-beside-busy", "a goroutine sleeps, and its M runs another one that waits for it", Wakes::sleepBesideBusy),
                of("parks", "a virtual thread parks, and is unparked early and late", Wakes::parks),
                of("parks-late", "wake-ups of the JDK's that come late or twice", Wakes::parksLate),
                of("parks-again", "a late wake-up of the JDK's for a park that has ended", Wakes::parksAgain),
                of("parks-in-call", "the JDK parks a thread inside a system call", Wakes::parksInCall),
                of("interrupted", "an interrupt ends the wait of a thread with an identity", Wakes::interrupted),
                of("interrupted-once", "an interrupt that was dealt with ends no later wait of a thread with an identity",
                        Wakes::interruptedOnce));
    }

    private static Case pingPong(int size) {
        return new Loop(2, 2, l -> {
            Chan<Integer> there = Chan.make(size);
            Chan<Integer> back = Chan.make(size);
            l.go(() -> {
                for (int i = 0; i < 2; i++) {
                    there.send(i);
                    check(back.recv() == i, "another element came back");
                }
                l.done();
            });
            l.go(() -> {
                for (int i = 0; i < 2; i++) {
                    back.send(there.recv());
                }
                l.done();
            });
        }).withoutBlocking();
    }

    private static Case ready() {
        return new Loop(2, 2, l -> {
            Chan<Integer> c = Chan.make(0);
            l.go(2, () -> {
                Integer _ = c.recv();
                l.done();
            });
            l.lane("send", () -> {
                c.send(1);
                c.send(2);
            });
        }).withoutBlocking();
    }

    /** Each goroutine parks twice. C code links it in front of the others in a word of the scheduler, and rings sysmon. */
    private static Case inject() {
        int n = 6;
        return new Loop(2, n, l -> {
            long[] parked = new long[n];
            AtomicInteger count = new AtomicInteger();
            Park.Unlock waits = (gp, _) -> {
                parked[count.getAndIncrement()] = gp;
                return true;
            };
            l.go(n / 2, () -> {
                for (int i = 0; i < 2; i++) {
                    GStack st = GStack.enter();
                    Park.gopark(st, waits, l, WaitReason.SEMACQUIRE, 0);
                    GStack.exit(st);
                    l.done();
                }
            });
            l.lane("C", () -> {
                for (int i = 0; i < n; i++) {
                    while (count.get() <= i) {
                        Thread.onSpinWait();
                    }
                    long first;
                    do {
                        first = Schedt.INJECT.getAcquire(l.s.sched);
                        G.SCHEDLINK.set(parked[i], first);
                    } while (!Schedt.INJECT.compareAndSet(l.s.sched, first, parked[i]));
                }
            });
            l.lane("sysmon", () -> {
                while (l.doneCount() < n) {
                    Inject.drain(l.s);
                    Thread.onSpinWait();
                }
            });
        });
    }

    private static Case meetsReadied() {
        return new Loop(3, 3, l -> {
            Chan<Integer> c = Chan.make(0);
            l.go(2, () -> {
                Integer _ = c.recv();
                l.meet(3);
            });
            l.go(() -> {
                c.send(1);
                c.send(2);
                l.meet(3);
            });
        }).withoutBlocking();
    }

    private static Case select() {
        return new Loop(2, 3, l -> {
            Chan<Integer> c = Chan.make(0);
            Chan<Integer> d = Chan.make(0);
            Cell got = new Cell();
            l.go(() -> {
                for (int i = 0; i < 2; i++) {
                    int _ = Select.of().recv(c, got::add).recv(d, got::add).run();
                }
                l.done();
            });
            l.go(() -> {
                c.send(1);
                l.done();
            });
            l.go(() -> {
                d.send(10);
                l.done();
            });
            l.end(() -> check(got.get() == 11, "the select received " + got.get()));
        }).withoutBlocking();
    }

    private static Case mutexes() {
        return new Loop(2, 3, l -> {
            Mutex m = new Mutex();
            Cell count = new Cell();
            l.go(3, () -> {
                m.lock();
                int n = count.get();
                Go.gosched();
                count.set(n + 1);
                m.unlock();
                l.done();
            });
            l.end(() -> check(count.get() == 3, "two goroutines were in the mutex"));
        });
    }

    private static Case group() {
        return new Loop(2, 4, l -> l.go(() -> {
            WaitGroup wg = new WaitGroup();
            for (int i = 0; i < 3; i++) {
                wg.go(l::done);
            }
            wg.await();
            check(l.doneCount() == 3, "the waiter went on before all had ended");
            l.done();
        }));
    }

    /** Each of many locks has two waiters, which come and are woken in different orders. */
    private static Case semaphores() {
        int locks = 32;
        return new Loop(1, 2 * locks + 1, l -> {
            Mutex[] all = new Mutex[locks];
            for (int i = 0; i < locks; i++) {
                all[i] = new Mutex();
                all[i].lock();
            }
            l.go(() -> {
                for (int i = 0; i < 2 * locks; i++) {
                    Mutex m = all[(i < locks ? 5 : 7) * i % locks];
                    Loop.runs(() -> {
                        m.lock();
                        m.unlock();
                        l.done();
                    });
                }
                for (int i = 0; i < locks; i++) {
                    all[11 * i % locks].unlock();
                    Go.gosched();
                }
                l.done();
            });
        });
    }

    private static Case giveUp() {
        return new Loop(2, 2, l -> {
            Chan<Integer> c = Chan.make(0);
            Cell got = new Cell();
            Cell sent = new Cell();
            l.go(() -> {
                got.add(c.recvOkWithin(Duration.ofNanos(5_000)) == null ? 0 : 1);
                l.done();
            });
            l.go(() -> {
                sent.add(c.sendWithin(1, Duration.ofNanos(5_000)) ? 1 : 0);
                l.done();
            });
            l.end(() -> check(got.get() == sent.get(), "sent " + sent.get() + ", received " + got.get()));
        });
    }

    private static Case timers() {
        return new Loop(2, 1, l -> {
            Cell fired = new Cell();
            Cell expected = new Cell();
            l.go(() -> {
                Timer t = Time.afterFunc(Duration.ofNanos(10_000), () -> fired.add(1));
                Go.gosched();
                boolean stopped = t.stop();
                boolean _ = t.reset(Duration.ofNanos(stopped ? 2_000 : 3_000));
                expected.set(stopped ? 1 : 2);
                Loop.sleep(1_000);
                l.done();
            });
            l.end(() -> check(fired.get() == expected.get(), "a timer has fired " + fired.get() + " times for " + expected.get()));
        });
    }

    private static Case sleeps() {
        return new Loop(2, 3, l -> {
            for (int i = 1; i <= 3; i++) {
                long nanos = 10_000L * (4 - i);
                l.go(() -> {
                    long due = l.now() + nanos;
                    Loop.sleep(nanos);
                    check(l.now() >= due, "a sleep ended early");
                    l.done();
                });
            }
        });
    }

    private static Case meetsSleepers() {
        return new Loop(3, 3, l -> {
            for (int i = 0; i < 3; i++) {
                long nanos = 10_000L + 1_000 * i;
                l.go(() -> {
                    Loop.sleep(nanos);
                    l.meet(3);
                });
            }
        });
    }

    /** The second timer is due long before the first, and ends long before it. */
    private static Case sleepsEarlier() {
        return new Loop(2, 2, l -> {
            long end = l.now() + 1_000_000_000L;
            l.go(() -> {
                Loop.sleep(2_000_000_000L);
                l.done();
            });
            l.lane("go", () -> l.go(() -> {
                Loop.sleep(20_000);
                check(l.now() < end, "a short sleep lasted as long as that of the M in the poller");
                l.done();
            }));
        });
    }

    private static Case timerEarlier() {
        return new Loop(2, 2, l -> {
            long end = l.now() + 1_000_000_000L;
            l.go(() -> {
                Timer t = Time.afterFunc(Duration.ofSeconds(2), () -> {
                    check(l.now() < end, "a timer that was set to an earlier time fired at the old one");
                    l.done();
                });
                check(t.reset(Duration.ofNanos(20_000)), "the timer had fired");
                l.done();
            });
        });
    }

    /** The goroutine's own M does not come to run its timer, and the one in the poller sleeps for a later one. */
    private static Case timerBesideBusy() {
        return new Loop(2, 3, l -> {
            long end = l.now() + 1_000_000_000L;
            l.go(() -> {
                Loop.sleep(2_000_000_000L);
                l.done();
            });
            l.lane("go", () -> l.go(() -> {
                Timer _ = Time.afterFunc(Duration.ofNanos(20_000), l::done);
                l.until(1);
                check(l.now() < end, "a timer waited for a later one");
                l.done();
            }));
        });
    }

    private static Case sleepBesideBusy() {
        return new Loop(2, 2, l -> {
            l.go(() -> {
                Loop.sleep(20_000);
                l.done();
            });
            l.go(() -> {
                l.until(1);
                l.done();
            });
        });
    }

    private static Case parks() {
        return new Loop(2, 2, l -> {
            Thread waiter = Stacks.newThread(l.s, () -> {
                LockSupport.park();
                l.done();
                LockSupport.park();
                l.done();
            });
            l.lane("start", () -> {
                Threads.start(waiter);
                LockSupport.unpark(waiter);
            });
            l.lane("unpark", () -> {
                l.until(1);
                LockSupport.unpark(waiter);
            });
        });
    }

    /** The thread parks, and then waits on a channel, while the JDK submits it late and twice. */
    private static Case parksLate() {
        return new Loop(2, 2, l -> {
            Chan<Integer> c = Chan.make(0);
            Thread waiter = l.thread(() -> {
                LockSupport.park();
                check(c.recv() == 1, "another element came");
                l.done();
                LockSupport.park();
                l.done();
            });
            l.lane("unpark", () -> {
                LockSupport.unpark(waiter);
                c.send(1);
                LockSupport.unpark(waiter);
            });
            for (int i = 0; i < 2; i++) {
                l.lane("dump" + i, () -> {
                    Threads.submit(waiter);
                    Threads.submit(waiter);
                });
            }
        });
    }

    /**
     * The thread is submitted when it has parked again, and nothing has unparked it. It parks again when the unpark has returned, as that
     * may end the next park too: the JDK sets the permit, and then reads whether the thread is parked.
     */
    private static Case parksAgain() {
        return new Loop(2, 2, l -> {
            Cell permits = new Cell();
            Cell given = new Cell();
            Thread waiter = l.thread(() -> {
                for (int i = 1; i <= 2; i++) {
                    LockSupport.park();
                    check(permits.get() >= i, "a park ended that nothing has ended");
                    l.done();
                    while (given.get() < i) {
                        Thread.onSpinWait();
                    }
                }
            });
            l.lane("dump", () -> {
                Threads.submit(waiter);
                l.until(1);
                Threads.submit(waiter);
            });
            l.lane("unpark", () -> {
                for (int i = 0; i < 2; i++) {
                    l.until(i);
                    permits.add(1);
                    LockSupport.unpark(waiter);
                    given.add(1);
                }
            });
        });
    }

    /** The M that the thread has left runs others, and no longer is in a call. */
    private static Case parksInCall() {
        return new Loop(1, 2, l -> {
            Thread waiter = l.thread(() -> {
                Loop.blocking(() -> LockSupport.park());
                l.done();
            });
            l.go(() -> {
                Go.gosched();
                l.done();
            });
            l.lane("unpark", () -> {
                l.until(1);
                LockSupport.unpark(waiter);
            });
        });
    }

    private static Case interrupted() {
        return new Loop(2, 2, l -> {
            Semaphore sem = new Semaphore(1);
            sem.acquire(1);
            Thread waiter = l.thread(() -> {
                l.done();
                try {
                    sem.acquire(1);
                    failed(new AssertionError("a unit was given out that is not there"));
                } catch (WaitInterruptedException e) {
                    l.done();
                }
            });
            l.lane("interrupts", () -> {
                l.until(1);
                waiter.interrupt();
            });
        });
    }

    /** The thread keeps its hook for interrupts, so the interrupter may tell the next wait of an interrupt that was dealt with. */
    private static Case interruptedOnce() {
        return new Loop(2, 1, l -> {
            Semaphore sem = new Semaphore(2);
            sem.acquire(2);
            Thread waiter = l.thread(() -> {
                boolean dealtWith = !Limits.unlessInterrupted(sem) || Thread.interrupted();
                check(!dealtWith || Limits.unlessInterrupted(sem), "a wait was ended by an interrupt that was dealt with");
                l.done();
            });
            l.lane("interrupts", () -> waiter.interrupt());
            l.lane("releases", () -> {
                sem.release(1);
                sem.release(1);
            });
        });
    }

    private static void failed(Throwable t) {
        Case.failed(t);
    }
}
