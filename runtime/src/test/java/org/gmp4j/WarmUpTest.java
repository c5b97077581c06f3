// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import org.gmp4j.stack.Headroom;
import org.gmp4j.synctest.Synctest;
import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link WarmUp}: it does what services do, and leaves nothing behind. */
class WarmUpTest {
    private static final Duration SHORT = Duration.ofMillis(50);
    /** Bytes, more than half a region of G1's in a heap of up to 8 GB. */
    private static final long DEEP = 3 << 20;

    /** What the JDK opens with a first socket stays open. */
    @BeforeAll
    static void first() {
        try (Gmp gmp = one()) {
            WarmUp.run(gmp, SHORT);
        }
    }

    private static Gmp one() {
        return Gmp.builder().procs(1).quantum(Duration.ofNanos(200_000)).build();
    }

    private static long read(Gmp gmp, String metric) {
        return (long) gmp.metrics().read(metric);
    }

    private static long pipes() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(p -> {
                try {
                    return Files.readSymbolicLink(p).toString().startsWith("pipe:");
                } catch (IOException e) {
                    return false; // Closed meanwhile.
                }
            }).count();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0.0002S", "PT0.01S"})
    void goroutinesWaitSleepStartOthersAndArePreempted(Duration quantum) throws IOException {
        long before = pipes();
        try (Gmp gmp = Gmp.builder().procs(1).quantum(quantum).build()) {
            for (String metric : new String[] {"/sched/netpoll/ready:goroutines", "/sched/preemptions/points:events"}) {
                while (read(gmp, metric) < 10) {
                    WarmUp.run(gmp, SHORT);
                }
            }
            assertTrue(read(gmp, "/sched/goroutines-created:goroutines") > 4 * 16, gmp::dump);
            while (read(gmp, "/sched/goroutines:goroutines") != 0) {
                Thread.onSpinWait(); // They have said that they end.
            }
        }
        assertEquals(before, pipes());
    }

    /** Beside nothing else on one P, where it is a goroutine that waits for the others. */
    @Test
    void fromAGoroutine() {
        try (Gmp gmp = one()) {
            long asked = System.nanoTime();
            gmp.run(() -> WarmUp.run(gmp, SHORT));
            assertTrue(System.nanoTime() - asked >= SHORT.toNanos());
        }
    }

    /** There the clock stands still; those that warm up sleep by the machine's. */
    @Test
    void inABubble() {
        try (Gmp gmp = one()) {
            gmp.run(() -> Synctest.test(() -> WarmUp.run(gmp, SHORT)));
        }
    }

    @Test
    void anInterruptStays() throws InterruptedException {
        try (Gmp gmp = one()) {
            AtomicBoolean stays = new AtomicBoolean();
            Runnable interrupted = () -> {
                Thread.currentThread().interrupt();
                long end = System.nanoTime() + SHORT.toNanos();
                WarmUp.run(gmp, SHORT);
                stays.set(System.nanoTime() - end >= 0 && Thread.interrupted());
            };
            interrupted.run();
            assertTrue(stays.getAndSet(false));
            Thread t = gmp.threadFactory().newThread(interrupted);
            t.start();
            t.join();
            assertTrue(stays.get());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT0.000999999S", "PT1M0.000000001S"})
    void outOfRange(String d) {
        Duration bad = Duration.parse(d);
        try (Gmp gmp = one()) {
            assertEquals("the warm-up is " + bad + ": use 1 ms to 1 minute",
                    assertThrows(IllegalArgumentException.class, () -> WarmUp.run(gmp, bad)).getMessage());
        }
    }

    @Test
    void afterTheEnd() throws IOException {
        long before = pipes();
        Gmp gmp = one();
        gmp.close();
        assertThrows(RejectedExecutionException.class, () -> WarmUp.run(gmp, SHORT));
        assertEquals(before, pipes());
    }

    /** The others, which run already and would for a minute, end at once. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 17, 32})
    void oneCannotBeStarted(int which) throws IOException {
        long before = pipes();
        InheritableThreadLocal<Integer> started = new InheritableThreadLocal<>() {
            @Override
            protected Integer childValue(Integer parent) {
                set(parent + 1);
                if (parent + 1 == which) {
                    throw new IllegalStateException("not this one");
                }
                return parent;
            }
        };
        try (Gmp gmp = one()) {
            started.set(0);
            assertEquals("not this one",
                    assertThrows(IllegalStateException.class, () -> WarmUp.run(gmp, Duration.ofMinutes(1))).getMessage());
            assertEquals(which, started.get());
        } finally {
            started.remove();
        }
        assertEquals(before, pipes());
    }

    /** The heap's collector may move no stack of such a size: the goroutine waits without leaving its thread. */
    @Test
    void fromADeepGoroutine() throws IOException {
        long before = pipes();
        try (Gmp gmp = one()) {
            gmp.run(() -> atDepth(Headroom.left() - DEEP, () -> WarmUp.run(gmp, SHORT)));
        }
        assertEquals(before, pipes());
    }

    /** On a thread of the JDK's scheduler that has no other. */
    static final class OnTheOnlyCarrier {
        private OnTheOnlyCarrier() {
        }

        public static void main(String[] args) throws InterruptedException {
            try (Gmp gmp = one()) {
                Thread.startVirtualThread(() -> atDepth(Headroom.left() - Long.parseLong(args[0]), () -> {
                    try {
                        WarmUp.run(gmp, SHORT);
                        System.out.println("warm");
                    } finally {
                        System.out.println("done");
                    }
                })).join();
            }
        }
    }

    /** The JDK's pollers run there too, and goroutines may wait for them at first. */
    @ParameterizedTest
    @CsvSource({"gmp, 0", "jdk, 0", "jdk, 600000"})
    void onTheOnlyCarrier(String pollers, String depth) {
        ChildJvm.Result r = new ChildJvm(OnTheOnlyCarrier.class).with("-Dgmp.pollers=" + pollers, "-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m",
                "-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1").run(depth);
        assertTrue(depth.equals("0") ? r.out().equals("warm\ndone\n") : r.out().endsWith("done\n"), r::toString);
    }

    private static int atDepth(long left, Runnable act) {
        if (Headroom.left() > left) {
            return atDepth(left, act) + 1;
        }
        act.run();
        return 0;
    }
}
