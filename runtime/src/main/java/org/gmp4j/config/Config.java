// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.config;

import java.util.function.BiConsumer;
import java.util.function.IntSupplier;

import org.gmp4j.affinity.StealOrder;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one scheduler, checked by the builder.
 *
 * @param procs number of Ps, 1 to 4096
 * @param autoProcs returns the wanted number of Ps, and is called at most once a second until setProcs is called; null when the number
 *     is set
 * @param placement the CPUs of each P at the start
 * @param steal the order in which Ms steal from other Ps; not {@link StealOrder#NEAREST} if Ms run on any CPU
 * @param nodeQueues whether the global queue has a list for each NUMA node
 * @param spinNanos how long an M searches before it sleeps, ns: 0 for Go's rule, Long.MAX_VALUE for no limit
 * @param quantumNanos the initial quantum, ns: the CPU time that a goroutine's thread uses before the goroutine is asked to yield, if at
 *     most one other goroutine waits
 * @param leastQuantumNanos the quantum, ns, while many goroutines wait; equal to quantumNanos for a fixed quantum
 * @param maxThreads the greatest number of Ms
 * @param idleNanos how long an unneeded M sleeps before it ends, ns; negative for no limit
 * @param maxStack the greatest size of a goroutine's stack, bytes
 * @param uncaught gets each exception that ends a goroutine; null for the default
 * @param deadlockDetection whether a deadlock is a fatal error
 * @param program whether this is program mode, where fatal errors end the process
 * @param realtime the priority of Ms under SCHED_FIFO, 1 to 98; 0 for the usual policy
 * @param debug the settings of GMPDEBUG
 */
public record Config(int procs, @Nullable IntSupplier autoProcs, Placement placement, StealOrder steal,
        boolean nodeQueues, long spinNanos, long quantumNanos, long leastQuantumNanos, int maxThreads, long idleNanos, long maxStack,
        @Nullable BiConsumer<Long, Throwable> uncaught, boolean deadlockDetection, boolean program, int realtime,
        DebugVars debug) {
    /** The greatest number of Ps. */
    public static final int MOST_PROCS = 4096;

    /** Go's value of {@link #politeNanos}. */
    private static final long POLITE_NANOS = 3_000;

    /**
     * The value for Ms that search longer than Go's Ms: about the time of two switches. A P whose thread has the CPU takes the G in its
     * runnext within that time.
     */
    private static final long POLITE_LATENCY_NANOS = 300;

    /** Returns whether a deadlock is reported even if other threads of the process could make a goroutine ready. */
    public boolean strictDeadlocks() {
        return debug.deadlock() == DebugVars.Deadlock.STRICT;
    }

    /** Returns how long, ns, a stealing M leaves the G in runnext to a running P, which will probably take it. */
    public long politeNanos() {
        return spinNanos == 0 ? POLITE_NANOS : POLITE_LATENCY_NANOS;
    }
}
