// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Reads the CPU's time stamp counter. That costs half as much as {@link System#nanoTime}, because it does not wait for earlier
 * instructions. Therefore the ticks of two threads may be some hundred nanoseconds out of order. Thread-safe.
 *
 * <p>The counter is used only if the kernel's own clock uses it, which requires that all CPUs count alike and never stop. Otherwise a tick
 * is a nanosecond of {@code System.nanoTime}.
 */
public final class Ticks {
    private static final Path SOURCE = Path.of("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    private static final Set<String> COUNTERS = Set.of("tsc", "arch_sys_counter");

    private static final long MEASURED = 5_000_000;

    private static final boolean COUNTER = hasCounter();
    private static final Call.Function TICKS = Call.function("gmp_ticks");

    private Ticks() {
    }

    private static boolean hasCounter() {
        try {
            return COUNTERS.contains(Files.readString(SOURCE).strip());
        } catch (IOException e) {
            return false;
        }
    }

    /** Measures the number of ticks in a nanosecond, to within a percent. Takes some milliseconds. */
    public static double perNano() {
        long ticks = now();
        long nanos = System.nanoTime();
        LockSupport.parkNanos(MEASURED);
        return (double) (now() - ticks) / (System.nanoTime() - nanos);
    }

    /** Returns the time in ticks of a constant length since a fixed moment. */
    public static long now() {
        return COUNTER ? Call.critical(TICKS) : System.nanoTime();
    }
}
