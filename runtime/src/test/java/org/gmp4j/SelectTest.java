package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link Select}; Go's {@code runtime/chan_test.go} and {@code test/chan}, the parts with select. */
@Tag("ring")
class SelectTest {
    private static final Runnable NOTHING = () -> { };

    private static void go(int procs, Runnable body) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.run(body);
        }
    }

    private static void ignore(Object unused) {
    }

    private static void fail(Object unused) {
        throw new AssertionError("this case cannot go on");
    }

    private static void fail() {
        fail(null);
    }

    private static boolean nobodyWaits(Hchan c) {
        c.lock.lock();
        boolean none = c.recvq.isEmpty() && c.sendq.isEmpty();
        c.lock.unlock();
        return none;
    }

    private static void awaitWaiter(Hchan c) {
        while (nobodyWaits(c)) {
            Go.gosched();
        }
    }

    // ---- the interface

    @Test
    void indexIsTheOrderOfAdding() {
        go(1, () -> {
            Chan<String> none = null;
            Chan<String> empty = Chan.make();
            Chan<String> full = Chan.make(1);
            full.send("x");
            List<String> got = new ArrayList<>();
            Select s = Select.of().recv(none, SelectTest::fail).orElse(() -> got.add("default"))
                    .send(full, "y", SelectTest::fail).recv(empty, SelectTest::fail).recv(full, got::add);
            assertEquals(3, s.run());
            assertEquals(List.of("x"), got);
            full.send("z");
            assertEquals(3, s.run(), "run again");
            assertEquals(List.of("x", "z"), got);
            s.clear().recv(empty, SelectTest::fail).orElse(() -> got.add("default"));
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
            s.recv(null, SelectTest::ignore);
            assertEquals(e, assertThrows(RuntimeException.class, s::run));
            c.close();
            for (Select closed : List.of(Select.of().send(c, 1, NOTHING), Select.of().send(c, 1, NOTHING).orElse(NOTHING),
                    Select.of().send(c, 1, NOTHING).recv(Chan.make(), SelectTest::fail))) {
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
                    int unused = s.run();
                } else {
                    s.clear().orElse(NOTHING);
                }
                got.add(v);
            }).recv(Chan.make(), SelectTest::fail);
            assertEquals(0, s.run());
            assertEquals(List.of(3, 2, 1, 0), got);
            assertEquals(-1, s.run());
        });
    }

    @Test
    void twoThreadsAtOnce() {
        go(2, () -> {
            Chan<Integer> c = Chan.make();
            Select s = Select.of().recv(c, SelectTest::ignore).recv(Chan.make(), SelectTest::fail);
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
                assertEquals(0, Select.of().recv(c, got::add).recv(null, SelectTest::fail).run());
                assertEquals(1, Select.of().recv(null, SelectTest::fail)
                        .recvLongOk(l, (v, ok) -> got.add(v + " " + ok)).run());
            }
            assertEquals(0, Select.of().recvLong(l, got::add).orElse(SelectTest::fail).run());
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
                Select s = Select.of().recv(never, SelectTest::fail);
                switch (kind) {
                    case 0 -> s.recv(c, end::set).recv(c, end::set);
                    case 1 -> s.send(c, 1, SelectTest::fail).send(c, 2, SelectTest::fail);
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
                assertTrue(nobodyWaits(never) && nobodyWaits(c) && nobodyWaits(l));
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
                    Select s = Select.of().recv(c, SelectTest::fail).send(full, 1, SelectTest::fail)
                            .recv(mine, SelectTest::ignore).recvLong(l, v -> fail()).recv(c, SelectTest::fail);
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
            java.util.Collections.shuffle(order);
            for (int k = 0; k < 3; k++) {
                order.forEach(i -> own.get(i).send(1));
            }
            plain.join();
        }
        assertTrue(nobodyWaits(c) && nobodyWaits(full) && nobodyWaits(l));
    }

    /** A plain thread and a virtual thread of the JDK select among themselves and with goroutines. */
    @Stress
    void threadsOfAllKinds() throws InterruptedException {
        int n = 3_000;
        Chan<Integer> a = Chan.make();
        Chan<Integer> b = Chan.make(1);
        LongChan l = LongChan.make();
        AtomicIntegerArray seen = new AtomicIntegerArray(3 * n);
        IntConsumer send = first -> {
            for (int i = first; i < first + n; i++) {
                int unused = Select.of().send(a, i, NOTHING).send(b, i, NOTHING).sendLong(l, i, NOTHING).run();
            }
        };
        Runnable recv = () -> {
            Select s = Select.of().recv(a, seen::incrementAndGet).recv(b, seen::incrementAndGet)
                    .recvLong(l, v -> seen.incrementAndGet((int) v));
            for (int i = 0; i < n; i++) {
                assertTrue(s.run() >= 0);
            }
        };
        try (TestGmp gmp = TestGmp.procs(2)) {
            Threads plain = new Threads().add("sender", () -> send.accept(0)).add("receiver", recv::run).start();
            AtomicReference<Throwable> failed = new AtomicReference<>();
            Thread.UncaughtExceptionHandler handler = (t, e) -> failed.set(e);
            Thread v1 = Thread.ofVirtual().uncaughtExceptionHandler(handler).start(() -> send.accept(n));
            Thread v2 = Thread.ofVirtual().uncaughtExceptionHandler(handler).start(recv);
            gmp.go(() -> send.accept(2 * n));
            gmp.go(recv);
            plain.join();
            v1.join();
            v2.join();
            assertNull(failed.get());
        }
        for (int i = 0; i < 3 * n; i++) {
            assertEquals(1, seen.get(i));
        }
    }

    /** Selects with many channels in different orders do not wait for each other's locks. */
    @Stress
    void lockOrder() {
        go(8, () -> {
            int n = 40;
            List<Chan<Integer>> cs = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                cs.add(Chan.make(1));
            }
            WaitGroup wg = new WaitGroup();
            for (int g = 0; g < 8; g++) {
                List<Chan<Integer>> order = new ArrayList<>(cs);
                java.util.Collections.shuffle(order);
                wg.go(() -> {
                    Select s = Select.of();
                    for (int i = 0; i < n; i++) {
                        if (i % 2 == 0) {
                            s.recv(order.get(i), SelectTest::ignore);
                        } else {
                            s.send(order.get(i), i, NOTHING);
                        }
                    }
                    s.orElse(NOTHING);
                    for (int i = 0; i < 2_000; i++) {
                        int unused = s.run();
                    }
                });
            }
            wg.await();
        });
    }

    // ---- Go's chan_test.go

    /** Go: {@code TestSelfSelect}: send and receive on the same channel in one select neither crash nor deadlock. */
    @ParameterizedTest
    @ValueSource(ints = {0, 10})
    void selfSelect(int cap) {
        go(2, () -> {
            WaitGroup wg = new WaitGroup();
            Chan<Integer> c = Chan.make(cap);
            for (int p = 0; p < 2; p++) {
                int me = p;
                wg.go(() -> {
                    for (int i = 0; i < 1_000; i++) {
                        Select s = Select.of();
                        if (me == 0 || i % 2 == 0) {
                            s.send(c, me, NOTHING).recv(c, v -> assertFalse(cap == 0 && v == me, "self receive"));
                        } else {
                            s.recv(c, v -> assertFalse(cap == 0 && v == me, "self receive")).send(c, me, NOTHING);
                        }
                        int unused = s.run();
                    }
                });
            }
            wg.await();
        });
    }

    /** Go: {@code TestSelectStress}. */
    @Stress
    void selectStress() {
        go(10, () -> {
            int n = 5_000;
            List<Chan<Integer>> c = List.of(Chan.make(), Chan.make(), Chan.make(2), Chan.make(3));
            WaitGroup wg = new WaitGroup();
            for (Chan<Integer> k : c) {
                wg.go(() -> {
                    for (int i = 0; i < n; i++) {
                        k.send(0);
                    }
                });
                wg.go(() -> {
                    for (int i = 0; i < n; i++) {
                        int unused = k.recv();
                    }
                });
            }
            wg.go(() -> all(c, n, true));
            wg.go(() -> all(c, n, false));
            wg.await();
            c.forEach(k -> assertTrue(nobodyWaits(k) && k.len() == 0));
        });
    }

    private static void all(List<Chan<Integer>> channels, int n, boolean send) {
        List<Chan<Integer>> left = new ArrayList<>(channels);
        int[] done = new int[left.size()];
        Select s = Select.of();
        for (int i = 0; i < left.size() * n; i++) {
            s.clear();
            for (Chan<Integer> c : left) {
                if (send) {
                    s.send(c, 0, NOTHING);
                } else {
                    s.recv(c, SelectTest::ignore);
                }
            }
            int which = s.run();
            if (++done[which] == n) {
                left.set(which, null);
            }
        }
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
                Select in = Select.of().recv(c3, SelectTest::fail).recv(c4, SelectTest::fail).recv(c1, v -> b[0] = v)
                        .recv(c2, v -> b[0] = v);
                Select on = Select.of();
                while (!end[0]) {
                    int unused = in.run();
                    unused = on.clear().send(out, b[0], NOTHING).recv(done, v -> end[0] = true).run();
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
                    s.recv(Chan.make(), SelectTest::fail).recv(closed, SelectTest::ignore);
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
                int unused = Select.of().send(c, 1, NOTHING).send(c, 0, NOTHING).run();
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
                Select s = Select.of().recv(c, SelectTest::fail).recv(c, SelectTest::fail).recv(d, SelectTest::ignore);
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
            assertTrue(nobodyWaits(c));
        });
    }

    /** Go: {@code TestNonblockSelectRace}: one channel is filled before the other is emptied, so one is always ready. */
    @Stress
    void nonblockSelectRace() {
        go(4, () -> {
            for (int i = 0; i < 10_000; i++) {
                Chan<Integer> c1 = Chan.make(1);
                Chan<Integer> c2 = Chan.make(1);
                Chan<Boolean> done = Chan.make(1);
                c1.send(1);
                Go.go(() -> done.send(Select.of().recv(c1, SelectTest::ignore).recv(c2, SelectTest::ignore)
                        .orElse(NOTHING).run() >= 0));
                c2.send(1);
                int unused = Select.of().recv(c1, SelectTest::ignore).orElse(NOTHING).run();
                assertTrue(done.recv(), "no channel was ready");
            }
        });
    }

    /** Go: {@code TestNonblockSelectRace2}: the same, the second made ready by a close. */
    @Stress
    void nonblockSelectRace2() {
        go(4, () -> {
            for (int i = 0; i < 10_000; i++) {
                Chan<Integer> c1 = Chan.make(1);
                Chan<Integer> c2 = Chan.make();
                Chan<Boolean> done = Chan.make(1);
                c1.send(1);
                Go.go(() -> done.send(Select.of().recv(c1, SelectTest::ignore).recv(c2, SelectTest::ignore)
                        .orElse(NOTHING).run() >= 0));
                c2.close();
                int unused = Select.of().recv(c1, SelectTest::ignore).orElse(NOTHING).run();
                assertTrue(done.recv(), "no channel was ready");
            }
        });
    }

    // ---- Go's test/chan

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
                    int unused = s.run();
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
            List<Select> waiting = List.of(Select.of().recv(empty, SelectTest::ignore),
                    Select.of().recv(none, SelectTest::fail).recv(empty, SelectTest::ignore),
                    Select.of().send(none, 1, SelectTest::fail).send(full, 1, SelectTest::fail)
                            .recv(empty, SelectTest::ignore),
                    Select.of().recv(empty, SelectTest::ignore).recv(empty, SelectTest::ignore));
            AtomicInteger went = new AtomicInteger();
            WaitGroup wg = new WaitGroup();
            for (Select s : waiting) {
                wg.go(() -> {
                    int unused = s.run();
                    went.incrementAndGet();
                });
            }
            TestGmp.awaitOthers();
            assertEquals(0, went.get());
            empty.close();
            wg.await();
            // Ready: does not.
            assertEquals(0, Select.of().recv(filled, SelectTest::ignore).run());
            assertEquals(0, Select.of().send(room, 1, NOTHING).run());
            assertEquals(1, Select.of().recv(none, SelectTest::fail).send(room, 1, NOTHING).run());
            assertEquals(0, Select.of().recv(closed, SelectTest::ignore).run());
            assertEquals(1, Select.of().send(none, 1, SelectTest::fail).recv(closed, SelectTest::ignore).run());
            assertEquals(-1, Select.of().orElse(NOTHING).run());
            assertEquals(-1, Select.of().recv(none, SelectTest::fail).orElse(NOTHING).run());
            assertEquals(-1, Select.of().recv(none, SelectTest::fail).send(none, 1, SelectTest::fail).orElse(NOTHING).run());
            assertEquals(-1, Select.of().send(full, 1, SelectTest::fail).orElse(NOTHING).run());
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
                            case 0 -> s.recv(null, SelectTest::fail);
                            case 1 -> s.send(full, i, SelectTest::fail);
                            case 2 -> s.recv(Chan.make(), SelectTest::fail);
                            default -> s.sendLong(LongChan.make(), i, SelectTest::fail);
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
                assertEquals(1, Select.of().recv(c1, SelectTest::fail).recv(c2, SelectTest::ignore).run());
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
            assertTrue(nobodyWaits(c1));
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
                            default -> assertEquals(1, Select.of().recv(never, SelectTest::fail)
                                    .recv(c, v -> assertEquals(1, v)).run());
                        }
                    };
                    Runnable send = () -> {
                        switch (sender) {
                            case 0 -> c.send(1);
                            case 1 -> assertEquals(0, Select.of().send(c, 1, NOTHING).run());
                            case 2 -> assertEquals(1, Select.of().recv(never, SelectTest::fail).send(c, 1, NOTHING).run());
                            default -> {
                                Select try1 = Select.of().send(c, 1, NOTHING).orElse(NOTHING);
                                while (try1.run() < 0) {
                                    Go.gosched();
                                }
                            }
                        }
                    };
                    for (int turn = 0; turn < 2; turn++) {
                        if (turn == 0 || sender == 3) { // Who only tries needs somebody who waits.
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
            int unused = Select.of().recv(ask, SelectTest::ignore).recv(end, v -> ended = true).run();
            return !ended;
        }

        boolean put(long v) {
            if (!asked()) {
                return false;
            }
            int unused = Select.of().sendLong(answer, v, NOTHING).recv(end, e -> ended = true).run();
            return !ended;
        }

        long get() {
            long[] v = new long[1];
            if (Select.of().send(ask, true, NOTHING).recv(end, SelectTest::ignore).run() == 0) {
                int unused = Select.of().recvLong(answer, x -> v[0] = x).recv(end, SelectTest::ignore).run();
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
                    int unused = Select.of().send(f.ask, true, NOTHING).recv(f.end, SelectTest::ignore).run();
                    unused = Select.of().send(g.ask, true, NOTHING).recv(f.end, SelectTest::ignore).run();
                    for (int i = 0; i < 2; i++) {
                        LongChan fa = fs.size() == gs.size() || fs.size() < gs.size() ? f.answer : null;
                        LongChan ga = fs.size() == gs.size() || gs.size() < fs.size() ? g.answer : null;
                        unused = Select.of().recvLong(fa, fs::add).recvLong(ga, gs::add)
                                .recv(f.end, SelectTest::ignore).run();
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
                Select s = Select.of().recv(common, SelectTest::fail).recv(mine, SelectTest::ignore);
                wg.go(() -> assertEquals(1, s.run()));
            }
            for (int i = n - 1; i >= 0; i--) {
                own.get(i).send(1);
            }
            wg.await();
            assertTrue(nobodyWaits(common));
        });
    }
}
