// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.Arrays;
import java.util.function.ToLongFunction;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Places;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.Buckets;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * One reading of the counters of a running scheduler. Each word is read on its own, so numbers from different words may be from different
 * moments. Only the numbers of one group, such as the goroutines by state or the CPU times, are read together.
 */
final class Reading {
    private static final double NANOS = 1e9;
    private static final double[] BOUNDS = new double[Buckets.N + 1];

    static {
        for (int i = 0; i < Buckets.N; i++) {
            BOUNDS[i] = Buckets.lowest(i) / NANOS;
        }
        BOUNDS[Buckets.N] = Double.POSITIVE_INFINITY;
    }

    final Scheduler s;
    private final Processor[] procs;
    /** The number of stolen Gs by {@link Places.Distance}; null until it is first needed. */
    private long @Nullable [] stolenOver;

    // Goroutines.
    final long goroutines;
    final long running;
    final long notInGo;
    final long runnable;
    final long strays;

    // CPU time, nanoseconds.
    final long idle;
    final long total;

    Reading(Scheduler s) {
        this.s = s;
        procs = s.procs();
        long inGo = 0;
        long outside = 0;
        long astray = 0;
        for (Machine m : s.machines()) {
            if (M.CURG.getOpaque(m.mp) != 0) {
                if (M.P.getOpaque(m.mp) != 0) {
                    inGo++;
                } else {
                    outside++;
                }
                astray += m.astray() ? 1 : 0;
            }
        }
        long queued = Schedt.RUNQSIZE.getOpaque(s.sched);
        for (Processor pr : procs) {
            queued += queued(pr.pp);
        }
        running = inGo;
        notInGo = outside;
        runnable = queued;
        strays = astray;
        goroutines = s.gcount();
        long idleNanos = 0;
        GStack caller = GStack.enter();
        SchedLock.lock(s.sched); // Under this lock Ps become idle, and their number changes.
        long now = System.nanoTime();
        for (Processor pr : procs) {
            idleNanos += P.IDLETIME.getOpaque(pr.pp);
            if (Idle.maskRead(Schedt.IDLEPMASK.getAcquire(s.sched), P.ID.get(pr.pp))) {
                idleNanos += now - P.IDLESINCE.get(pr.pp);
            }
        }
        total = Schedt.TOTALTIME.get(s.sched) + Schedt.GOMAXPROCS.getOpaque(s.sched) * (now - Schedt.PROCRESIZETIME.get(s.sched));
        SchedLock.unlock(s.sched);
        GStack.exit(caller);
        idle = idleNanos;
    }

    private static long queued(long pp) {
        return Runq.size(pp) + (Runq.runnext(pp) == 0 ? 0L : 1L);
    }

    /** Returns the number of goroutines that wait: all goroutines that are in none of the other states. */
    long waiting() {
        return Math.max(0, goroutines - running - notInGo - runnable);
    }

    static double seconds(long nanos) {
        return nanos / NANOS;
    }

    /** Returns the sum of a P's number over all Ps. */
    long sum(ToLongFunction<Long> ofP) {
        return Arrays.stream(procs).mapToLong(pr -> ofP.applyAsLong(pr.pp)).sum();
    }

    long sum(LongField ofP) {
        return sum(ofP::getOpaque);
    }

    /** Returns the sum of an M's counter over all Ms. */
    long sumOfMs(LongField ofM) {
        return Arrays.stream(s.machines()).mapToLong(m -> ofM.getOpaque(m.mp)).sum();
    }

    long[] byP(ToLongFunction<Long> ofP) {
        return Arrays.stream(procs).mapToLong(pr -> ofP.applyAsLong(pr.pp)).toArray();
    }

    long[] queues() {
        return byP(Reading::queued);
    }

    long[][] stolen() {
        long[][] n = new long[procs.length][];
        for (int thief = 0; thief < n.length; thief++) {
            n[thief] = new long[PStat.NSTEALOK.getOpaque(procs[thief].pp) == 0 ? 0 : n.length];
            for (int victim = 0; victim < n[thief].length; victim++) {
                n[thief][victim] = PStat.stolenFrom(procs[thief].pp, victim);
            }
        }
        return n;
    }

    /** Returns the number of Gs that were stolen between Ps of this distance; 0 when Ps are not placed. */
    long stolenOver(Places.Distance distance) {
        if (stolenOver == null) {
            long[] n = new long[Places.DISTANCES];
            Places places = s.placement().places();
            long[][] stolen = stolen();
            for (int thief = 0; places != null && thief < stolen.length; thief++) {
                for (int victim = 0; victim < stolen[thief].length; victim++) {
                    n[places.between(thief, victim).ordinal()] += stolen[thief][victim];
                }
            }
            stolenOver = n;
        }
        return stolenOver[distance.ordinal()];
    }

    Histogram histogram(Buckets ofP) {
        long[] counts = new long[Buckets.N];
        for (Processor pr : procs) {
            ofP.addTo(pr.pp, counts);
        }
        return new Histogram(counts, BOUNDS.clone());
    }

    Histogram ofScheduler(Buckets b) {
        long[] counts = new long[Buckets.N];
        b.addTo(s.sched, counts);
        return new Histogram(counts, BOUNDS.clone());
    }
}
