// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.measure;

import java.io.IOException;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

import org.gmp4j.affinity.Topology;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.service.Proc;

/**
 * How much of the CPUs others had while something was measured: other processes, interrupts, the hypervisor. A run that they disturbed is
 * measured once more, and the less disturbed one counts:
 *
 * <pre>{@code
 * others.begin();
 * T result = measure();
 * if (others.again()) {
 *     T second = measure();
 *     result = others.better() ? second : result;
 * }
 * }</pre>
 *
 * <p>A repetition that fails is reported by {@link #failed} in place of {@code better}.
 *
 * <p>The kernel counts in steps of 10 ms, so nothing is said of a run that is shorter than {@value #LEAST_SECONDS} s. For one thread.
 */
public final class Others {
    /** A run is disturbed when others had more than so many percent of the CPUs. */
    public static final int DISTURBED = 15;

    static final double LEAST_SECONDS = 0.2;
    private static final double NANOS = 1e9;

    /**
     * What the kernel has counted up to now.
     *
     * @param seconds the time
     * @param busy seconds in which the CPUs did anything, added up
     * @param own CPU seconds of this process, and of its children that have ended
     */
    public record Reading(double seconds, double busy, double own) {
    }

    /**
     * What came out.
     *
     * @param percent the most that others had in a run that counts, in percent of the CPUs; NaN if that is known of no run
     * @param repeated how many runs were measured again
     */
    public record Summary(double percent, int repeated) {
        /** Returns a text for people. */
        public String text() {
            if (Double.isNaN(percent)) {
                return "had a share of the CPUs that is not known: each run was too short, or the kernel does not tell";
            }
            String again = repeated == 1 ? " run was disturbed and repeated" : " runs were disturbed and repeated";
            return "had at most " + Format.decimals(percent, 0) + " % of the CPUs in a run"
                    + (percent > DISTURBED ? ", which is much: measure on a quiet machine" : "")
                    + (repeated == 0 ? "" : "; " + repeated + again);
        }

        /** Returns an object for JSON. An unknown share is null. */
        public Map<String, Object> json() {
            Map<String, Object> o = new LinkedHashMap<>();
            o.put("most_percent", percent);
            o.put("repeated", repeated);
            return o;
        }
    }

    private final int most;
    private final int cpus;
    private final Supplier<Reading> now;
    private Reading from;
    /** The share that other processes had in the last run, and the greatest in a run that counts. NaN if it is not known. */
    private double first;
    private double worst = Double.NaN;
    private int repeated;

    /** Watches the CPUs that this process may use, and has at most {@code most} runs repeated. */
    public Others(int most) {
        this(most, Topology.system().allowed());
    }

    private Others(int most, BitSet cpus) {
        this(most, cpus.cardinality(), () -> read(cpus));
    }

    /** Watches {@code cpus} CPUs, of which {@code now} tells. */
    public Others(int most, int cpus, Supplier<Reading> now) {
        this.most = most;
        this.cpus = cpus;
        this.now = now;
    }

    static Reading read(BitSet cpus) {
        try {
            return new Reading(System.nanoTime() / NANOS, Proc.busy(cpus), Proc.cpuSeconds(ProcessHandle.current().pid()));
        } catch (IOException e) {
            return new Reading(Double.NaN, 0, 0); // Nothing is known of a run that begins or ends with this.
        }
    }

    /** Notes that a run begins. */
    public void begin() {
        from = now.get();
    }

    /** Notes that the run has ended. Returns whether to measure it once more, which begins then. */
    public boolean again() {
        first = percent();
        if (first > DISTURBED && repeated < most) {
            repeated++;
            begin();
            return true;
        }
        counts(first);
        return false;
    }

    /** Notes that the repeated run has ended. Returns whether it counts, and not the first. */
    public boolean better() {
        double second = percent();
        boolean better = second < first;
        counts(better ? second : first);
        return better;
    }

    /** The repeated run has failed: the first counts. */
    public void failed() {
        counts(first);
    }

    private void counts(double percent) {
        worst = percent <= worst || Double.isNaN(percent) ? worst : percent;
    }

    /** Returns the result so far. */
    public Summary summary() {
        return new Summary(worst, repeated);
    }

    /** Returns the share that others have had since the run began; NaN if it is not known. */
    private double percent() {
        Reading r = now.get();
        double seconds = r.seconds - from.seconds;
        double others = r.busy - from.busy - (r.own - from.own);
        return seconds >= LEAST_SECONDS ? Math.clamp(100 * others / (seconds * cpus), 0, 100) : Double.NaN;
    }
}
