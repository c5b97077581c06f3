// SPDX-License-Identifier: Apache-2.0
// How late runs what a plain thread starts, on one P that two goroutines keep busy by readying each other, while three more wake up
// again and again. The arguments: seconds to measure; then jdk for the JDK's scheduler:
//   ./gmp run bench/examples/Outside.java 5
//   ./gmp run -Djdk.virtualThreadScheduler.parallelism=1 bench/examples/Outside.java 5 jdk

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;

public class Outside {
    private static final int SLEEPERS = 3;
    private static final Duration SLEEP = Duration.ofMillis(5);
    private static final long PERIOD_MS = 13;
    private static final long WARM_UP_MS = 3_000;
    private static final long GRACE_MS = 1_000;

    private static final AtomicLong ROUNDS = new AtomicLong();

    public static void main(String[] args) throws InterruptedException {
        int tries = (int) (Integer.parseInt(args[0]) * 1_000L / PERIOD_MS);
        boolean jdk = args.length > 1 && args[1].equals("jdk");
        Executor scheduler = jdk ? Thread::startVirtualThread : Gmp.builder().procs(1).build();
        if (jdk) {
            pairOfTheJdk(scheduler);
        } else {
            pair(scheduler);
        }
        for (int i = 0; i < SLEEPERS; i++) {
            scheduler.execute(Outside::sleeper);
        }
        Thread.sleep(Math.min(tries * PERIOD_MS, WARM_UP_MS)); // It warms up no longer than it measures.
        long rounds = ROUNDS.get();
        long began = System.nanoTime();
        AtomicLong[] late = new AtomicLong[tries];
        for (int i = 0; i < tries; i++) {
            Thread.sleep(PERIOD_MS);
            long now = System.nanoTime();
            AtomicLong of = new AtomicLong(Long.MAX_VALUE);
            late[i] = of;
            scheduler.execute(() -> of.set(System.nanoTime() - now));
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        rounds = ROUNDS.get() - rounds;
        Thread.sleep(GRACE_MS); // Whoever has not run by then counts as never.
        long[] nanos = Arrays.stream(late).mapToLong(AtomicLong::get).sorted().toArray();
        long ran = Arrays.stream(nanos).filter(n -> n != Long.MAX_VALUE).count();
        System.out.printf("%d of %d ran %s, late by p50 %s, p90 %s, p99 %s; %,.0f rounds a second beside them%n", ran, tries,
                ran == tries ? "(right)" : "(wrong)",
                ms(nanos[tries / 2]), ms(nanos[tries * 9 / 10]), ms(nanos[tries * 99 / 100]), rounds / seconds);
        System.exit(0);
    }

    private static String ms(long nanos) {
        return nanos == Long.MAX_VALUE ? "never" : "%.2f ms".formatted(nanos / 1e6);
    }

    private static void pair(Executor scheduler) {
        Chan<Boolean> there = Chan.make();
        Chan<Boolean> back = Chan.make();
        scheduler.execute(() -> {
            for (;;) {
                there.recv();
                back.send(true);
            }
        });
        scheduler.execute(() -> {
            for (;;) {
                there.send(true);
                back.recv();
                ROUNDS.lazySet(ROUNDS.get() + 1);
            }
        });
    }

    private static void pairOfTheJdk(Executor scheduler) {
        SynchronousQueue<Boolean> there = new SynchronousQueue<>();
        SynchronousQueue<Boolean> back = new SynchronousQueue<>();
        scheduler.execute(() -> endlessly(() -> back.put(there.take())));
        scheduler.execute(() -> endlessly(() -> {
            there.put(true);
            back.take();
            ROUNDS.lazySet(ROUNDS.get() + 1);
        }));
    }

    private static void sleeper() {
        endlessly(() -> Thread.sleep(SLEEP));
    }

    /** What waits, and may be interrupted. */
    private interface Step {
        void run() throws InterruptedException;
    }

    private static void endlessly(Step step) {
        try {
            for (;;) {
                step.run();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
