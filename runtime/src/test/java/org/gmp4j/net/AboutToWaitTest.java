// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.thrown;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.net.Io.Pair;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What ends a wait comes at any moment of its beginning: before it, between its steps, just after. No wait misses it. */
class AboutToWaitTest {
    private static final int ROUNDS = 400;
    private static final int MOST_NANOS = 60_000;

    private static void pause() {
        for (long end = System.nanoTime() + ThreadLocalRandom.current().nextInt(MOST_NANOS); System.nanoTime() < end;) {
            Thread.onSpinWait();
        }
    }

    /** A read by a goroutine, or a thread; {@code end} follows somewhen from its beginning on. */
    private static IOException read(TestGmp gmp, String by, TcpConn c, Io.Body end) throws Exception {
        AtomicBoolean begins = new AtomicBoolean();
        AtomicReference<IOException> e = new AtomicReference<>();
        Runnable reader = () -> {
            begins.set(true);
            e.set(thrown(() -> {
                int _ = c.read(new byte[1], 0, 1);
            }));
        };
        Thread t = switch (by) {
            case "goroutine" -> gmp.call(() -> Thread.startVirtualThread(reader));
            case "virtual" -> Thread.startVirtualThread(reader);
            default -> Thread.ofPlatform().start(reader);
        };
        while (!begins.get()) {
            Thread.onSpinWait();
        }
        pause();
        end.run();
        t.join();
        return e.get();
    }

    @ParameterizedTest
    @ValueSource(strings = {"goroutine", "virtual", "thread"})
    void close(String by) throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (int i = 0; i < ROUNDS; i++) {
                try (Pair p = Pair.open()) {
                    assertInstanceOf(ClosedException.class, read(gmp, by, p.a(), p.a()::close));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"goroutine", "virtual", "thread"})
    void deadline(String by) throws Exception {
        try (TestGmp gmp = TestGmp.procs(2); Pair p = Pair.open()) {
            for (int i = 0; i < ROUNDS; i++) {
                p.a().setReadDeadline(null);
                assertInstanceOf(SocketTimeoutException.class,
                        read(gmp, by, p.a(), () -> p.a().setDeadlineAfter(Duration.ZERO)));
                p.a().setReadDeadline(null);
                assertInstanceOf(SocketTimeoutException.class,
                        read(gmp, by, p.a(), () -> p.a().setDeadlineAfter(Duration.ofNanos(1))));
            }
        }
    }

    /** Readiness, that is an edge: it comes once. */
    @ParameterizedTest
    @ValueSource(strings = {"goroutine", "virtual", "thread"})
    void data(String by) throws Exception {
        try (TestGmp gmp = TestGmp.procs(2); Pair p = Pair.open()) {
            for (int i = 0; i < 2 * ROUNDS; i++) {
                IOException e = read(gmp, by, p.a(), () -> p.b().write(new byte[1], 0, 1));
                if (e != null) {
                    throw e;
                }
            }
        }
    }
}
