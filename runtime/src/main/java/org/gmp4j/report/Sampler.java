// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.OwnThread;

/** Looks at a scheduler at intervals, on a thread of its own, from {@link #start} to {@link #stop}. Both are called once. */
public abstract class Sampler {
    /** The scheduler. */
    final Scheduler s;
    /** The time between two looks, ns. */
    final long interval;
    private final Thread thread;
    /** When the last look began, by nanoTime. Written by {@link #start}, and then by the sampling thread. */
    private long looked;
    private volatile boolean over;

    Sampler(Scheduler s, long interval, String name) {
        this.s = s;
        this.interval = interval;
        thread = new OwnThread(this::loop, name);
    }

    /**
     * Looks once. Called on the sampling thread.
     *
     * @param elapsed the time since the last look, or since the start, ns
     */
    abstract void look(long elapsed);

    /** Returns for how long, ns, the thread rests at least after a look that took {@code nanos}. */
    long restAfter(long nanos) {
        return 0;
    }

    /** Starts sampling. */
    public void start() {
        looked = System.nanoTime();
        thread.start();
    }

    /** Stops sampling after a last look, for which it waits. */
    public void stop() {
        over = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join(TimeUnit.SECONDS.toMillis(1));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void loop() {
        long next = looked;
        boolean last = false;
        while (!last && !s.isStopped()) {
            next += interval;
            boolean _ = Thread.interrupted(); // An interrupt would end each park.
            for (long left = next - System.nanoTime(); left > 0 && !over; left = next - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            last = over;
            long now = System.nanoTime();
            long elapsed = now - looked;
            looked = now;
            try {
                look(elapsed);
            } catch (VirtualMachineError | LinkageError e) { // Of memory, of stack, or of a class whose first use found none.
                // One look less.
            }
            long end = System.nanoTime();
            next = Math.max(next, end - interval + restAfter(end - now)); // Missed looks are left out.
        }
    }
}
