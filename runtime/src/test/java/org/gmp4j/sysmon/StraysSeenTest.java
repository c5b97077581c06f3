// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Go;
import org.gmp4j.proc.Machine;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which goroutines without a P sysmon counts and calls ({@link Strays}). */
class StraysSeenTest {
    private static final int LOOKS_EVERY = 20;
    private static final int LOOKS = 10;
    private static final int NAP_MICROS = 20_000;

    private final AtomicBoolean stop = new AtomicBoolean();
    private final CountDownLatch astray = new CountDownLatch(1);

    @BeforeEach
    void thereArePoints() throws ReflectiveOperationException {
        assertTrue(RetakeTest.loop().applyAsLong(1) != 0);
    }

    private static boolean hasP() {
        return Machine.current().attachedP() != 0;
    }

    /** A scheduler with a goroutine that loses its P as it takes so many steps. */
    private TestGmp with(Runnable step) {
        TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)));
        gmp.go(() -> {
            while (!stop.get()) {
                Go.gosched();
            }
        });
        gmp.go(() -> {
            while (!stop.get()) {
                if (!hasP()) {
                    astray.countDown();
                }
                step.run();
            }
        });
        return gmp;
    }

    /** It would come to no point, and sysmon would wait for it. */
    @Test
    @SuppressWarnings("restricted")
    void aThreadAsleepIsNotCalled() throws InterruptedException {
        Linker linker = Linker.nativeLinker();
        MethodHandle usleep = linker.downcallHandle(linker.defaultLookup().findOrThrow("usleep"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        Runnable step = () -> {
            try {
                int _ = (int) usleep.invokeExact(NAP_MICROS);
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        };
        try (TestGmp gmp = with(step)) {
            try {
                astray.await();
                Strays strays = new Strays(gmp.scheduler(), new ArmPoints());
                for (int i = 0; i < LOOKS; i++) {
                    strays.look(System.nanoTime());
                    assertFalse(strays.calling());
                    Thread.sleep(LOOKS_EVERY);
                }
            } finally {
                stop.set(true);
            }
        }
    }

    @Test
    void aThreadThatRunsIsCountedAndCalled() throws InterruptedException {
        try (TestGmp gmp = with(Thread::onSpinWait)) {
            try {
                astray.await();
                Strays strays = new Strays(gmp.scheduler(), new ArmPoints());
                boolean counted = false;
                boolean called = false;
                while (!counted || !called) {
                    counted |= strays.running() == 1;
                    strays.look(System.nanoTime());
                    called |= strays.calling();
                    Thread.sleep(1); // It needs a quarter of a CPU.
                }
            } finally {
                stop.set(true);
            }
        }
    }
}
