// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Go;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link Once} and {@link OnceValue}. */
class OnceTest {
    private int plain;

    /** Go: {@code TestOnce}: one run, and everybody returns after it. */
    @Stress
    void once() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (int i = 0; i < 200; i++) {
                plain = 0;
                Once once = new Once();
                Crew.run(gmp, 6, 1, 1, id -> {
                    once.run(() -> {
                        Thread.yield();
                        plain++;
                    });
                    assertEquals(1, plain);
                });
            }
        }
    }

    /** Go: {@code TestOncePanic}: one that throws counts as run. */
    @Test
    void oncePanic() {
        Once once = new Once();
        ArithmeticException e = new ArithmeticException();
        assertSame(e, assertThrows(ArithmeticException.class, () -> once.run(() -> {
            throw e;
        })));
        once.run(() -> {
            throw new AssertionError("run twice");
        });
        assertThrows(NullPointerException.class, () -> once.run(null));
    }

    /** goexit inside counts as run, too. */
    @Test
    void onceGoexit() {
        Once once = new Once();
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> once.run(Go::goexit));
        }
        once.run(() -> {
            throw new AssertionError("run twice");
        });
    }

    @Stress
    void onceValue() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (int i = 0; i < 100; i++) {
                AtomicInteger calls = new AtomicInteger();
                OnceValue<Integer> v = OnceValue.of(() -> {
                    Thread.yield();
                    return calls.incrementAndGet();
                });
                Crew.run(gmp, 6, 1, 1, id -> assertEquals(1, v.get()));
            }
        }
        assertNull(OnceValue.of(() -> null).get());
        assertThrows(NullPointerException.class, () -> OnceValue.of(null));
    }

    /** Go: {@code TestOnceValuePanic}: each call throws again. */
    @Test
    void onceValuePanic() {
        AtomicInteger calls = new AtomicInteger();
        ArithmeticException e = new ArithmeticException();
        OnceValue<Integer> v = OnceValue.of(() -> {
            calls.incrementAndGet();
            throw e;
        });
        for (int i = 0; i < 3; i++) {
            assertSame(e, assertThrows(ArithmeticException.class, v::get));
        }
        assertEquals(1, calls.get());
    }

    @Test
    void onceValueGoexit() {
        OnceValue<Integer> v = OnceValue.of(() -> {
            Go.goexit();
            return 1;
        });
        AtomicReference<String> after = new AtomicReference<>();
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                v.get();
                after.set("goexit returned");
            });
        }
        assertNull(after.get());
        assertThrows(IllegalStateException.class, v::get);
    }
}
