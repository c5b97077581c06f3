// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;

/**
 * Random operations on random channels and selects, from goroutines, plain threads and the JDK's virtual threads at once,
 * against the model of {@link MixChans}. No goroutine hangs. With locks and timers too: {@link WholeMixTest}.
 */
@Tag("ring")
class ChanMixTest {
    private static final int EACH = 1_500;
    private static final int GOROUTINES = 6;
    private static final int OTHERS = 2;
    private static final int SENDERS = GOROUTINES + 2 * OTHERS;

    private final MixChans chans = new MixChans(SENDERS, EACH);
    private final AtomicReference<Throwable> failed = new AtomicReference<>();
    private final CountDownLatch sent = new CountDownLatch(SENDERS);

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

    private void mix(int procs) throws Exception {
        AtomicInteger ids = new AtomicInteger();
        Threads threads = new Threads().add(OTHERS, "sends", () -> send(ids.getAndIncrement()))
                .add("receives", this::receive).start();
        List<Thread> virtual = new ArrayList<>();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(procs).quantum(Duration.ofMillis(1)))) {
            for (int i = 0; i < OTHERS; i++) {
                virtual.add(Thread.ofVirtual().start(told(() -> send(ids.getAndIncrement()))));
            }
            virtual.add(Thread.ofVirtual().start(told(this::receive)));
            for (int i = 0; i < GOROUTINES; i++) {
                gmp.go(told(() -> send(ids.getAndIncrement())));
            }
            gmp.go(told(this::receive));
            gmp.go(told(this::receive));
            sent.await();
            chans.close();
            threads.join();
            for (Thread t : virtual) {
                t.join();
            }
        }
        if (failed.get() != null) {
            throw new AssertionError(failed.get());
        }
        chans.check();
    }

    private Runnable told(Runnable body) {
        return () -> {
            try {
                body.run();
            } catch (Throwable t) {
                failed.compareAndSet(null, t);
            }
        };
    }

    private MixChans.User user(int id) {
        return chans.new User(id, new SplittableRandom(ThreadLocalRandom.current().nextLong()), select -> { },
                Thread::startVirtualThread);
    }

    /** Sends, and receives on the side. */
    private void send(int id) {
        try {
            MixChans.User user = user(id);
            while (!user.done()) {
                user.sendStep();
            }
        } finally {
            sent.countDown();
        }
    }

    private void receive() {
        MixChans.User user = user(-1);
        while (user.open()) {
            user.receiveStep();
        }
    }
}
