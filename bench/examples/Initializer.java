// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads that need a class whose initialiser waits for a lock, as that of a pool of connections may for a logger's. The lock's
 * owner, a virtual thread too, waits until as many of them as there are CPUs have come to the class. On JDK 25 each of these keeps its
 * carrier, so on the JDK's scheduler no carrier is left for the owner, which would end the wait of all. By the flag, or as goroutines, they
 * go on. Exit code 1 when they have not ended after some seconds: the argument, or 10.
 */
final class Initializer {
    private static final int CPUS = Runtime.getRuntime().availableProcessors();
    private static final int THREADS = 4 * CPUS;
    private static final ReentrantLock LOCK = new ReentrantLock();

    /** What all of them need. */
    private static final class Settings {
        static final int SIZE = read();

        private static int read() {
            LOCK.lock();
            try {
                return 7;
            } finally {
                LOCK.unlock();
            }
        }
    }

    private Initializer() {
    }

    private static void own(CountDownLatch locked, CountDownLatch come) {
        LOCK.lock();
        try {
            locked.countDown();
            come.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            LOCK.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long seconds = args.length > 0 ? Long.parseLong(args[0]) : 10;
        long start = System.nanoTime();
        CountDownLatch locked = new CountDownLatch(1);
        CountDownLatch come = new CountDownLatch(CPUS);
        CountDownLatch left = new CountDownLatch(THREADS);
        Thread _ = Thread.ofVirtual().start(() -> own(locked, come));
        locked.await();
        for (int i = 0; i < THREADS; i++) {
            Thread _ = Thread.ofVirtual().start(() -> {
                come.countDown();
                if (Settings.SIZE == 7) {
                    left.countDown();
                }
            });
        }
        boolean done = left.await(seconds, TimeUnit.SECONDS);
        double took = (System.nanoTime() - start) / 1e9;
        System.out.printf(done ? "done after %.1f s%n" : "after %.0f s still %d of %d threads hang%n", took, left.getCount(), THREADS);
        System.exit(done ? 0 : 1);
    }
}
