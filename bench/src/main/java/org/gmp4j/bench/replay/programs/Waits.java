// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.ChanClosedException;
import org.gmp4j.LongChan;
import org.gmp4j.Select;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Once;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;

/** Programs of channels, selects and locks, with threads that are no goroutines: they wait on notes. */
final class Waits {
    private static final Runnable NOTHING = () -> { };

    private Waits() {
    }

    /** Senders and receivers of one channel: each element is received once. */
    static final class Channel extends Case {
        private final Chan<Integer> c;
        private final List<Integer> got = new ArrayList<>();

        Channel(int size) {
            c = Chan.make(size);
        }

        @Override
        protected void begin() {
            for (int i = 0; i < 2; i++) {
                int first = 2 * i;
                lane("send" + i, () -> {
                    c.send(first);
                    c.send(first + 1);
                });
                lane("recv" + i, () -> {
                    got.add(c.recv());
                    got.add(c.recv());
                });
            }
        }

        @Override
        protected void end() {
            check(got.size() == 4 && got.stream().distinct().count() == 4, "received: " + got);
            check(got.indexOf(0) >= 0 && got.indexOf(3) >= 0, "received: " + got);
        }
    }

    /** Each element of a channel of longs arrives once. */
    static final class Longs extends Case {
        private final LongChan c = LongChan.make(1);
        private long sum;

        @Override
        protected void begin() {
            for (int i = 0; i < 2; i++) {
                long v = 1L << i;
                lane("send" + i, () -> c.send(v));
            }
            lane("recv", () -> {
                sum += c.recv();
                sum += c.recv();
            });
        }

        @Override
        protected void end() {
            check(sum == 3, "the sum of what was received is " + sum);
        }
    }

    /** A close beside a receiver and a sender of a buffered channel. */
    static final class Close extends Case {
        private final Chan<Integer> c = Chan.make(1);
        private int got;
        private boolean refused;

        @Override
        protected void begin() {
            lane("send", () -> {
                try {
                    c.send(1);
                    c.send(2);
                } catch (ChanClosedException e) {
                    refused = true;
                }
            });
            lane("recv", () -> {
                for (Integer v = c.recv(); v != null; v = c.recv()) {
                    got++;
                }
            });
            lane("close", c::close);
        }

        @Override
        protected void end() {
            check(got == 2 && !refused || refused && got <= 1, "received " + got + ", refused " + refused);
        }
    }

    /** Two receivers wait when the channel is closed, and then wait for something else. */
    static final class CloseTwo extends Case {
        private final Chan<Integer> c = Chan.make(0);
        private final Chan<Integer> d = Chan.make(0);
        private final AtomicInteger got = new AtomicInteger();

        @Override
        protected void begin() {
            for (int i = 0; i < 2; i++) {
                lane("recv" + i, () -> {
                    check(c.recv() == null, "an element came from a channel to which none was sent");
                    got.addAndGet(d.recv());
                });
            }
            lane("close", c::close);
            lane("send", () -> {
                d.send(1);
                d.send(10);
            });
        }

        @Override
        protected void end() {
            check(got.get() == 11, "received " + got.get());
        }
    }

    /** A receiver that does not wait sees what was sent before the close. */
    static final class SentBeforeClose extends Case {
        private final Chan<Integer> c = Chan.make(1);
        private int got;

        @Override
        protected void begin() {
            lane("send", () -> {
                c.send(1);
                c.close();
            });
            lane("recv", () -> {
                for (;;) {
                    Chan.Recv<Integer> r = c.tryRecvOk();
                    if (r == null) {
                        Thread.onSpinWait();
                    } else if (r.ok()) {
                        got++;
                    } else {
                        return;
                    }
                }
            });
        }

        @Override
        protected void end() {
            check(got == 1, "what was sent before the close is missed");
        }
    }

    /** Two selects and two channels: each element goes to one of them. */
    static final class Selects extends Case {
        private final Chan<Integer> c = Chan.make(0);
        private final Chan<Integer> d = Chan.make(0);
        private final AtomicInteger got = new AtomicInteger();

        @Override
        protected void begin() {
            for (int i = 0; i < 2; i++) {
                boolean turned = i == 1;
                lane("select" + i, () -> {
                    Select s = turned ? Select.of().recv(d, v -> got.addAndGet(v)).recv(c, v -> got.addAndGet(v))
                            : Select.of().recv(c, v -> got.addAndGet(v)).recv(d, v -> got.addAndGet(v));
                    int _ = s.run();
                });
            }
            lane("sendC", () -> c.send(1));
            lane("sendD", () -> d.send(10));
        }

        @Override
        protected void end() {
            check(got.get() == 11, "the selects received " + got.get());
        }
    }

    /** A select that is run twice while two senders compete for it. */
    static final class SelectTwice extends Case {
        private final Chan<Integer> c = Chan.make(0);
        private final Chan<Integer> d = Chan.make(0);
        private int got;

        @Override
        protected void begin() {
            lane("select", () -> {
                Select s = Select.of().recv(c, v -> got += v).recv(d, v -> got += v);
                int _ = s.run();
                int _ = s.run();
            });
            lane("sendC", () -> c.send(1));
            lane("sendD", () -> d.send(10));
        }

        @Override
        protected void end() {
            check(got == 11, "the selects received " + got);
        }
    }

    /** Two selects and a receiver wait in one queue, which they leave in any order. */
    static final class SelectsLeave extends Case {
        private final Chan<Integer> c = Chan.make(0);
        private final Chan<Integer> d = Chan.make(0);
        private final AtomicInteger got = new AtomicInteger();

        @Override
        protected void begin() {
            for (int i = 0; i < 2; i++) {
                lane("select" + i, () -> {
                    int _ = Select.of().recv(c, v -> got.addAndGet(v)).recv(d, v -> got.addAndGet(v)).recv(c, v -> got.addAndGet(v))
                            .run();
                });
            }
            lane("recv", () -> got.addAndGet(c.recv()));
            lane("send", () -> {
                c.send(1);
                d.send(10);
                c.send(100);
            });
        }

        @Override
        protected boolean mayRest(String lane) {
            return true; // If the selects have taken from c, nobody receives from d.
        }

        @Override
        protected void end() {
            check(got.get() == 111 || got.get() == 1 || got.get() == 11 || got.get() == 101, "received " + got.get());
            check(got.get() != 11, "a receiver sleeps beside a sender");
        }
    }

    /** A select that sends and one that receives meet. */
    static final class SelectsMeet extends Case {
        private final Chan<Integer> c = Chan.make(0);
        private final Chan<Integer> d = Chan.make(0);
        private int got;

        @Override
        protected void begin() {
            lane("sends", () -> {
                int _ = Select.of().send(c, 1, NOTHING).send(d, 2, NOTHING).run();
            });
            lane("receives", () -> {
                int _ = Select.of().recv(d, v -> got += v).recv(c, v -> got += v).run();
            });
        }

        @Override
        protected void end() {
            check(got == 1 || got == 2, "received " + got);
        }
    }

    /** A select with a default sees all cases at one moment: one of two channels always has the element. */
    static final class SelectDefault extends Case {
        private final Chan<Integer> c = Chan.make(1);
        private final Chan<Integer> d = Chan.make(1);
        private boolean none;

        @Override
        protected void begin() {
            c.send(1);
            lane("moves", () -> {
                d.send(2);
                Integer _ = c.recv();
            });
            lane("select", () -> {
                int _ = Select.of().recv(c, v -> { }).recv(d, v -> { }).orElse(() -> none = true).run();
            });
        }

        @Override
        protected boolean mayRest(String lane) {
            return true; // The select may have taken what the other receives.
        }

        @Override
        protected void end() {
            check(!none, "a default was taken though a channel was ready at each moment");
        }
    }

    /** A receive with a limit: what was sent is received, or stays. */
    static final class Limited extends Case {
        private final Chan<Integer> c = Chan.make(0);
        private int sent;
        private int got;

        @Override
        protected void begin() {
            lane("recv", () -> got += c.recvOkWithin(Duration.ofNanos(1)) != null ? 1 : 0);
            lane("send", () -> sent += c.trySend(1) ? 1 : 0);
        }

        @Override
        protected boolean mayRest(String lane) {
            return lane.equals("timers");
        }

        @Override
        protected void end() {
            check(sent == got, "sent " + sent + ", received " + got);
        }
    }

    /** Three threads count in a mutex. */
    static final class Mutexes extends Case {
        private final Mutex m = new Mutex();
        private int count;

        @Override
        protected void begin() {
            for (int i = 0; i < 3; i++) {
                lane("T" + i, () -> {
                    for (int k = 0; k < 2; k++) {
                        m.lock();
                        int n = count;
                        count = n + 1;
                        m.unlock();
                    }
                });
            }
        }

        @Override
        protected void end() {
            check(count == 6, "two threads were in the mutex: " + count + " of 6 were counted");
            check(m.tryLock(), "the mutex is left locked");
        }
    }

    /** Readers and a writer. */
    static final class Readers extends Case {
        private final RWMutex m = new RWMutex();
        private int a;
        private int b;

        @Override
        protected void begin() {
            for (int i = 0; i < 2; i++) {
                lane("write" + i, () -> {
                    m.lock();
                    a++;
                    b++;
                    m.unlock();
                });
                lane("read" + i, () -> {
                    m.rLock();
                    check(a == b, "a reader is beside a writer");
                    m.rUnlock();
                });
            }
        }

        @Override
        protected void end() {
            check(a == 2 && b == 2, "two writers were inside");
            check(m.tryLock(), "the lock is left");
        }
    }

    /** A counting semaphore with a large and small requests. */
    static final class Units extends Case {
        private final Semaphore sem = new Semaphore(2);
        private final AtomicInteger inside = new AtomicInteger();

        @Override
        protected void begin() {
            for (int i = 0; i < 3; i++) {
                int n = i == 0 ? 2 : 1;
                lane("T" + i, () -> {
                    sem.acquire(n);
                    inside.addAndGet(n);
                    check(inside.get() <= 2, "more units are out than there are");
                    inside.addAndGet(-n);
                    sem.release(n);
                });
            }
        }

        @Override
        protected void end() {
            check(sem.tryAcquire(2), "units are lost");
        }
    }

    /** A wait group is waited for by two. */
    static final class Groups extends Case {
        private final WaitGroup wg = new WaitGroup();
        private final AtomicInteger done = new AtomicInteger();
        private final AtomicInteger waited = new AtomicInteger();

        @Override
        protected void begin() {
            wg.add(2);
            for (int i = 0; i < 2; i++) {
                lane("done" + i, () -> {
                    done.incrementAndGet();
                    wg.done();
                });
                lane("wait" + i, () -> {
                    wg.await();
                    check(done.get() == 2, "a waiter went on before all were done");
                    waited.incrementAndGet();
                });
            }
        }

        @Override
        protected void end() {
            check(waited.get() == 2, "a waiter was left");
        }
    }

    /** A condition: each waiter takes one of the things that are signalled. */
    static final class Conditions extends Case {
        private final Mutex m = new Mutex();
        private final Cond cond = new Cond(m);
        private int things;
        private int taken;

        @Override
        protected void begin() {
            for (int i = 0; i < 2; i++) {
                lane("takes" + i, () -> {
                    m.lock();
                    while (things == 0) {
                        cond.await();
                    }
                    things--;
                    taken++;
                    m.unlock();
                });
            }
            lane("puts", () -> {
                for (int i = 0; i < 2; i++) {
                    m.lock();
                    things++;
                    m.unlock();
                    cond.signal();
                }
            });
        }

        @Override
        protected void end() {
            check(taken == 2 && things == 0, "taken " + taken + ", left " + things);
        }
    }

    /** A body that runs once, for all who ask. */
    static final class OnlyOnce extends Case {
        private final Once once = new Once();
        private int runs;

        @Override
        protected void begin() {
            for (int i = 0; i < 3; i++) {
                lane("T" + i, () -> {
                    once.run(() -> runs++);
                    check(runs == 1, "it has run " + runs + " times");
                });
            }
        }

        @Override
        protected void end() {
            check(runs == 1, "it has run " + runs + " times");
        }
    }
}
