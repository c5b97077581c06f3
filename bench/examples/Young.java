// SPDX-License-Identifier: Apache-2.0
// What a program costs while it is young. The arguments: rounds, of 22,000 short tasks each, in 11 chains in which each task starts
// the next on the executor, as the dispatcher of a coroutine library does; or sleep, and seconds: how late a sleep of 50 us is in each
// of them. Then jdk for the JDK's scheduler. Then what CPU it took, the compilers' part, and how many threads there are.
//   ./gmp run bench/examples/Young.java 25 [jdk]
//   ./gmp run bench/examples/Young.java sleep 3 [jdk]

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.gmp4j.Gmp;

public class Young {
    private static final int CHAINS = 11;
    private static final int LENGTH = 2000;
    private static final Duration SLEEP = Duration.ofNanos(50_000);
    private static final int MOST = 30_000;

    private static final AtomicInteger RAN = new AtomicInteger();

    public static void main(String[] args) throws Exception {
        long compiled = compilersMillis();
        long cpu = cpuNanos();
        boolean jdk = args[args.length - 1].equals("jdk");
        Executor scheduler = jdk ? Thread::startVirtualThread : Gmp.builder().build();
        String last = args[0].equals("sleep") ? sleeps(scheduler, Integer.parseInt(args[1])) : chains(scheduler, Integer.parseInt(args[0]));
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            System.out.printf("%s; since main began CPU %.2f s, compilers %.2f s; %d threads%n", last, (cpuNanos() - cpu) / 1e9,
                    (compilersMillis() - compiled) / 1e3, threads.count());
        }
        System.exit(0);
    }

    private static String chains(Executor scheduler, int rounds) throws InterruptedException {
        long[] nanos = new long[rounds];
        for (int i = 0; i < rounds; i++) {
            long began = System.nanoTime();
            CountDownLatch all = new CountDownLatch(CHAINS);
            for (int c = 0; c < CHAINS; c++) {
                step(scheduler, LENGTH, all);
            }
            all.await();
            nanos[i] = System.nanoTime() - began;
        }
        long first = nanos[0];
        Arrays.sort(nanos);
        return "%,d tasks %s; a round: the first %.1f ms, median %.1f ms".formatted(RAN.get(),
                RAN.get() == rounds * CHAINS * LENGTH ? "(right)" : "(wrong)", first / 1e6, nanos[rounds / 2] / 1e6);
    }

    private static void step(Executor scheduler, int left, CountDownLatch all) {
        if (left == 0) {
            all.countDown();
            return;
        }
        scheduler.execute(() -> {
            RAN.incrementAndGet();
            step(scheduler, left - 1, all);
        });
    }

    private static String sleeps(Executor scheduler, int seconds) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        String[] of = new String[seconds];
        scheduler.execute(() -> {
            for (int i = 0; i < seconds; i++) {
                of[i] = second(i + 1);
            }
            done.countDown();
        });
        done.await();
        return String.join("\n", of);
    }

    private static String second(int number) {
        long[] late = new long[MOST];
        int n = 0;
        long end = System.nanoTime() + 1_000_000_000L;
        for (long now = System.nanoTime(); now < end && n < MOST; n++) {
            sleep();
            long then = System.nanoTime();
            late[n] = then - now - SLEEP.toNanos();
            now = then;
        }
        Arrays.sort(late, 0, n);
        return "second %d: %d sleeps %s, late by p50 %.1f us, p99 %.1f us".formatted(number, n,
                n > 0 && late[0] >= 0 ? "(right)" : "(wrong)", late[n / 2] / 1e3, late[n * 99 / 100] / 1e3);
    }

    private static void sleep() {
        try {
            Thread.sleep(SLEEP);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static long compilersMillis() {
        return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
    }

    private static long cpuNanos() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos();
    }
}
