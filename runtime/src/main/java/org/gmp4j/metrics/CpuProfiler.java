// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import org.gmp4j.report.CpuSampler;
import org.gmp4j.sched.base.Scheduler;

/**
 * Samples which goroutines run, and where, until it is stopped. Thread-safe.
 *
 * <p>A sample shows the place where the goroutine next reaches a safepoint of the JVM, near the place that used the CPU: a hot loop
 * shows at its end, and inlined code may show at its caller. That is exact enough to find the labels and the parts of the program that
 * use the CPU. For single instructions use JFR or async-profiler, which do not know labels. Threads that the kernel has preempted count as
 * running; goroutines in {@code Go.blocking} do not count.
 *
 * <p>Source: {@code StartCPUProfile} and {@code StopCPUProfile} of Go's {@code runtime/pprof}.
 */
public final class CpuProfiler implements AutoCloseable {
    private final CpuSampler sampler;
    private final long interval;

    /** Samples a scheduler every {@code interval} ns. Users call {@code Gmp.startCpuProfile}. */
    @SuppressWarnings("exports")
    public CpuProfiler(Scheduler s, long interval) {
        this.interval = interval;
        sampler = new CpuSampler(s, interval);
        sampler.start();
    }

    /** Returns the profile of the samples so far, and continues to sample. */
    public Profile profile() {
        return new Profile("cpu", "samples", "cpu", interval, Profile.samples(sampler.found()));
    }

    /**
     * Stops sampling and returns the profile. Further calls return the same profile.
     *
     * <p>Any thread may call it. It waits for the last sample. An interrupt does not end that wait, and in a bubble the wait holds the
     * clock.
     */
    public Profile stop() {
        sampler.stop();
        return profile();
    }

    /** Stops sampling. */
    @Override
    public void close() {
        sampler.stop();
    }
}
