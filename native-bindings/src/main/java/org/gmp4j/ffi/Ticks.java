// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * The CPU's time stamp counter: half as dear as {@link System#nanoTime}, which waits for what comes before it. Ticks of two threads may be
 * some hundred nanoseconds out of order. Thread-safe.
 *
 * <p>Only where the kernel itself keeps its time by that counter, which it does if all CPUs count alike and never stop; elsewhere a tick is
 * a nanosecond of {@code System.nanoTime}.
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

    /** How many ticks a nanosecond has, to within a percent. Takes some milliseconds. */
    public static double perNano() {
        long ticks = now();
        long nanos = System.nanoTime();
        LockSupport.parkNanos(MEASURED);
        return (double) (now() - ticks) / (System.nanoTime() - nanos);
    }

    /** The time now, in ticks of a constant length since some moment. */
    public static long now() {
        return COUNTER ? Call.critical(TICKS) : System.nanoTime();
    }
}
