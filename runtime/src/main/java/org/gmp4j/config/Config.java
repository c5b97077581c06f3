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
 * @param autoProcs what procs should be now, asked at most once a second until setProcs is called; null when set by hand
 * @param placement the CPUs of each P, to begin with
 * @param steal the order in which thieves look at other Ps; not nearest first when Ms roam
 * @param nodeQueues whether the global queue has a list for each NUMA node
 * @param spinNanos how long an M searches before it sleeps: 0 as Go does, Long.MAX_VALUE for ever
 * @param quantumNanos how long a goroutine runs before it is told to yield, when at most one other waits
 * @param leastQuantumNanos what that shortens to at least when more wait; equal to it for a fixed quantum
 * @param maxThreads most Ms
 * @param idleNanos how long an M that is not needed sleeps before it ends; negative for ever
 * @param maxStack most bytes of a goroutine's stack
 * @param uncaught told of an exception that ends a goroutine; null for the default
 * @param deadlockDetection whether it is fatal when all goroutines are asleep
 * @param program whether this is program mode, where fatal errors end the process
 * @param realtime the priority of Ms under SCHED_FIFO, 1 to 98; 0 for the usual policy
 * @param debug GMPDEBUG
 */
public record Config(int procs, @Nullable IntSupplier autoProcs, Placement placement, StealOrder steal,
        boolean nodeQueues, long spinNanos, long quantumNanos, long leastQuantumNanos, int maxThreads, long idleNanos, long maxStack,
        @Nullable BiConsumer<Long, Throwable> uncaught, boolean deadlockDetection, boolean program, int realtime,
        DebugVars debug) {
    /** Most Ps. */
    public static final int MOST_PROCS = 4096;

    /** How long a thief leaves runnext to the P that is about to take it, in nanoseconds; Go's value. */
    private static final long POLITE_NANOS = 3_000;

    /** The same under a latency policy: about two switches. The owner takes its runnext sooner than that if it can. */
    private static final long POLITE_LATENCY_NANOS = 300;

    /** Whether a deadlock is reported whatever other threads the process has. */
    public boolean strictDeadlocks() {
        return debug.deadlock() == DebugVars.Deadlock.STRICT;
    }

    public long politeNanos() {
        return spinNanos == 0 ? POLITE_NANOS : POLITE_LATENCY_NANOS;
    }
}
