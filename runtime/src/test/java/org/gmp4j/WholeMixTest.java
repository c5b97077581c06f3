// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/**
 * Random operations on channels, selects, locks, groups, timers, tickers and contexts, from goroutines, plain threads and
 * the JDK's virtual threads at once, against the models of {@link MixChans}, {@link MixLocks} and {@link MixTimers}: nothing
 * is lost, nothing comes twice, no goroutine hangs. One round after the other, for {@code -Dgmp.mix.seconds}, a third of them on
 * each number of Ps.
 */
@Tag("ring")
@Timeout(value = 1, unit = TimeUnit.DAYS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // A round has its own limit.
class WholeMixTest {
    private static final int SECONDS = Integer.getInteger("gmp.mix.seconds", 3);
    private static final long PATIENCE_SECONDS = 90;
    private static final int EACH = 150;
    private static final int GOROUTINES = 6;
    private static final int OTHERS = 2;
    private static final int SENDERS = GOROUTINES + 2 * OTHERS;

    @Stress
    void onOneP() throws Exception {
        mix(1);
    }

    @Stress
    void onTwoPs() throws Exception {
        mix(2);
    }

    @Stress
    void onEightPs() throws Exception {
        mix(8);
    }

    private static void mix(int procs) throws Exception {
        long start = System.nanoTime();
        Round last = null;
        do {
            Round round = new Round(procs);
            round.run();
            if (last != null) {
                last.timers.check(); // Nothing came late.
            }
            last = round;
        } while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(SECONDS) / 3);
    }

    private static final class Round {
        private final MixChans chans = new MixChans(SENDERS, EACH);
        private final MixLocks locks = new MixLocks();
        private final MixTimers timers = new MixTimers();
        private final AtomicReference<Throwable> failed = new AtomicReference<>();
        private final AtomicInteger ids = new AtomicInteger();
        private final TestGmp gmp;

        Round(int procs) {
            SpinPolicy spin = ThreadLocalRandom.current().nextBoolean() ? SpinPolicy.go()
                    : SpinPolicy.latency(Duration.ofNanos(50_000));
            gmp = TestGmp.with(b -> b.procs(procs).quantum(Duration.ofMillis(1)).spin(spin));
        }

        void run() throws InterruptedException {
            timers.share();
            try (gmp) {
                gmp.run(timers::share);
                CountDownLatch takers = start(1, 1, User::take);
                CountDownLatch receivers = start(2, 1, User::receive);
                await(start(GOROUTINES, OTHERS, User::send));
                chans.close();
                await(receivers);
                locks.close();
                await(takers);
                timers.close();
            } // The functions still to come are left to the thread that serves a closed scheduler's timers.
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (!timers.quiet() && System.nanoTime() < end) {
                Thread.sleep(1);
            }
            timers.check();
            chans.check();
            await(start(0, 1, u -> locks.check()));
            if (failed.get() != null) {
                throw new AssertionError(failed.get());
            }
        }

        /** Starts so many goroutines, plain threads, and virtual threads; the latch opens when all have ended. */
        private CountDownLatch start(int goroutines, int others, Consumer<User> body) {
            CountDownLatch ended = new CountDownLatch(goroutines + 2 * others);
            Runnable user = () -> {
                try {
                    body.accept(new User());
                } catch (Throwable t) {
                    failed.compareAndSet(null, t);
                } finally {
                    ended.countDown();
                }
            };
            for (int i = 0; i < others; i++) {
                Thread _ = Thread.ofPlatform().daemon().name("user").start(user);
                var _ = Thread.startVirtualThread(user);
            }
            for (int i = 0; i < goroutines; i++) {
                gmp.go(user);
            }
            return ended;
        }

        private void await(CountDownLatch ended) throws InterruptedException {
            if (!ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                StringBuilder text = new StringBuilder("users hang:\n").append(gmp.gmp.dump());
                Thread.getAllStackTraces().forEach((t, frames) -> {
                    text.append(t).append('\n');
                    for (StackTraceElement f : frames) {
                        text.append("    ").append(f).append('\n');
                    }
                });
                throw new AssertionError(text.toString(), failed.get());
            }
        }

        /** A goroutine or thread that uses all of it. */
        private final class User {
            private final SplittableRandom random = new SplittableRandom(ThreadLocalRandom.current().nextLong());
            private final MixTimers.User time = timers.new User(random);
            private final MixLocks.User lock = locks.new User(random, gmp::go, MixTimers::later);

            /** Sends, and does all else on the side. */
            void send() {
                MixChans.User chan = chans.new User(ids.getAndIncrement(), random, time, gmp::go);
                while (!chan.done()) {
                    step(chan::sendStep);
                }
            }

            void receive() {
                MixChans.User chan = chans.new User(-1, random, time, gmp::go);
                while (chan.open()) {
                    step(chan::receiveStep);
                }
            }

            void take() {
                lock.takeAll();
            }

            private void step(Runnable chanStep) {
                switch (random.nextInt(4)) {
                    case 0 -> lock.step();
                    case 1 -> time.step();
                    default -> chanStep.run();
                }
            }
        }
    }
}
