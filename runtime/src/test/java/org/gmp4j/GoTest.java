// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@link Go}: goexit, deferred work, misuse. */
class GoTest {
    static Stream<Executable> outside() {
        return Stream.of(Go::gosched, Go::goexit, Go::goid, Go::numGoroutine, () -> Go.gomaxprocs(0),
                () -> Go.go(() -> { }), () -> Go.defer(() -> { }), () -> Go.sleep(Duration.ZERO), Go::lockOSThread,
                () -> new WaitGroup().go(() -> { }));
    }

    @ParameterizedTest
    @MethodSource("outside")
    void refusedOutsideAGoroutine(Executable call) {
        String message = assertThrows(IllegalStateException.class, call).getMessage();
        assertTrue(message.matches("Go\\.\\w+ was called outside a goroutine: .*"), message);
    }

    @Test
    void goOfNull() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> assertEquals("go of nil func value",
                    assertThrows(NullPointerException.class, () -> Go.go(null)).getMessage()));
        }
        assertThrows(NullPointerException.class, () -> Go.go(null));
    }

    /** Go: {@code TestGoexitDefer}: deferred work runs on goexit, last first, and finally blocks before it. */
    @Test
    void goexitDefer() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            List<String> log = new CopyOnWriteArrayList<>();
            gmp.run(() -> {
                Go.defer(() -> log.add("first"));
                Go.defer(() -> log.add("second"));
                try {
                    Go.goexit();
                    fail("goexit returned");
                } catch (Exception e) {
                    fail("goexit is no Exception");
                } finally {
                    log.add("finally");
                }
            });
            assertEquals(List.of("finally", "second", "first"), log);
        }
    }

    @Test
    void goexitThatIsSwallowedGoesOn() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            List<String> log = new CopyOnWriteArrayList<>();
            gmp.run(() -> {
                Go.defer(() -> {
                    Go.gosched(); // Deferred work may call the runtime.
                    log.add("deferred");
                });
                try {
                    Go.goexit();
                } catch (Throwable swallowed) {
                    log.add("swallowed");
                }
                Go.gosched();
                log.add("not reached");
            });
            gmp.run(() -> {
                try {
                    Go.goexit();
                } catch (Throwable swallowed) {
                    log.add("swallowed");
                }
                log.add("returns");
            });
            gmp.run(() -> {
                Go.gosched(); // On the same stack.
                log.add("next");
            });
            assertEquals(List.of("swallowed", "deferred", "swallowed", "returns", "next"), log);
        }
    }

    /** Go: {@code TestRecoveredPanicAfterGoexit} and others: the last of goexit and exceptions counts. */
    @Test
    void theLastEndCounts() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            List<String> log = new CopyOnWriteArrayList<>();
            RuntimeException first = new IllegalStateException("first");
            gmp.run(() -> {
                Go.defer(() -> log.add("runs"));
                Go.defer(Go::goexit);
                throw first; // Replaced by goexit.
            });
            RuntimeException second = new IllegalStateException("second");
            assertEquals(second, assertThrows(IllegalStateException.class, () -> gmp.run(() -> {
                Go.defer(() -> {
                    throw second; // Replaces goexit.
                });
                Go.goexit();
            })));
            assertEquals(second, assertThrows(IllegalStateException.class, () -> gmp.run(() -> {
                Go.defer(() -> {
                    throw second;
                });
                throw first;
            })));
            assertEquals(first, assertThrows(IllegalStateException.class, () -> gmp.run(() -> {
                Go.defer(() -> log.add("before it is reported"));
                throw first;
            })));
            assertEquals(List.of("runs", "before it is reported"), log);
        }
    }

    @Test
    void deferredWorkMayDefer() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            List<String> log = new CopyOnWriteArrayList<>();
            gmp.run(() -> Go.defer(() -> {
                log.add("outer");
                Go.defer(() -> log.add("inner"));
            }));
            assertEquals(List.of("outer", "inner"), log);
        }
    }

    @Test
    void goschedLetsOthersRun() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                int[] ran = new int[1];
                for (int i = 0; i < 100; i++) {
                    Go.go(() -> ran[0]++);
                }
                while (ran[0] < 100) {
                    Go.gosched();
                }
            });
        }
    }

    /** What was done before {@code go} is seen in the goroutine. */
    @Test
    void goHappensBefore() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < 10_000; i++) {
                    int[] box = new int[1];
                    box[0] = i;
                    int expected = i;
                    wg.go(() -> assertEquals(expected, box[0]++));
                }
                wg.await();
            });
        }
    }
}
