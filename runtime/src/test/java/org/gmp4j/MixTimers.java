// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import org.gmp4j.context.Context;
import org.gmp4j.time.Ticker;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;

/**
 * Random operations on timers, tickers and contexts, and their model: a timer fires as often as it was set and not called
 * off in time, as {@code stop} and {@code reset} tell; nothing comes before its time; nothing comes after a stop; a context
 * ends for the reason that it says.
 */
final class MixTimers {
    private static final int SHARED = 3;
    private static final int LONGEST = 200_000;

    private final Queue<Tally> functions = new ConcurrentLinkedQueue<>();
    private final List<Timer> funcTimers = new ArrayList<>();
    private final List<Tally> funcTallies = new ArrayList<>();
    private final List<Timer> chanTimers = new ArrayList<>();
    private final List<Tally> chanTallies = new ArrayList<>();
    private final List<Ticker> tickers = new ArrayList<>();
    private final Context root = Context.background().withCancel();

    /** How often something was set, called off, and came. */
    private static final class Tally {
        private final LongAdder set = new LongAdder();
        private final LongAdder calledOff = new LongAdder();
        private final LongAdder came = new LongAdder();

        Tally() {
            set.increment();
        }

        void came() {
            came.increment();
        }

        void stopped(boolean pending) {
            if (pending) {
                calledOff.increment();
            }
        }

        void reset(boolean pending) {
            stopped(pending);
            set.increment();
        }

        long due() {
            return set.sum() - calledOff.sum();
        }

        void check() {
            assertEquals(due(), came.sum(), () -> "set " + set + ", called off " + calledOff + ", came " + came);
        }
    }

    /** Makes some of those that all users share: once in a goroutine, once outside of all. */
    void share() {
        for (int i = 0; i < SHARED; i++) {
            Tally f = function();
            funcTallies.add(f);
            funcTimers.add(Time.afterFunc(Duration.ofNanos(LONGEST), f::came));
            chanTallies.add(new Tally());
            chanTimers.add(Time.newTimer(Duration.ofNanos(LONGEST)));
        }
        tickers.add(Time.newTicker(Duration.ofNanos(LONGEST)));
    }

    private Tally function() {
        Tally t = new Tally();
        functions.add(t);
        return t;
    }

    /** When all users have ended: ends what is still to come, but functions. */
    void close() {
        for (int i = 0; i < chanTimers.size(); i++) {
            Timer t = chanTimers.get(i);
            chanTallies.get(i).stopped(t.stop());
            assertNull(t.c().tryRecvOk(), "a time after stop");
        }
        for (Ticker t : tickers) {
            t.stop();
            assertNull(t.c().tryRecvOk(), "a tick after stop");
        }
        root.cancel();
    }

    /** Whether all functions that have to be started were. */
    boolean quiet() {
        return functions.stream().allMatch(t -> t.came.sum() >= t.due());
    }

    /** When {@link #quiet}, and again some time later. */
    void check() {
        functions.forEach(Tally::check);
        chanTallies.forEach(Tally::check);
    }

    private static void notBefore(long start, long nanos, String what) {
        long passed = System.nanoTime() - start;
        assertTrue(passed >= nanos, () -> what + " after " + passed + " ns, due after " + nanos);
    }

    /** Starts {@code body} in a while. */
    static void later(Runnable body) {
        Timer _ = Time.afterFunc(Duration.ofNanos(ThreadLocalRandom.current().nextInt(LONGEST / 2)), body);
    }

    /** A user of them; one thread. */
    final class User implements Consumer<Select> {
        private final SplittableRandom random;
        /** For selects: it ends now and then, and is replaced. */
        private Context limit;

        User(SplittableRandom random) {
            this.random = random;
            limit = root.withTimeout(duration());
        }

        private long nanos() {
            return random.nextInt(20) == 0 ? random.nextInt(10 * LONGEST) : random.nextInt(LONGEST / 2);
        }

        private Duration duration() {
            return Duration.ofNanos(nanos());
        }

        /** Does something; never waits for others. */
        void step() {
            switch (random.nextInt(7)) {
                case 0 -> after();
                case 1 -> timer();
                case 2 -> ticker();
                case 3 -> function();
                case 4 -> context();
                case 5 -> sharedTimer();
                default -> sharedOther();
            }
        }

        /** Adds a case to a select: mostly one that goes on some time. */
        @Override
        public void accept(Select select) {
            switch (random.nextInt(5)) {
                case 0 -> {
                    int i = random.nextInt(chanTimers.size());
                    select.recv(chanTimers.get(i).c(), at -> chanTallies.get(i).came());
                }
                case 1 -> select.recv(tickers.get(random.nextInt(tickers.size())).c(), at -> { });
                case 2 -> {
                    long d = nanos();
                    long start = System.nanoTime();
                    select.recv(Time.after(Duration.ofNanos(d)), at -> notBefore(start, d, "a time"));
                }
                case 3 -> {
                    Context c = limit;
                    select.recv(c.done(), v -> {
                        assertSame(Context.DEADLINE_EXCEEDED, c.err());
                        limit = root.withTimeout(duration());
                    });
                }
                default -> { }
            }
        }

        private void after() {
            long d = nanos();
            long start = System.nanoTime();
            Object _ = Time.after(Duration.ofNanos(d)).recv();
            notBefore(start, d, "a time");
        }

        /** No other user has it, so the results of stop and reset are known. */
        private void timer() {
            long d = nanos();
            long start = System.nanoTime();
            Timer t = Time.newTimer(Duration.ofNanos(d));
            boolean pending = true;
            for (int i = random.nextInt(5); i > 0; i--) {
                switch (random.nextInt(4)) {
                    case 0 -> {
                        assertEquals(pending, t.stop());
                        pending = false;
                    }
                    case 1 -> {
                        d = nanos();
                        start = System.nanoTime();
                        assertEquals(pending, t.reset(Duration.ofNanos(d)));
                        pending = true;
                    }
                    default -> {
                        boolean got = (random.nextBoolean() ? t.c().tryRecv() : t.c().recvWithin(duration())) != null;
                        if (got) {
                            assertTrue(pending, "a time after stop, or twice");
                            notBefore(start, d, "a time");
                            pending = false;
                        }
                    }
                }
            }
            if (pending) {
                Object _ = t.c().recv();
                notBefore(start, d, "a time");
            }
            assertNull(t.c().tryRecvOk(), "a time after stop, or twice");
        }

        private void ticker() {
            long period = 1 + nanos() / 4;
            long start = System.nanoTime();
            Ticker t = Time.newTicker(Duration.ofNanos(period));
            if (random.nextInt(4) == 0) {
                t.stop();
                assertNull(t.c().tryRecvOk(), "a tick after stop");
            } else if (random.nextBoolean()) {
                MixChans.pause();
            }
            if (random.nextBoolean()) {
                period = 1 + nanos() / 4;
                start = System.nanoTime();
                t.reset(Duration.ofNanos(period));
                for (int n = 1; n <= 3; n++) {
                    Object _ = t.c().recv();
                    notBefore(start, n * period, "a tick");
                }
            } else if (t.c().recvWithin(duration()) != null) {
                notBefore(start, period, "a tick");
            }
            t.stop();
            assertNull(t.c().tryRecvOk(), "a tick after stop");
        }

        private void function() {
            Tally tally = MixTimers.this.function();
            Timer t = Time.afterFunc(duration(), tally::came);
            if (random.nextInt(3) == 0) {
                tally.reset(t.reset(duration()));
            }
            if (random.nextInt(3) == 0) {
                tally.stopped(t.stop());
            }
        }

        private void sharedTimer() {
            int i = random.nextInt(chanTimers.size());
            Timer t = chanTimers.get(i);
            Tally tally = chanTallies.get(i);
            switch (random.nextInt(4)) {
                case 0 -> tally.stopped(t.stop());
                case 1 -> tally.reset(t.reset(duration()));
                default -> {
                    if ((random.nextBoolean() ? t.c().tryRecv() : t.c().recvWithin(duration())) != null) {
                        tally.came();
                    }
                }
            }
        }

        private void sharedOther() {
            if (random.nextBoolean()) {
                int i = random.nextInt(funcTimers.size());
                if (random.nextBoolean()) {
                    funcTallies.get(i).stopped(funcTimers.get(i).stop());
                } else {
                    funcTallies.get(i).reset(funcTimers.get(i).reset(duration()));
                }
            } else {
                Ticker t = tickers.get(random.nextInt(tickers.size()));
                switch (random.nextInt(4)) {
                    case 0 -> t.stop();
                    case 1 -> t.reset(Duration.ofNanos(1 + nanos()));
                    default -> {
                        Object _ = t.c().recvWithin(duration());
                    }
                }
            }
        }

        private void context() {
            long d = nanos();
            long start = System.nanoTime();
            Context parent = root.withTimeout(Duration.ofNanos(d));
            long shorter = nanos();
            boolean two = random.nextBoolean();
            Context child = two ? parent.withTimeout(Duration.ofNanos(shorter)) : parent.withCancel();
            Tally tally = MixTimers.this.function();
            BooleanSupplier stop = child.afterFunc(tally::came);
            boolean cancels = random.nextInt(3) == 0;
            if (random.nextInt(4) == 0) {
                tally.stopped(stop.getAsBoolean());
            }
            if (cancels) {
                parent.cancel();
            }
            Object _ = child.done().recv();
            if (child.err() == Context.DEADLINE_EXCEEDED) {
                notBefore(start, two ? Math.min(d, shorter) : d, "a deadline");
            } else {
                assertSame(Context.CANCELED, child.err());
                assertTrue(cancels, "cancelled by nobody");
            }
            tally.stopped(stop.getAsBoolean());
            parent.cancel();
            if (random.nextInt(4) == 0) { // This one is left to the end of all.
                Tally last = MixTimers.this.function();
                BooleanSupplier _ = root.withCancel().afterFunc(last::came);
            }
        }
    }
}
