// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.List;
import java.util.Map;

import org.gmp4j.metrics.Profile.Sample;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.report.CpuSampler;

/**
 * Samples which goroutines run, and where, until it is stopped. Thread-safe.
 *
 * <p>A goroutine is seen where it next comes to a safepoint of the JVM, which is not quite where it was: hot loops show at their ends, and
 * what was inlined may show at its caller. For which labels use the CPU, and which parts of the program, that does; for single instructions
 * there are JFR and async-profiler, which know nothing of labels. Threads that the system has taken off their CPUs count as if they ran;
 * goroutines in {@code Go.blocking} do not count.
 *
 * <p>Source: {@code StartCPUProfile} and {@code StopCPUProfile} of Go's {@code runtime/pprof}.
 */
public final class CpuProfiler implements AutoCloseable {
    private final CpuSampler sampler;
    private final long interval;

    /** Of a scheduler, each so many ns; users call {@code Gmp.startCpuProfile}. */
    @SuppressWarnings("exports")
    public CpuProfiler(Scheduler s, long interval) {
        this.interval = interval;
        sampler = new CpuSampler(s, interval);
        sampler.start();
    }

    /** What was found until now; it goes on. */
    public Profile profile() {
        List<Sample> samples = sampler.found().entrySet().stream().map(e -> {
            long n = e.getValue().sum();
            return new Sample(e.getKey().frames(), Map.copyOf(e.getKey().labels()), n, n * interval);
        }).toList();
        return new Profile("cpu", "samples", "cpu", interval, samples);
    }

    /**
     * Stops it, and says what was found. Harmless when repeated.
     *
     * <p>Any thread may call it. It waits for one look at most, whatever interrupts come, and in a bubble holds the
     * clock.
     */
    public Profile stop() {
        sampler.stop();
        return profile();
    }

    /** Stops it. */
    @Override
    public void close() {
        sampler.stop();
    }
}
