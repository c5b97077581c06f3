// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link Gmp} as a user sees it, embedded. */
class GmpTest {
    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);

    @Test
    void callGivesTheResult() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            assertEquals(42, gmp.call(() -> 42));
            assertNull(gmp.call(() -> null));
            assertTrue(gmp.call(Go::inGoroutine));
            assertFalse(Go.inGoroutine());
        }
    }

    @Test
    void callAndRunRethrowTheSameObject() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            IOException checked = new IOException("checked");
            Error error = new StackOverflowError();
            RuntimeException unchecked = new IllegalStateException();
            assertSame(checked, assertThrows(IOException.class, () -> gmp.gmp.call(() -> {
                throw checked;
            })));
            for (Throwable t : new Throwable[] {error, unchecked}) {
                assertSame(t, assertThrows(Throwable.class, () -> gmp.run(() -> {
                    throw Go.<RuntimeException>sneaky(t);
                })));
            }
        }
    }

    @Test
    void runFromAGoroutineWaitsWithoutTheThread() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            assertEquals(5, gmp.call(() -> {
                int[] n = new int[1];
                gmp.run(() -> {
                    Go.gosched();
                    n[0] = 5;
                });
                assertEquals("inner", gmp.call(() -> gmp.call(() -> "inner")));
                return n[0];
            }));
        }
    }

    @Test
    void runReturnsAfterGoexit() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(Go::goexit);
            assertNull(gmp.call(() -> {
                Go.goexit();
                return 1;
            }));
        }
    }

    @Test
    void anInterruptDoesNotEndRun() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Chan<Integer> c = Chan.make();
            new Threads().add("waiter", () -> {
                Thread.currentThread().interrupt();
                assertEquals(3, gmp.call(c::recv));
                assertTrue(Thread.interrupted());
            }).add("sender", () -> c.send(3)).run();
        }
    }

    static Stream<Arguments> badSettings() {
        Map<String, UnaryOperator<Gmp.Builder>> bad = Map.of(
                "procs is 0: use 1 to 4096", b -> b.procs(0),
                "procs is 4097: use 1 to 4096", b -> b.procs(4097),
                "quantum is PT0.0001S: use 200 µs to 1 minute", b -> b.quantum(Duration.ofNanos(100_000)),
                "quantum is at least PT0.01S and at most PT0.001S: give the shorter one first",
                b -> b.quantum(Duration.ofMillis(10), Duration.ofMillis(1)),
                "quantum is PT2M: use 200 µs to 1 minute", b -> b.quantum(Duration.ofMinutes(2)),
                "maxThreads is 0: use 1 or more", b -> b.maxThreads(0),
                "idleThreads is PT0S: use 1 ms to 1000 days", b -> b.idleThreads(Duration.ZERO),
                "idleThreads is " + FOR_EVER + ": use 1 ms to 1000 days", b -> b.idleThreads(FOR_EVER),
                "quantum is " + FOR_EVER + ": use 200 µs to 1 minute", b -> b.quantum(FOR_EVER),
                "maxStack is 1 bytes: use 65536 or more", b -> b.maxStack(1));
        return bad.entrySet().stream().map(e -> Arguments.of(e.getKey(), e.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("badSettings")
    void buildNamesTheBadSetting(String message, UnaryOperator<Gmp.Builder> settings) {
        Gmp.Builder b = settings.apply(Gmp.builder());
        Set<Thread> before = threads();
        assertEquals(message, assertThrows(IllegalArgumentException.class, b::build).getMessage());
        assertTrue(before.containsAll(threads()), "something was started");
    }

    /** Of schedulers. */
    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream().filter(t -> t.getName().matches("gmp\\d+-.*"))
                .collect(Collectors.toSet());
    }

    @Test
    void badDebugKeyIsNamed() {
        Gmp.Builder b = Gmp.builder().debug("schedtrce=1");
        String message = assertThrows(IllegalArgumentException.class, b::build).getMessage();
        assertTrue(message.contains("\"schedtrce\" is unknown"), message);
    }

    @Test
    void nullIsRefused() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            String message = "go of nil func value";
            assertEquals(message, assertThrows(NullPointerException.class, () -> gmp.go(null)).getMessage());
            assertEquals(message, assertThrows(NullPointerException.class, () -> gmp.run(null)).getMessage());
            assertEquals(message, assertThrows(NullPointerException.class, () -> gmp.gmp.call(null)).getMessage());
            assertThrows(NullPointerException.class, () -> Gmp.main(null));
        }
    }

    @Test
    void setProcs() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            assertEquals(2, gmp.gmp.procs());
            assertEquals(2, gmp.gmp.setProcs(5));
            assertEquals(5, gmp.gmp.procs());
            assertThrows(IllegalArgumentException.class, () -> gmp.gmp.setProcs(0));
            assertEquals(5, gmp.gmp.setProcs(1));
            gmp.check();
        }
    }

    @Test
    void closeWaitsForGoroutinesAndRefusesNewOnes() throws InterruptedException {
        Set<Thread> before = threads();
        Gmp gmp = Gmp.builder().procs(2).build();
        Chan<Integer> c = Chan.make();
        boolean[] childRan = new boolean[1];
        gmp.go(() -> {
            c.recv();
            Go.go(() -> childRan[0] = true); // One that lives may still start others.
        });
        Threads closer = new Threads().add("closer", gmp::close).start();
        while (!refuses(gmp)) {
            Thread.sleep(1);
        }
        c.send(1);
        closer.join();
        assertTrue(childRan[0]);
        assertTrue(before.containsAll(threads()), "a thread is left");
        gmp.close();
        gmp.close(Duration.ZERO);
        assertEquals("go on a closed Gmp",
                assertThrows(IllegalStateException.class, () -> gmp.go(() -> { })).getMessage());
        assertThrows(IllegalStateException.class, () -> gmp.run(() -> { }));
    }

    private static boolean refuses(Gmp gmp) {
        try {
            gmp.go(() -> { });
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    @Test
    void closeWithALimitReportsWhoIsLeft() {
        Gmp gmp = Gmp.builder().procs(1).build();
        Chan<Integer> c = Chan.make();
        gmp.go(c::recv);
        gmp.run(() -> { }); // Behind it.
        String left = gmp.close(Duration.ofMillis(20));
        assertTrue(left.startsWith("goroutine 1 [chan receive]:\n"), left);
        c.close();
        gmp.close();
    }

    /** A limit that no number of nanoseconds expresses is as good as none, or as one that has passed. */
    @Test
    void closeWithAnyLimit() {
        Gmp gmp = Gmp.builder().procs(1).build();
        Chan<Integer> c = Chan.make();
        gmp.go(c::recv);
        gmp.run(() -> { }); // Behind it.
        assertTrue(gmp.close(Duration.ofSeconds(Long.MIN_VALUE)).startsWith("goroutine "));
        c.close();
        assertEquals("", gmp.close(FOR_EVER));
    }

    @Test
    void closeFromInsideIsRefused() {
        try (TestGmp gmp = TestGmp.procs(1); TestGmp other = TestGmp.procs(1)) {
            gmp.run(() -> assertThrows(IllegalStateException.class, gmp.gmp::close));
            other.run(() -> assertTrue(gmp.call(() -> true)));
        }
    }

    /** The thread that closes it leaves; it still ends when its last goroutine has ended. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void itEndsWhenWhoClosesItHasLeft(boolean interrupted) throws InterruptedException {
        Gmp gmp = Gmp.builder().procs(2).build();
        Chan<Integer> c = Chan.make();
        gmp.go(c::recv);
        new Threads().add("closer", () -> {
            if (interrupted) {
                Thread.currentThread().interrupt();
                gmp.close();
                gmp.close();
                assertTrue(Thread.interrupted());
            } else {
                assertTrue(gmp.close(Duration.ofMillis(1)).contains("chan receive"));
            }
        }).run();
        assertEquals(1, threadsOf(gmp, "close"));
        c.close();
        while (threadsOf(gmp, "") != 0) { // A test that hangs has failed.
            Thread.sleep(1);
        }
        gmp.close();
    }

    private static long threadsOf(Gmp gmp, String what) {
        return Thread.getAllStackTraces().keySet().stream().filter(t -> t.getName().startsWith(gmp.name() + "-" + what)).count();
    }

    /** The second to close it returns when it has ended. */
    @Test
    void twoCloseIt() throws InterruptedException {
        for (int i = 0; i < 50; i++) {
            Gmp gmp = Gmp.builder().procs(2).build();
            gmp.run(() -> Go.gosched());
            new Threads().add(2, "closer", () -> {
                gmp.close();
                assertEquals(0, threadsOf(gmp, "sysmon"));
            }).run();
        }
    }

    /** All but go, run and call are harmless on a closed scheduler. */
    @Test
    void aClosedOneCanBeAsked() {
        Gmp gmp = Gmp.builder().procs(2).build();
        gmp.run(() -> { });
        gmp.close();
        assertEquals(0, gmp.numGoroutine());
        assertEquals("", gmp.dump());
        assertEquals(2, gmp.procs());
        assertThrows(IllegalStateException.class, () -> gmp.setProcs(3));
        // Its structs live on in the next.
        try (TestGmp next = TestGmp.procs(2)) {
            assertEquals(0, gmp.numGoroutine());
            assertEquals(1, (int) next.call(next.gmp::numGoroutine));
        }
    }

    /** An exception ends its goroutine and nothing else: not the M, not the next goroutine on the stack. */
    @Test
    void uncaughtExceptionsGoToTheHandler() {
        Map<Long, Throwable> seen = new ConcurrentHashMap<>();
        try (Gmp gmp = Gmp.builder().procs(1).uncaught(seen::put).build()) {
            CountDownLatch ended = new CountDownLatch(100);
            for (int i = 0; i < 100; i++) {
                int n = i;
                gmp.go(() -> {
                    Go.defer(ended::countDown);
                    if (n % 2 == 0) {
                        throw Go.<RuntimeException>sneaky(n % 4 == 0 ? new IllegalStateException("" + n) : new Error("" + n));
                    }
                });
            }
            gmp.run(() -> { });
            while (ended.getCount() > 0 || seen.size() < 50) {
                Thread.onSpinWait();
            }
            assertEquals(50, seen.size());
        }
    }

    /** A handler may do what it likes; the next goroutine on the stack knows nothing of it. */
    @Test
    void aHandlerThatMisbehaves() {
        int[] handled = new int[1];
        try (Gmp gmp = Gmp.builder().procs(1).uncaught((id, t) -> {
            if (handled[0]++ == 0) {
                Go.defer(() -> handled[0] += 100);
                Go.goexit();
            }
            throw new IllegalStateException("handler");
        }).build()) {
            for (int i = 0; i < 2; i++) {
                gmp.run(() -> Go.go(() -> {
                    throw new IllegalStateException("goroutine");
                }));
                assertEquals(1L, gmp.call(() -> {
                    Go.gosched();
                    return 1L;
                }));
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        assertEquals(2, handled[0]);
    }

    /** Threads that start goroutines race with close: each is run or refused, and close returns. */
    @Stress
    void goRacesWithClose() throws InterruptedException {
        for (int i = 0; i < 200; i++) {
            Gmp gmp = Gmp.builder().procs(1 + i % 2).build();
            int[] accepted = new int[1];
            java.util.concurrent.atomic.AtomicInteger ran = new java.util.concurrent.atomic.AtomicInteger();
            Threads threads = new Threads().add("starter", () -> {
                try {
                    for (;;) {
                        gmp.go(ran::incrementAndGet);
                        accepted[0]++;
                    }
                } catch (IllegalStateException closed) {
                    return;
                }
            }).start();
            for (int spin = i % 50 * 100; spin > 0; spin--) {
                Thread.onSpinWait();
            }
            gmp.close();
            threads.join();
            assertEquals(accepted[0], ran.get());
        }
    }

    /** A spinner stops when its scheduler is closed, however long it would spin. */
    @Test
    void closeEndsSpinning() {
        for (SpinPolicy spin : new SpinPolicy[] {SpinPolicy.busy(), SpinPolicy.latency(Duration.ofHours(1))}) {
            try (TestGmp gmp = TestGmp.with(b -> b.procs(2).spin(spin))) {
                gmp.run(Go::gosched);
            }
        }
    }
}
