// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.gmp4j.Chan;
import org.gmp4j.ChanClosedException;
import org.gmp4j.LongChan;
import org.gmp4j.Select;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.context.Context;

/** Programs of channels and selects, with threads that are no goroutines: they wait on notes. Each element is received once. */
final class Chans {
    private static final String GROUP = "chan";
    private static final Runnable NOTHING = () -> { };

    private Chans() {
    }

    private static Program of(String name, String what, Consumer<Plain> body) {
        return Program.of(name, GROUP, what, () -> new Plain(body));
    }

    static List<Program> all() {
        return List.of(
                of("chan", "two senders and two receivers without a buffer", t -> channel(t, 0)),
                of("chan-1", "two senders and two receivers with a buffer of one", t -> channel(t, 1)),
                of("long-chan", "two senders and a receiver of longs", Chans::longs),
                of("select-fair", "a select takes each of two channels that are always ready", Chans::selectsFairly),
                Program.ofLoop("select-large", "two large selects name the same channels in two orders, and some twice",
                        () -> new Plain(Chans::selectsLarge)).in(GROUP),
                of("close", "a close beside a sender and a receiver", Chans::close),
                of("close-two", "two receivers of a channel that is closed wait again", Chans::closeTwo),
                of("sent-before-close", "what was sent before the close is received", Chans::sentBeforeClose),
                of("limited", "a receive with a limit of time beside a try to send", Chans::limited).waking(2, 0),
                of("selects", "two selects and two senders", Chans::selects),
                of("select-twice", "one select, run twice, and two senders", Chans::selectTwice),
                Program.of("selects-leave", GROUP, "two selects and a receiver leave a queue in any order", SelectsLeave::new),
                of("selects-meet", "a select that sends and one that receives", Chans::selectsMeet),
                of("selects-cross", "two selects that each send and receive on both channels", Chans::selectsCross),
                of("select-again", "a select beside senders that gives its cases up, and waits again", Chans::selectAgain),
                of("select-default", "a default sees all channels at one moment", Chans::selectDefault),
                of("cancel-select", "a context ends a select and a send", Chans::cancelSelect));
    }

    private static void channel(Plain t, int size) {
        Chan<Integer> c = Chan.make(size);
        List<Integer> got = new ArrayList<>();
        t.lanes(2, "send", i -> {
            c.send(2 * i);
            c.send(2 * i + 1);
        });
        t.lanes(2, "recv", i -> {
            got.add(c.recv());
            got.add(c.recv());
        });
        t.end(() -> check(got.size() == 4 && got.stream().distinct().count() == 4 && got.containsAll(List.of(0, 1, 2, 3)),
                "received: " + got));
    }

    private static void selectsFairly(Plain t) {
        int n = 8;
        Chan<Integer> c = Chan.make(n);
        Chan<Integer> d = Chan.make(n);
        int[] taken = new int[2];
        t.lane("sends", () -> {
            for (int i = 0; i < n; i++) {
                c.send(0);
                d.send(1);
            }
            t.done();
        });
        t.lane("selects", () -> {
            t.until(1);
            for (int i = 0; i < n; i++) {
                int _ = Select.of().recv(c, k -> taken[k]++).recv(d, k -> taken[k]++).run();
            }
        });
        t.end(() -> check(taken[0] > 0 && taken[1] > 0, "a select has taken one of two ready channels each time"));
    }

    /** Each channel gets an element, which one of the two receives. */
    private static void selectsLarge(Plain t) {
        int n = 40;
        List<Chan<Integer>> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            all.add(Chan.make(0));
        }
        t.lanes(2, "select", i -> {
            Select s = Select.of();
            for (int k = 0; k < n; k++) {
                s = s.recv(all.get(i == 0 ? k : n - 1 - k), v -> t.done());
            }
            int _ = s.recv(all.get(3), v -> t.done()).recv(all.get(30), v -> t.done()).run();
        });
        t.lane("sends", () -> {
            all.get(9).send(1);
            all.get(30).send(1);
        });
        t.end(() -> check(t.doneCount() == 2, "of 2 elements " + t.doneCount() + " were received"));
    }

    private static void longs(Plain t) {
        LongChan c = LongChan.make(1);
        long[] sum = {0};
        t.lanes(2, "send", i -> c.send(1L << i));
        t.lane("recv", () -> {
            sum[0] += c.recv();
            sum[0] += c.recv();
        });
        t.end(() -> check(sum[0] == 3, "the sum of what was received is " + sum[0]));
    }

    private static void close(Plain t) {
        Chan<Integer> c = Chan.make(1);
        Cell got = new Cell();
        boolean[] refused = {false};
        t.lane("send", () -> {
            try {
                c.send(1);
                c.send(2);
            } catch (ChanClosedException e) {
                refused[0] = true;
            }
        });
        t.lane("recv", () -> {
            for (Integer v = c.recv(); v != null; v = c.recv()) {
                got.add(1);
            }
        });
        t.lane("close", c::close);
        t.end(() -> check(refused[0] ? got.get() <= 1 : got.get() == 2, "received " + got.get() + ", refused " + refused[0]));
    }

    private static void closeTwo(Plain t) {
        Chan<Integer> c = Chan.make(0);
        Chan<Integer> d = Chan.make(0);
        AtomicInteger got = new AtomicInteger();
        t.lanes(2, "recv", i -> {
            check(c.recv() == null, "an element came from a channel to which none was sent");
            got.addAndGet(d.recv());
        });
        t.lane("close", c::close);
        t.lane("send", () -> {
            d.send(1);
            d.send(10);
        });
        t.end(() -> check(got.get() == 11, "received " + got.get()));
    }

    private static void sentBeforeClose(Plain t) {
        Chan<Integer> c = Chan.make(1);
        Cell got = new Cell();
        t.lane("send", () -> {
            c.send(1);
            c.close();
        });
        t.lane("recv", () -> {
            for (Chan.Recv<Integer> r = c.tryRecvOk(); r == null || r.ok(); r = c.tryRecvOk()) {
                if (r == null) {
                    Thread.onSpinWait();
                } else {
                    got.add(1);
                }
            }
        });
        t.end(() -> check(got.get() == 1, "what was sent before the close is missed"));
    }

    /** What was sent is received, or stays. */
    private static void limited(Plain t) {
        Chan<Integer> c = Chan.make(0);
        Cell sent = new Cell();
        Cell got = new Cell();
        t.lane("recv", () -> got.add(c.recvOkWithin(Duration.ofNanos(1)) != null ? 1 : 0));
        t.lane("send", () -> sent.add(c.trySend(1) ? 1 : 0));
        t.end(() -> check(sent.get() == got.get(), "sent " + sent.get() + ", received " + got.get()));
    }

    private static void selects(Plain t) {
        Chan<Integer> c = Chan.make(0);
        Chan<Integer> d = Chan.make(0);
        AtomicInteger got = new AtomicInteger();
        t.lane("select0", () -> {
            int _ = Select.of().recv(c, got::addAndGet).recv(d, got::addAndGet).run();
        });
        t.lane("select1", () -> {
            int _ = Select.of().recv(d, got::addAndGet).recv(c, got::addAndGet).run();
        });
        t.lane("sendC", () -> c.send(1));
        t.lane("sendD", () -> d.send(10));
        t.end(() -> check(got.get() == 11, "the selects received " + got.get()));
    }

    private static void selectTwice(Plain t) {
        Chan<Integer> c = Chan.make(0);
        Chan<Integer> d = Chan.make(0);
        Cell got = new Cell();
        t.lane("select", () -> {
            Select s = Select.of().recv(c, got::add).recv(d, got::add);
            int _ = s.run();
            int _ = s.run();
        });
        t.lane("sendC", () -> c.send(1));
        t.lane("sendD", () -> d.send(10));
        t.end(() -> check(got.get() == 11, "the selects received " + got.get()));
    }

    /** If the selects have taken from c, no lane receives from d, and each lane may be left waiting. */
    private static final class SelectsLeave extends Case {
        private final Chan<Integer> c = Chan.make(0);
        private final Chan<Integer> d = Chan.make(0);
        private final AtomicInteger got = new AtomicInteger();

        @Override
        protected void begin() {
            for (int i = 0; i < 2; i++) {
                lane("select" + i, () -> {
                    int _ = Select.of().recv(c, got::addAndGet).recv(d, got::addAndGet).recv(c, got::addAndGet).run();
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
            return true;
        }

        @Override
        protected void end() {
            check(List.of(111, 101, 1).contains(got.get()), "received " + got.get() + ": a receiver sleeps beside a sender");
        }
    }

    private static void selectsMeet(Plain t) {
        Chan<Integer> c = Chan.make(0);
        Chan<Integer> d = Chan.make(0);
        Cell got = new Cell();
        t.lane("sends", () -> {
            int _ = Select.of().send(c, 1, NOTHING).send(d, 2, NOTHING).run();
        });
        t.lane("receives", () -> {
            int _ = Select.of().recv(d, got::add).recv(c, got::add).run();
        });
        t.end(() -> check(got.get() == 1 || got.get() == 2, "received " + got.get()));
    }

    /** Each sends on one channel and receives from the other, and has added the channels in another order: one of two ways is taken. */
    private static void selectsCross(Plain t) {
        Chan<Integer> c = Chan.make(0);
        Chan<Integer> d = Chan.make(0);
        AtomicInteger got = new AtomicInteger();
        t.lane("one", () -> {
            int _ = Select.of().send(c, 1, NOTHING).recv(d, got::addAndGet).run();
        });
        t.lane("two", () -> {
            int _ = Select.of().send(d, 2, NOTHING).recv(c, got::addAndGet).run();
        });
        t.end(() -> check(got.get() == 1 || got.get() == 2, "received " + got.get()));
    }

    /** A select leaves a sudog behind in no queue, and a lost race leaves no element behind: each later wait is another one. */
    private static void selectAgain(Plain t) {
        Chan<Integer> c = Chan.make(0);
        Chan<Integer> d = Chan.make(0);
        Cell got = new Cell();
        t.lane("selects", () -> {
            for (int i = 0; i < 3; i++) {
                int _ = Select.of().recv(c, got::add).recv(d, got::add).run();
            }
            got.add(c.recv());
        });
        t.lane("sendC", () -> c.send(1));
        t.lane("sendD", () -> {
            d.send(10);
            d.send(100);
        });
        t.lane("last", () -> {
            while (got.get() != 111) {
                Thread.onSpinWait();
            }
            c.send(1000);
        });
        t.end(() -> check(got.get() == 1111, "received " + got.get()));
    }

    /** One of two channels always has the element. */
    private static void selectDefault(Plain t) {
        Chan<Integer> c = Chan.make(1);
        Chan<Integer> d = Chan.make(1);
        boolean[] none = {false};
        c.send(1);
        t.lane("moves", () -> {
            d.send(2);
            Integer _ = c.recv();
        });
        t.lane("select", () -> {
            int _ = Select.of().recv(c, v -> { }).recv(d, v -> { }).orElse(() -> none[0] = true).run();
        });
        t.rests("moves"); // The select may have taken what it receives.
        t.end(() -> check(!none[0], "a default was taken though a channel was ready at each moment"));
    }

    /** The element is received, or stays with its sender. */
    private static void cancelSelect(Plain t) {
        Chan<Integer> c = Chan.make(0);
        Chan<Integer> d = Chan.make(0);
        Cell got = new Cell();
        Cell sent = new Cell();
        Context ctx = t.cancelled();
        t.lane("select", () -> {
            boolean _ = t.unlessCancelled(() -> {
                int _ = Select.of().recv(c, got::add).recv(d, got::add).runUnless(ctx);
            });
        });
        t.lane("send", () -> {
            if (t.unlessCancelled(() -> c.sendUnless(ctx, 1))) {
                sent.add(1);
            }
        });
        t.end(() -> check(got.get() == sent.get(), "sent " + sent.get() + ", received " + got.get()));
    }
}
