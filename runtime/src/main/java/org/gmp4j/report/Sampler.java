// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.concurrent.locks.LockSupport;

import org.gmp4j.events.Places;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.OwnThread;

/**
 * Takes samples of a scheduler at intervals, on a thread of its own, from {@link #start} to {@link #stop}. Both are called once.
 */
public abstract class Sampler {
    final Scheduler s;
    /** The time between two samples, ns. */
    final long interval;
    final Places found = new Places();
    private final Thread thread;
    /** The time, a nanoTime, at which the last sample began. Written by {@link #start}, and then by the sampling thread. */
    private long looked;
    private volatile boolean over;

    Sampler(Scheduler s, long interval, String name) {
        this.s = s;
        this.interval = interval;
        thread = new OwnThread(this::loop, name);
    }

    /**
     * Takes one sample. Called on the sampling thread.
     *
     * @param elapsed the time since the last sample, or since the start, ns
     */
    abstract void look(long elapsed);

    /** Returns the least time, ns, that the thread pauses after a sample that took {@code nanos}. */
    long restAfter(long nanos) {
        return 0;
    }

    /** Returns the places, with their samples up to now. */
    public Places found() {
        return found;
    }

    /** Starts sampling. */
    public void start() {
        looked = System.nanoTime();
        thread.start();
    }

    /** Stops sampling. Waits until the last sample has been taken. */
    public void stop() {
        over = true;
        LockSupport.unpark(thread);
        OwnThread.joinUninterruptibly(thread);
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
            } catch (VirtualMachineError | LinkageError e) { // There was too little memory or stack, now or at the first use of a class.
                // This sample is left out.
            }
            long end = System.nanoTime();
            next = Math.max(next, end - interval + restAfter(end - now)); // Missed samples are left out.
        }
    }
}
