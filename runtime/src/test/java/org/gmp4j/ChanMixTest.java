package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;

/**
 * Random operations on random channels and selects, from goroutines, plain threads and the JDK's virtual threads at once,
 * against a model: each element that a sender counts as sent arrives once, and each receiver sees the elements of one
 * sender on one channel in the order in which they were sent. Nobody hangs. At the end no queue holds anybody.
 */
@Tag("ring")
class ChanMixTest {
    private static final int CHANNELS = 6;
    private static final int OBJECTS = 4;
    private static final int EACH = 1_500;
    private static final int GOROUTINES = 6;
    private static final int OTHERS = 2;
    private static final int WORKERS = GOROUTINES + 2 * OTHERS;
    private static final int SENDER_SHIFT = 32;

    private final List<Chan<Long>> objects = new ArrayList<>();
    private final List<LongChan> longs = new ArrayList<>();
    private final AtomicIntegerArray arrived = new AtomicIntegerArray(WORKERS * EACH);
    private final AtomicReference<Throwable> failed = new AtomicReference<>();
    private final CountDownLatch senders = new CountDownLatch(WORKERS);

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
        for (int i = 0; i < OBJECTS; i++) {
            objects.add(Chan.make(i % 3));
        }
        for (int i = OBJECTS; i < CHANNELS; i++) {
            longs.add(LongChan.make(2 * (i % 2)));
        }
        AtomicInteger ids = new AtomicInteger();
        Threads threads = new Threads().add(OTHERS, "sends", () -> new Worker(ids.getAndIncrement()).send())
                .add("receives", () -> new Worker(-1).receive()).start();
        List<Thread> virtual = new ArrayList<>();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(procs).quantum(Duration.ofMillis(1)))) {
            for (int i = 0; i < OTHERS; i++) {
                virtual.add(Thread.ofVirtual().start(told(() -> new Worker(ids.getAndIncrement()).send())));
            }
            virtual.add(Thread.ofVirtual().start(told(() -> new Worker(-1).receive())));
            for (int i = 0; i < GOROUTINES; i++) {
                gmp.go(told(() -> new Worker(ids.getAndIncrement()).send()));
            }
            gmp.go(told(() -> new Worker(-1).receive()));
            gmp.go(told(() -> new Worker(-1).receive()));
            senders.await();
            objects.forEach(Chan::close);
            longs.forEach(LongChan::close);
            threads.join();
            for (Thread t : virtual) {
                t.join();
            }
        }
        if (failed.get() != null) {
            throw new AssertionError(failed.get());
        }
        for (int i = 0; i < arrived.length(); i++) {
            assertEquals(1, arrived.get(i), "how often element " + i % EACH + " of sender " + i / EACH + " arrived");
        }
        List<Hchan> all = new ArrayList<>(objects);
        all.addAll(longs);
        for (Hchan c : all) {
            assertTrue(c.recvq.isEmpty() && c.sendq.isEmpty());
            assertEquals(0, c.len());
        }
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

    /** Sends, and receives on the side; or receives until all channels are closed. */
    private final class Worker {
        private final SplittableRandom random = new SplittableRandom(ThreadLocalRandom.current().nextLong());
        private final int id;
        private final Select select = Select.of();
        private final long[][] last = new long[CHANNELS][WORKERS];
        private final boolean[] closed = new boolean[CHANNELS];
        private int next;
        private int open = CHANNELS;

        Worker(int id) {
            this.id = id;
        }

        private long element() {
            return (long) id << SENDER_SHIFT | next + 1;
        }

        private void arrived(int channel, long v) {
            int sender = (int) (v >>> SENDER_SHIFT);
            int n = (int) v;
            assertTrue(n > last[channel][sender], "out of order");
            last[channel][sender] = n;
            int unused = arrived.incrementAndGet(sender * EACH + n - 1);
        }

        private void got(int channel, Long v) {
            if (v != null) {
                arrived(channel, v);
            } else {
                closed(channel);
            }
        }

        private void got(int channel, long v, boolean ok) {
            if (ok) {
                arrived(channel, v);
            } else {
                closed(channel);
            }
        }

        private void closed(int channel) {
            if (!closed[channel]) {
                closed[channel] = true;
                open--;
            }
        }

        private void sent() {
            next++;
        }

        private void addSend(int channel) {
            if (channel < OBJECTS) {
                select.send(objects.get(channel), element(), this::sent);
            } else {
                select.sendLong(longs.get(channel - OBJECTS), element(), this::sent);
            }
        }

        private void addRecv(int channel) {
            if (closed[channel]) {
                select.recv(null, v -> got(channel, null));
            } else if (channel < OBJECTS) {
                select.recv(objects.get(channel), v -> got(channel, v));
            } else {
                select.recvLongOk(longs.get(channel - OBJECTS), (v, ok) -> got(channel, v, ok));
            }
        }

        private void runSelect() {
            if (random.nextInt(4) == 0) {
                select.orElse(() -> pause());
            }
            int unused = select.run();
        }

        private void pause() {
            if (Go.inGoroutine()) {
                Go.gosched();
            } else {
                Thread.yield();
            }
        }

        void send() {
            try {
                while (next < EACH) {
                    sendStep(random.nextInt(CHANNELS));
                }
            } finally {
                senders.countDown();
            }
        }

        private void sendStep(int channel) {
            switch (random.nextInt(6)) {
                case 0 -> {
                    if (channel < OBJECTS) {
                        objects.get(channel).send(element());
                    } else {
                        longs.get(channel - OBJECTS).send(element());
                    }
                    sent();
                }
                case 1 -> {
                    if (channel < OBJECTS ? objects.get(channel).trySend(element())
                            : longs.get(channel - OBJECTS).trySend(element())) {
                        sent();
                    } else {
                        pause();
                    }
                }
                case 2 -> tryRecv(channel);
                default -> {
                    select.clear();
                    addSend(channel); // The same channel again, and to receive from, is all right.
                    for (int i = random.nextInt(6); i > 0; i--) {
                        if (random.nextBoolean()) {
                            addSend(random.nextInt(CHANNELS));
                        } else {
                            addRecv(random.nextInt(CHANNELS));
                        }
                    }
                    runSelect();
                }
            }
        }

        private void tryRecv(int channel) {
            if (channel < OBJECTS) {
                Chan.Recv<Long> r = objects.get(channel).tryRecvOk();
                if (r != null) {
                    got(channel, r.value());
                }
            } else {
                LongChan.Recv r = longs.get(channel - OBJECTS).tryRecvOk();
                if (r != null) {
                    got(channel, r.value(), r.ok());
                }
            }
        }

        /** Mostly from all channels, or senders could wait on one while all receivers wait on the others. */
        void receive() {
            while (open > 0) {
                if (random.nextInt(4) == 0) {
                    tryRecv(random.nextInt(CHANNELS));
                } else {
                    select.clear();
                    for (int c = 0; c < CHANNELS; c++) {
                        addRecv(c);
                    }
                    runSelect();
                }
            }
        }
    }
}
