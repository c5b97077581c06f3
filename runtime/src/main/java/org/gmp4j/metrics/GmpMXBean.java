// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.Map;

/**
 * A scheduler as JMX shows it, under {@code org.gmp4j:type=Gmp,name=NAME}. It is there within a second after anybody in the
 * process uses JMX (a {@code -Dcom.sun.management.jmxremote} option, a console or {@code jcmd PID
 * ManagementAgent.start_local}), and from the start with {@code GMPDEBUG=jmx=1}; until then nothing of JMX is loaded.
 * Thread-safe.
 */
public interface GmpMXBean {
    /** Its name, the first part of its threads' names. */
    String getName();

    /** The number of Ps. */
    int getProcs();

    /** How many goroutines live. */
    int getGoroutines();

    /** How many threads it has, asleep or not. */
    int getThreads();

    /** How often a P was taken from a goroutine that blocked its thread, or ran past its quantum and came to no point. */
    long getStalls();

    /** All {@link Metrics} that are one number, by name. */
    Map<String, Double> getMetrics();

    /** All metrics of all schedulers of the process in Prometheus's format. */
    String prometheus();

    /** Every goroutine in Go's traceback form. */
    String dump();
}
