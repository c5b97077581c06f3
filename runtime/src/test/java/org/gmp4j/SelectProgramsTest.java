// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.gmp4j.Selects.NOTHING;
import static org.gmp4j.Selects.awaitWaiter;
import static org.gmp4j.Selects.go;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.chan.Waiters;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link Select} as in the programs of Go's {@code test/chan}: {@code doubleselect.go}, {@code select3.go} and others. */
@Tag("ring")
class SelectProgramsTest {
    /** Go: {@code doubleselect.go}: a send in a select of four is done once. */
    @Stress
    void doubleselect() {
        int n = 20_000;
        go(2, () -> {
            List<Chan<Integer>> cs = List.of(Chan.make(), Chan.make(), Chan.make(), Chan.make());
            Chan<Integer> mux = Chan.make();
            WaitGroup receivers = new WaitGroup();
            for (Chan<Integer> c : cs) {
                receivers.go(() -> c.forEach(mux::send));
            }
            Go.go(() -> {
                Select s = Select.of();
                for (int i = 0; i < n; i++) {
                    s.clear();
                    for (Chan<Integer> c : cs) {
                        s.send(c, i, NOTHING);
                    }
                    int _ = s.run();
                }
                cs.forEach(Chan::close);
                receivers.await();
                mux.close();
            });
            int[] seen = new int[n];
            for (int v : mux) {
                assertEquals(1, ++seen[v]);
            }
            for (int s : seen) {
                assertEquals(1, s);
            }
        });
    }

    /** Go: {@code nonblock.go}: select with a default on all ends of channels with and without a buffer. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5})
    void nonblock(int cap) {
        go(2, () -> {
            Chan<String> c = Chan.make(cap);
            String[] got = new String[1];
            Select recv = Select.of().recv(c, v -> got[0] = v).orElse(NOTHING);
            Select send = Select.of().send(c, "hello", NOTHING).orElse(NOTHING);
            assertEquals(-1, recv.run());
            for (int i = 0; i < cap; i++) {
                assertEquals(0, send.run());
            }
            assertEquals(-1, send.run());
            for (int i = 0; i < cap; i++) {
                assertEquals(0, recv.run());
                assertEquals("hello", got[0]);
            }
            assertEquals(-1, recv.run());
            WaitGroup wg = new WaitGroup();
            wg.go(() -> c.send("waited"));
            while (recv.run() < 0) {
                Go.gosched();
            }
            assertEquals("waited", got[0]);
            wg.await();
            wg.go(() -> assertEquals("hello", c.recv()));
            awaitWaiter(c);
            while (send.run() < 0) {
                Go.gosched();
            }
            wg.await();
        });
    }

    /** Go: {@code select3.go}: which selects wait, and which do not. */
    @Test
    void select3() {
        go(2, () -> {
            Chan<Integer> none = null;
            Chan<Integer> closed = Chan.make();
            closed.close();
            Chan<Integer> room = Chan.make(10);
            Chan<Integer> filled = Chan.make(10);
            filled.send(1);
            // Without default and with nothing ready: waits, until the last channel is closed.
            Chan<Integer> empty = Chan.make();
            Chan<Integer> full = Chan.make(1);
            full.send(1);
            List<Select> waiting = List.of(Select.of().recv(empty, Selects::ignore),
                    Select.of().recv(none, Selects::fail).recv(empty, Selects::ignore),
                    Select.of().send(none, 1, Selects::fail).send(full, 1, Selects::fail)
                            .recv(empty, Selects::ignore),
                    Select.of().recv(empty, Selects::ignore).recv(empty, Selects::ignore));
            AtomicInteger went = new AtomicInteger();
            WaitGroup wg = new WaitGroup();
            for (Select s : waiting) {
                wg.go(() -> {
                    int _ = s.run();
                    went.incrementAndGet();
                });
            }
            TestGmp.awaitOthers();
            assertEquals(0, went.get());
            empty.close();
            wg.await();
            // Ready: does not.
            assertEquals(0, Select.of().recv(filled, Selects::ignore).run());
            assertEquals(0, Select.of().send(room, 1, NOTHING).run());
            assertEquals(1, Select.of().recv(none, Selects::fail).send(room, 1, NOTHING).run());
            assertEquals(0, Select.of().recv(closed, Selects::ignore).run());
            assertEquals(1, Select.of().send(none, 1, Selects::fail).recv(closed, Selects::ignore).run());
            assertEquals(-1, Select.of().orElse(NOTHING).run());
            assertEquals(-1, Select.of().recv(none, Selects::fail).orElse(NOTHING).run());
            assertEquals(-1, Select.of().recv(none, Selects::fail).send(none, 1, Selects::fail).orElse(NOTHING).run());
            assertEquals(-1, Select.of().send(full, 1, Selects::fail).orElse(NOTHING).run());
        });
    }

    /** Go: {@code select5.go}: of many cases in random mixture the only one that can go on is taken, and does its work. */
    @Test
    void select5() {
        Random random = new Random(5);
        go(1, () -> {
            for (int round = 0; round < 500; round++) {
                int n = 1 + random.nextInt(12);
                int ready = random.nextInt(n);
                Chan<Integer> c = Chan.make(1);
                Chan<Integer> full = Chan.make(1);
                full.send(-1);
                boolean send = random.nextBoolean();
                if (!send) {
                    c.send(round);
                }
                int[] did = new int[1];
                Select s = Select.of();
                for (int i = 0; i < n; i++) {
                    if (i == ready && send) {
                        s.send(c, round, () -> did[0]++);
                    } else if (i == ready) {
                        s.recv(c, v -> did[0] += v + 1);
                    } else {
                        switch (random.nextInt(4)) {
                            case 0 -> s.recv(null, Selects::fail);
                            case 1 -> s.send(full, i, Selects::fail);
                            case 2 -> s.recv(Chan.make(), Selects::fail);
                            default -> s.sendLong(LongChan.make(), i, Selects::fail);
                        }
                    }
                }
                assertEquals(ready, s.run());
                assertEquals(send ? 1 : round + 1, did[0]);
                assertEquals(send ? round : null, c.tryRecv());
            }
        });
    }

    /** Go: {@code select6.go}: a select that was last in a queue and woken through another leaves the queue whole. */
    @Test
    void select6() {
        go(1, () -> {
            Chan<Boolean> c1 = Chan.make();
            Chan<Boolean> c2 = Chan.make();
            Chan<Boolean> c3 = Chan.make();
            WaitGroup wg = new WaitGroup();
            wg.go(c1::recv);
            TestGmp.awaitOthers();
            wg.go(() -> {
                assertEquals(1, Select.of().recv(c1, Selects::fail).recv(c2, Selects::ignore).run());
                c3.send(true);
            });
            TestGmp.awaitOthers();
            wg.go(() -> c2.send(true));
            assertTrue(c3.recv());
            wg.go(c1::recv);
            TestGmp.awaitOthers();
            c1.send(true);
            c1.send(true);
            wg.await();
            assertTrue(Waiters.none(c1));
        });
    }

    /** Go: {@code select7.go}: plain sends meet selects and plain receives meet selects, in all pairs. */
    @Test
    void select7() {
        go(2, () -> {
            Chan<Integer> never = Chan.make();
            for (int r = 0; r < 3; r++) {
                for (int s = 0; s < 4; s++) {
                    Chan<Integer> c = Chan.make();
                    int receiver = r;
                    int sender = s;
                    WaitGroup wg = new WaitGroup();
                    Runnable recv = () -> {
                        switch (receiver) {
                            case 0 -> assertEquals(1, c.recv());
                            case 1 -> assertEquals(0, Select.of().recv(c, v -> assertEquals(1, v)).run());
                            default -> assertEquals(1, Select.of().recv(never, Selects::fail)
                                    .recv(c, v -> assertEquals(1, v)).run());
                        }
                    };
                    Runnable send = () -> {
                        switch (sender) {
                            case 0 -> c.send(1);
                            case 1 -> assertEquals(0, Select.of().send(c, 1, NOTHING).run());
                            case 2 -> assertEquals(1, Select.of().recv(never, Selects::fail).send(c, 1, NOTHING).run());
                            default -> {
                                Select try1 = Select.of().send(c, 1, NOTHING).orElse(NOTHING);
                                while (try1.run() < 0) {
                                    Go.gosched();
                                }
                            }
                        }
                    };
                    for (int turn = 0; turn < 2; turn++) {
                        if (turn == 0 || sender == 3) { // One that only tries needs another that waits.
                            wg.go(recv);
                            awaitWaiter(c);
                            send.run();
                        } else {
                            wg.go(send);
                            awaitWaiter(c);
                            recv.run();
                        }
                        wg.await();
                    }
                }
            }
        });
    }

    /** Go: {@code powser1.go}, its heart: power series as goroutines that are asked for one coefficient after the other. */
    @Test
    void powser() {
        go(2, () -> {
            Chan<Boolean> end = Chan.make();
            WaitGroup all = new WaitGroup();
            Series ones = new Series(end, all, out -> {
                while (out.put(1)) {
                    Go.gosched();
                }
            });
            Series[] two = ones.split();
            Series square = Series.product(two[0], two[1]); // 1/(1-x)^2 = 1 + 2x + 3x^2 + …
            for (long i = 1; i <= 12; i++) {
                assertEquals(i, square.get());
            }
            end.close();
            all.await();
        });
    }

    /** A series: asks on one channel, coefficients on the other; both give way when {@code end} is closed. */
    private static final class Series {
        private final Chan<Boolean> ask = Chan.make();
        private final LongChan answer = LongChan.make();
        private final Chan<Boolean> end;
        private final WaitGroup all;
        private boolean ended;

        /** A goroutine puts coefficients out. */
        interface Body {
            void run(Series out);
        }

        Series(Chan<Boolean> end, WaitGroup all, Body body) {
            this.end = end;
            this.all = all;
            all.go(() -> body.run(this));
        }

        private boolean asked() {
            int _ = Select.of().recv(ask, Selects::ignore).recv(end, v -> ended = true).run();
            return !ended;
        }

        boolean put(long v) {
            if (!asked()) {
                return false;
            }
            int _ = Select.of().sendLong(answer, v, NOTHING).recv(end, e -> ended = true).run();
            return !ended;
        }

        long get() {
            long[] v = new long[1];
            if (Select.of().send(ask, true, NOTHING).recv(end, Selects::ignore).run() == 0) {
                int _ = Select.of().recvLong(answer, x -> v[0] = x).recv(end, Selects::ignore).run();
            }
            return v[0];
        }

        /** Two copies, asked in any order: whoever is behind gets what the other had. */
        Series[] split() {
            List<Long> had = new ArrayList<>();
            Object lock = new Object();
            Series[] two = new Series[2];
            for (int i = 0; i < 2; i++) {
                two[i] = new Series(end, all, out -> {
                    int at = 0;
                    long v;
                    do {
                        synchronized (lock) {
                            if (at == had.size()) {
                                had.add(get());
                            }
                            v = had.get(at++);
                        }
                    } while (out.put(v));
                });
            }
            return two;
        }

        static Series product(Series f, Series g) {
            return new Series(f.end, f.all, out -> {
                List<Long> fs = new ArrayList<>();
                List<Long> gs = new ArrayList<>();
                long sum;
                do {
                    // Both at once, in whatever order they answer.
                    int _ = Select.of().send(f.ask, true, NOTHING).recv(f.end, Selects::ignore).run();
                    var _ = Select.of().send(g.ask, true, NOTHING).recv(f.end, Selects::ignore).run();
                    for (int i = 0; i < 2; i++) {
                        LongChan fa = fs.size() == gs.size() || fs.size() < gs.size() ? f.answer : null;
                        LongChan ga = fs.size() == gs.size() || gs.size() < fs.size() ? g.answer : null;
                        var _ = Select.of().recvLong(fa, fs::add).recvLong(ga, gs::add)
                                .recv(f.end, Selects::ignore).run();
                    }
                    sum = 0;
                    for (int i = 0; i < Math.min(fs.size(), gs.size()); i++) {
                        sum += fs.get(i) * gs.get(gs.size() - 1 - i);
                    }
                } while (out.put(sum));
            });
        }
    }

    /** Go: {@code chanlinear.go}: selects leave the middle of a long queue, which takes no walk through it. */
    @Test
    void chanlinear() {
        int n = 20_000;
        go(2, () -> {
            Chan<Integer> common = Chan.make();
            List<Chan<Integer>> own = new ArrayList<>(n);
            WaitGroup wg = new WaitGroup();
            for (int i = 0; i < n; i++) {
                Chan<Integer> mine = Chan.make();
                own.add(mine);
                Select s = Select.of().recv(common, Selects::fail).recv(mine, Selects::ignore);
                wg.go(() -> assertEquals(1, s.run()));
            }
            for (int i = n - 1; i >= 0; i--) {
                own.get(i).send(1);
            }
            wg.await();
            assertTrue(Waiters.none(common));
        });
    }
}
