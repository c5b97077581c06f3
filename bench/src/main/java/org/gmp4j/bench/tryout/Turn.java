// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import org.HdrHistogram.Histogram;

/**
 * What one start of the service came to.
 *
 * @param answerSeconds from its start until one could connect to it
 * @param startCpu CPU seconds that it used until then
 * @param youngCpu CPU seconds while it was young
 * @param warmCpu CPU seconds of the warm part; NaN without one
 * @param tape latencies at the given rate
 * @param saturation of the closed loop; null without one
 * @param peakMemory most memory that was resident, in bytes
 * @param threads of its processes at the end of the load at the given rate
 * @param reopened how often the client had to open a connection again
 * @param othersPercent CPU that others had of the service's CPUs, of these, in percent
 */
record Turn(
        double answerSeconds,
        double startCpu,
        double youngCpu,
        double warmCpu,
        Tape tape,
        Saturation saturation,
        double peakMemory,
        int threads,
        long reopened,
        double othersPercent) {
    /** Returns the client's own lateness, at p99 of the worse part. */
    long clientLate() {
        return Math.max(tape.youngLate().getValueAtPercentile(99), tape.warmLate().getValueAtPercentile(99));
    }

    /**
     * A closed loop.
     *
     * @param latencies of its requests, from when they were sent
     * @param seconds that it took
     * @param cpu CPU seconds of the service
     * @param clientBusy the part of the time in which the client's thread used a CPU
     */
    record Saturation(Histogram latencies, double seconds, double cpu, double clientBusy) {
        double perSecond() {
            return latencies.getTotalCount() / seconds;
        }
    }
}
