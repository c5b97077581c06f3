// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

/**
 * What a run found.
 *
 * @param tally what the client counted
 * @param use what the server used while it was counted
 * @param othersSeconds CPU that others had of the server's meanwhile: processes, interrupts, the hypervisor
 * @param roundsPerNano how fast the server's loop was before
 * @param clientNice the client's nice value
 */
record Figures(Tally tally, Proc.Use use, double othersSeconds, double roundsPerNano, int clientNice) {
    /** Returns the CPU seconds of the server. */
    double cpuSeconds() {
        return use.user() + use.system();
    }

    /** Returns the percentage of the server's CPU that others had meanwhile. */
    double othersPercent() {
        return 100 * othersSeconds / tally.took();
    }

    /** Nanoseconds of CPU for each request. */
    double cpuNanos() {
        return 1e9 * cpuSeconds() / tally.answered();
    }

    /** Returns the context switches for each request. */
    double switches() {
        return (double) (use.voluntary() + use.involuntary()) / tally.answered();
    }
}
