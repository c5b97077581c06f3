// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.gmp4j.Selects.NOTHING;
import static org.gmp4j.Selects.awaitWaiter;
import static org.gmp4j.Selects.fail;
import static org.gmp4j.Selects.go;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import org.gmp4j.chan.Waiters;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of {@link Select}: cases, choice, closes, what a wait leaves; Go's {@code runtime/chan_test.go}. */
@Tag("ring")
class SelectTest {
    @Test
    void indexIsTheOrderOfAdding() {
        go(1, () -> {
            Chan<String> none = null;
            Chan<String> empty = Chan.make();
            Chan<String> full = Chan.make(1);
            full.send("x");
            List<String> got = new ArrayList<>();
            Select s = Select.of().recv(none, Selects::fail).orElse(() -> got.add("default"))
                    .send(full, "y", Selects::fail).recv(empty, Selects::fail).recv(full, got::add);
            assertEquals(3, s.run());
            assertEquals(List.of("x"), got);
            full.send("z");
            assertEquals(3, s.run(), "run again");
            assertEquals(List.of("x", "z"), got);
            s.clear().recv(empty, Selects::fail).orElse(() -> got.add("default"));
            assertEquals(-1, s.run());
            assertEquals("default", got.getLast());
            assertEquals(0, s.clear().send(full, "a", () -> got.add("sent")).run());
            assertEquals("sent", got.getLast());
            assertEquals("a", full.recv());
        });
    }

    @Test
    void misuse() {
        go(1, () -> {
            Chan<Integer> c = Chan.make(1);
            Select s = Select.of();
            assertThrows(NullPointerException.class, () -> s.send(c, null, NOTHING));
            assertThrows(NullPointerException.class, () -> s.recv(c, null));
            assertThrows(NullPointerException.class, () -> s.send(c, 1, null));
            assertThrows(NullPointerException.class, () -> s.orElse(null));
            assertEquals(-1, s.orElse(NOTHING).run(), "nothing refused was added");
        });
    }

    /** What the action throws comes out, and the select is good for another run; so is one whose send failed. */
    @Test
    void exceptionsComeOut() {
        go(1, () -> {
            Chan<Integer> c = Chan.make(2);
            c.send(1);
            c.send(2);
            RuntimeException e = new RuntimeException();
            Select s = Select.of().recv(c, v -> {
                throw e;
            });
            assertEquals(e, assertThrows(RuntimeException.class, s::run));
            s.recv(null, Selects::ignore);
            assertEquals(e, assertThrows(RuntimeException.class, s::run));
            c.close();
            for (Select closed : List.of(Select.of().send(c, 1, NOTHING), Select.of().send(c, 1, NOTHING).orElse(NOTHING),
                    Select.of().send(c, 1, NOTHING).recv(Chan.make(), Selects::fail))) {
                for (int i = 0; i < 2; i++) {
                    assertEquals("send on closed channel",
                            assertThrows(IllegalStateException.class, closed::run).getMessage());
                }
            }
        });
    }

    /** Actions select, with the same Select too, and change it. */
    @Test
    void actionsSelect() {
        go(1, () -> {
            Chan<Integer> c = Chan.make(10);
            for (int i = 0; i < 10; i++) {
                c.send(i);
            }
            List<Integer> got = new ArrayList<>();
            Select s = Select.of();
            s.recv(c, v -> {
                if (v < 3) {
                    int _ = s.run();
                } else {
                    s.clear().orElse(NOTHING);
                }
                got.add(v);
            }).recv(Chan.make(), Selects::fail);
            assertEquals(0, s.run());
            assertEquals(List.of(3, 2, 1, 0), got);
            assertEquals(-1, s.run());
        });
    }

    @Test
    void twoThreadsAtOnce() {
        go(2, () -> {
            Chan<Integer> c = Chan.make();
            Select s = Select.of().recv(c, Selects::ignore).recv(Chan.make(), Selects::fail);
            WaitGroup wg = new WaitGroup();
            wg.go(s::run);
            awaitWaiter(c);
            assertThrows(ConcurrentModificationException.class, s::run);
            assertThrows(ConcurrentModificationException.class, s::clear);
            assertThrows(ConcurrentModificationException.class, () -> s.orElse(NOTHING));
            c.send(1);
            wg.await();
        });
    }

    /** More cases than are kept in order one by one: each is found, whatever the order and however often a channel is there. */
    @Test
    void manyCases() {
        go(2, () -> {
            int n = 5_000;
            List<Chan<Integer>> all = new ArrayList<>();
            Select numbered = Select.of(); // Gives them their numbers, in this order.
            for (int i = 0; i < n; i++) {
                all.add(Chan.make());
                numbered.recv(all.get(i), Selects::fail);
            }
            List<Integer> order = new ArrayList<>(IntStream.range(0, n).boxed().toList());
            order.addAll(order.subList(0, 1_000));
            Collections.shuffle(order, new Random(1));
            Select s = Select.of();
            List<Integer> got = new ArrayList<>();
            order.forEach(i -> s.recv(all.get(i), got::add));
            for (int i = 0; i < n; i += 500) {
                Chan<Integer> c = all.get(i);
                int v = i;
                Go.go(() -> c.send(v));
                assertEquals(i, order.get(s.run()));
                assertEquals(i, got.removeLast());
            }
            s.clear().recv(all.get(0), got::add).orElse(() -> got.add(-1));
            assertEquals(-1, s.run());
            all.forEach(c -> assertTrue(Waiters.none(c)));
        });
    }

    @Test
    void closeIsSeen() {
        go(2, () -> {
            Chan<Integer> c = Chan.make(1);
            LongChan l = LongChan.make(1);
            c.send(1);
            l.send(0);
            c.close();
            l.close();
            List<Object> got = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                assertEquals(0, Select.of().recv(c, got::add).recv(null, Selects::fail).run());
                assertEquals(1, Select.of().recv(null, Selects::fail)
                        .recvLongOk(l, (v, ok) -> got.add(v + " " + ok)).run());
            }
            assertEquals(0, Select.of().recvLong(l, got::add).orElse(Selects::fail).run());
            assertEquals(0, Select.of().recvLongOk(l, (v, ok) -> got.add(ok)).run());
            List<Object> expected = new ArrayList<>(List.of(1, "0 true"));
            expected.add(null);
            expected.addAll(List.of("0 false", 0L, false));
            assertEquals(expected, got);
        });
    }

    /** A close wakes selects that wait to receive, to send, and to do both on the same channel twice. */
    @Test
    void closeWakesSelects() {
        go(2, () -> {
            for (int kind = 0; kind < 3; kind++) {
                Chan<Integer> c = Chan.make();
                LongChan l = LongChan.make();
                Chan<Integer> never = Chan.make();
                AtomicReference<Object> end = new AtomicReference<>("");
                WaitGroup wg = new WaitGroup();
                Select s = Select.of().recv(never, Selects::fail);
                switch (kind) {
                    case 0 -> s.recv(c, end::set).recv(c, end::set);
                    case 1 -> s.send(c, 1, Selects::fail).send(c, 2, Selects::fail);
                    default -> s.recvLongOk(l, (v, ok) -> end.set(v == 0 && !ok ? null : "wrong"));
                }
                wg.go(() -> {
                    try {
                        assertTrue(s.run() > 0);
                    } catch (IllegalStateException e) {
                        end.set(e.getMessage());
                    }
                });
                awaitWaiter(never);
                c.close();
                l.close();
                wg.await();
                assertEquals(kind == 1 ? "send on closed channel" : null, end.get());
                assertTrue(Waiters.none(never) && Waiters.none(c) && Waiters.none(l));
            }
        });
    }

    /** A select that waited leaves nothing behind in the queues that it did not use, wherever it stood in them. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void leavesNothingBehind(boolean threads) throws InterruptedException {
        Chan<Integer> c = Chan.make();
        Chan<Integer> full = Chan.make(1);
        full.send(0);
        LongChan l = LongChan.make();
        List<Chan<Integer>> own = new ArrayList<>();
        int n = 9;
        try (TestGmp gmp = TestGmp.procs(2)) {
            Threads plain = new Threads();
            for (int i = 0; i < n; i++) {
                Chan<Integer> mine = Chan.make();
                own.add(mine);
                Runnable body = () -> {
                    Select s = Select.of().recv(c, Selects::fail).send(full, 1, Selects::fail)
                            .recv(mine, Selects::ignore).recvLong(l, v -> fail()).recv(c, Selects::fail);
                    for (int k = 0; k < 3; k++) {
                        assertEquals(2, s.run());
                    }
                };
                if (threads) {
                    plain.add("select" + i, body::run);
                } else {
                    gmp.go(body);
                }
            }
            plain.start();
            List<Integer> order = new ArrayList<>(IntStream.range(0, n).boxed().toList());
            Collections.shuffle(order);
            for (int k = 0; k < 3; k++) {
                order.forEach(i -> own.get(i).send(1));
            }
            plain.join();
        }
        assertTrue(Waiters.none(c) && Waiters.none(full) && Waiters.none(l));
    }

    /** Go: {@code TestSelectFairness}: of two that are always ready each is chosen as often; ten standard deviations. */
    @Test
    void selectFairness() {
        int trials = 10_000;
        go(2, () -> {
            Chan<Integer> c1 = Chan.make(trials + 1);
            Chan<Integer> c2 = Chan.make(trials + 1);
            for (int i = 0; i < trials + 1; i++) {
                c1.send(1);
                c2.send(2);
            }
            Chan<Integer> c3 = Chan.make();
            Chan<Integer> c4 = Chan.make();
            Chan<Integer> out = Chan.make();
            Chan<Integer> done = Chan.make();
            WaitGroup wg = new WaitGroup();
            wg.go(() -> {
                int[] b = new int[1];
                boolean[] end = new boolean[1];
                Select in = Select.of().recv(c3, Selects::fail).recv(c4, Selects::fail).recv(c1, v -> b[0] = v)
                        .recv(c2, v -> b[0] = v);
                Select on = Select.of();
                while (!end[0]) {
                    int _ = in.run();
                    var _ = on.clear().send(out, b[0], NOTHING).recv(done, v -> end[0] = true).run();
                }
            });
            int ones = 0;
            for (int i = 0; i < trials; i++) {
                ones += out.recv() == 1 ? 1 : 0;
            }
            done.close();
            wg.await();
            assertEquals(trials / 2.0, ones, 500);
        });
    }

    /** Each of several ready cases is as likely, whatever their number, on a plain thread too. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void uniformChoice(boolean thread) {
        Runnable body = () -> {
            for (int n : new int[] {2, 3, 5}) {
                Select s = Select.of();
                for (int i = 0; i < n; i++) {
                    Chan<Integer> closed = Chan.make();
                    closed.close();
                    s.recv(Chan.make(), Selects::fail).recv(closed, Selects::ignore);
                }
                int trials = 4_000 * n;
                int[] hits = new int[2 * n];
                for (int i = 0; i < trials; i++) {
                    hits[s.run()]++;
                }
                for (int i = 1; i < 2 * n; i += 2) {
                    assertEquals(4_000, hits[i], 600);
                }
            }
        };
        if (thread) {
            body.run();
        } else {
            go(1, body);
        }
    }

    /** Go: {@code TestPseudoRandomSend}: of two sends on one channel each is chosen now and then. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1_000})
    void pseudoRandomSend(int cap) {
        int n = 100;
        go(2, () -> {
            Chan<Integer> c = Chan.make(cap);
            int[] ones = new int[1];
            WaitGroup wg = new WaitGroup();
            wg.go(() -> {
                for (int i = 0; i < n; i++) {
                    Go.gosched();
                    ones[0] += c.recv();
                }
            });
            for (int i = 0; i < n; i++) {
                int _ = Select.of().send(c, 1, NOTHING).send(c, 0, NOTHING).run();
            }
            wg.await();
            assertTrue(ones[0] > n / 10 && ones[0] < n - n / 10, "ones: " + ones[0]);
        });
    }

    /** Go: {@code TestSelectDuplicateChannel}: a goroutine waits on one channel twice, and is woken through another. */
    @Test
    void selectDuplicateChannel() {
        go(2, () -> {
            Chan<Integer> c = Chan.make();
            Chan<Integer> d = Chan.make();
            Chan<Integer> e = Chan.make();
            Go.go(() -> {
                Select s = Select.of().recv(c, Selects::fail).recv(c, Selects::fail).recv(d, Selects::ignore);
                assertEquals(2, s.run());
                e.send(9);
            });
            awaitWaiter(c);
            WaitGroup b = new WaitGroup();
            b.go(() -> assertEquals(8, c.recv()));
            TestGmp.awaitOthers();
            d.send(7); // A takes itself out of c.
            assertEquals(9, e.recv());
            c.send(8);
            b.await();
            assertTrue(Waiters.none(c));
        });
    }
}
