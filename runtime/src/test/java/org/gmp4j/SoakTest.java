package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.ffi.OsThread;
import org.gmp4j.sync.WaitGroup;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Everything at once: preemption every 200 µs, random setProcs, collections, system calls, goroutines locked to threads,
 * JDK locks, channels and sleeps. {@code -Dgmp.soak.seconds} sets how long.
 */
@Tag("stress")
class SoakTest {
    private static final int SECONDS = Integer.getInteger("gmp.soak.seconds", 10);
    private static final int WORKERS = 24;

    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong received = new AtomicLong();
    private final AtomicLong wrong = new AtomicLong();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final ReentrantLock lock = new ReentrantLock();
    private long locked;
    private final AtomicLong lockings = new AtomicLong();

    @Test
    @Timeout(600)
    void soak() throws Exception {
        try (Gmp gmp = Gmp.builder().procs(4).quantum(Duration.ofNanos(200_000)).build()) {
            Chan<Long> c = Chan.make(16);
            Thread driver = Thread.ofPlatform().start(() -> drive(gmp));
            gmp.run(() -> {
                WaitGroup senders = new WaitGroup();
                WaitGroup receivers = new WaitGroup();
                for (int i = 0; i < WORKERS; i++) {
                    int kind = i;
                    senders.go(() -> send(c, kind));
                    receivers.go(() -> {
                        for (long v : c) {
                            received.addAndGet(v);
                        }
                    });
                }
                senders.await();
                c.close();
                receivers.await();
            });
            driver.join();
        }
        assertEquals(sent.get(), received.get(), "lost or doubled");
        assertEquals(lockings.get(), locked, "the lock let two in");
        assertEquals(0, wrong.get(), "a locked goroutine changed its thread");
    }

    private void drive(Gmp gmp) {
        long end = System.nanoTime() + SECONDS * 1_000_000_000L;
        List<byte[]> garbage = new ArrayList<>();
        while (System.nanoTime() < end) {
            int unused = gmp.setProcs(1 + ThreadLocalRandom.current().nextInt(8));
            garbage.add(new byte[1 << 20]);
            if (garbage.size() == 50) {
                garbage.clear();
                System.gc();
                gmp.dump();
            }
            try {
                Thread.sleep(ThreadLocalRandom.current().nextInt(4));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        stop.set(true);
    }

    private void send(Chan<Long> c, int kind) {
        if (kind % 6 == 0) {
            Go.lockOSThread(); // Ends locked: the thread ends too.
        }
        int tid = OsThread.gettid();
        long x = kind + 1;
        while (!stop.get()) {
            for (int i = 0; i < 50_000; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L; // Longer than a quantum now and then.
            }
            long v = x >>> 40;
            sent.addAndGet(v);
            c.send(v);
            act(kind);
            if (kind % 6 == 0 && OsThread.gettid() != tid) {
                wrong.incrementAndGet();
            }
        }
    }

    private void act(int kind) {
        try {
            switch (kind % 6) {
                case 0 -> Go.gosched();
                case 1 -> Go.sleep(Duration.ofNanos(50_000));
                case 2 -> {
                    int unused = Go.blocking(() -> {
                        Thread.onSpinWait();
                        return 1;
                    });
                }
                case 3 -> Thread.sleep(0, 50_000);
                case 4 -> {
                    synchronized (lock) {
                        Thread.yield();
                    }
                }
                default -> {
                    lock.lock();
                    try {
                        locked++;
                        lockings.incrementAndGet();
                        Thread.yield();
                    } finally {
                        lock.unlock();
                    }
                }
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
