// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

import org.gmp4j.Gmp;
import org.gmp4j.SpinPolicy;
import org.gmp4j.bench.measure.IdleCpu;
import org.gmp4j.bench.measure.Others;
import org.gmp4j.bench.measure.Rings;
import org.gmp4j.bench.report.MachineInfo;

/** Takes all the samples: the steals first, then policy by policy what needs a scheduler with that policy. */
final class Measurement {
    /** Time for warm-up, in all: a quarter for the steals, half for many quick turns, a quarter with the policies. */
    private static final long MOST_WARM_UP = 1_500_000_000L;

    /** Warm-up comes in this many bursts, and more while the JIT answers each with more than so many milliseconds. */
    private static final int BURSTS = 3;

    private static final int QUIET_MILLIS = 40;
    private static final int MOST_BURSTS = 8;

    /** With the pauses for the JIT it may take so many times as long. */
    private static final int MOST_WARM_UPS = 6;

    /** The JIT has finished when its clock has stood still for so many pauses. */
    private static final int DRAINED = 3;

    private static final long DRAIN_NANOS = 10_000_000L;

    /** Idle CPU is watched for one part in so many of the whole time. */
    private static final int IDLE_SHARE = 20;

    private static final long MOST_IDLE = 1_000_000_000L;
    private static final long LEAST_IDLE = 50_000_000L;

    /** So many runs are taken again because others disturbed them. */
    static final int MOST_REPEATED = 6;

    /** The beginning of each run is dropped: one part in so many. */
    private static final int SETTLE_SHARE = 10;

    private static final long MOST_SETTLE = 20_000_000L;

    private final Settings settings;
    private final Progress progress;
    private final List<Result> results = new ArrayList<>();
    private final List<IdleCpu> idle = new ArrayList<>();
    private final Others others = new Others(MOST_REPEATED);
    private final long idleNanos;
    private final long warmUpNanos;
    private long warmedUpNanos;
    private Clock clock;
    private Floor pushpop;
    private int ownerCpu;
    private int thiefCpu;

    /** What the runs that are to come may still take. */
    private long nanosLeft;

    private int runsLeft;

    Measurement(Settings settings, Progress progress) {
        this.settings = settings;
        this.progress = progress;
        warmUpNanos = Math.min(MOST_WARM_UP, settings.nanos() / 2);
        idleNanos = Math.clamp(settings.nanos() / IDLE_SHARE, LEAST_IDLE, MOST_IDLE);
        nanosLeft = Math.max(
                settings.nanos() / 2,
                settings.nanos() - (settings.spins().size() + 1) * idleNanos);
        runsLeft = Run.steals().size();
        settings.spins().forEach(spin -> runsLeft += Run.of(spin).size());
        progress.runs(runsLeft);
    }

    /**
     * Takes them.
     *
     * @throws IllegalStateException when something cannot be measured here, in one sentence
     */
    Report run() throws InterruptedException {
        clock = Clock.measure();
        try (Gmp gmp = scheduler(settings, SpinPolicy.go());
                Rings rings = new Rings()) {
            steals(gmp, rings);
        }
        try (Gmp gmp = scheduler(settings, SpinPolicy.busy())) {
            warmUp(gmp, warmUpNanos / 2); // Many turns in little time.
        }
        for (SpinPolicy spin : settings.spins()) {
            try (Gmp gmp = scheduler(settings, spin)) {
                wakes(gmp, spin);
                idle.add(IdleCpu.measure(spin, idleNanos));
            }
        }
        idle.addFirst(IdleCpu.measure(null, idleNanos)); // At the end: the JIT has nothing left to do.
        progress.done();
        return new Report(
                MachineInfo.here(), settings, clock, ownerCpu, thiefCpu, warmedUpNanos, pushpop, results, idle,
                others.summary());
    }

    /** Makes a scheduler with these settings, as the runs use it. */
    static Gmp scheduler(Settings settings, SpinPolicy spin) {
        return Gmp.builder()
                .procs(settings.procs())
                .affinity(settings.affinity())
                .spin(spin)
                .build();
    }

    private void steals(Gmp gmp, Rings rings) {
        SameCpuSteal same = new SameCpuSteal(rings, clock);
        OtherCpuSteal other = new OtherCpuSteal(rings, clock);
        List<Run> runs = Run.steals();
        untilCompiled(warmUpNanos / 4, nanos -> {
            for (Run run : runs) {
                gmp.run(() -> steal(same, other, run, Samples.warmUp(nanos / runs.size())));
            }
            gmp.run(same::pushpop);
        });
        gmp.run(() -> pushpop = same.pushpop());
        for (Run run : runs) {
            measure(run, samples -> {
                Floor[] floor = new Floor[1];
                gmp.run(() -> floor[0] = steal(same, other, run, samples));
                return floor[0];
            });
        }
        ownerCpu = other.ownerCpu();
        thiefCpu = other.thiefCpu();
    }

    private static Floor steal(SameCpuSteal same, OtherCpuSteal other, Run run, Samples samples) {
        if (run.otherCpu()) {
            other.run(run.batch(), samples);
            return null;
        }
        return same.steals(run.batch(), samples);
    }

    private void warmUp(Gmp gmp, long nanos) {
        untilCompiled(nanos, part -> {
            for (long gap : new long[] {0, 1_000}) {
                gmp.run(() -> new Wake().sample(gap, Samples.warmUp(part / 4)));
                gmp.run(() -> new Handoff().sample(gap, Samples.warmUp(part / 4)));
            }
        });
    }

    /** Does it in bursts until the JIT has nothing more to do with it, but not for ever. */
    private void untilCompiled(long nanos, LongConsumer warmUp) {
        long start = System.nanoTime();
        for (int i = 0; i < MOST_BURSTS; i++) {
            long before = jitMillis();
            warmUp.accept(nanos / BURSTS);
            boolean quiet = drainJit() - before <= QUIET_MILLIS;
            if (quiet && i >= BURSTS - 1 || System.nanoTime() - start > MOST_WARM_UPS * nanos) {
                break;
            }
        }
        warmedUpNanos += System.nanoTime() - start;
    }

    private static long jitMillis() {
        return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
    }

    /** Leaves the CPUs to the JIT until it has compiled what it wants to. */
    private static long drainJit() {
        long last = jitMillis();
        for (int quiet = 0; quiet < DRAINED; quiet++) {
            LockSupport.parkNanos(DRAIN_NANOS);
            long now = jitMillis();
            if (now != last) {
                last = now;
                quiet = -1;
            }
        }
        return last;
    }

    private void wakes(Gmp gmp, SpinPolicy spin) {
        warmUp(gmp, warmUpNanos / 4 / settings.spins().size());
        for (Run run : Run.of(spin)) {
            measure(run, samples -> {
                if (run.kind() == Run.Kind.WAKE) {
                    gmp.run(() -> new Wake().sample(run.gapNanos(), samples));
                } else {
                    gmp.run(() -> new Handoff().sample(run.gapNanos(), samples));
                }
                return null;
            });
        }
    }

    /** Fills samples, and returns what C took for the same, if it was asked. */
    @FunctionalInterface
    private interface Sampler {
        Floor fill(Samples samples);
    }

    /** Measures one run, in a fair share of the time that is left. */
    private void measure(Run run, Sampler sampler) {
        progress.next(run);
        long share = nanosLeft / runsLeft;
        others.begin();
        long start = System.nanoTime();
        Result result = take(run, sampler, share);
        long took = System.nanoTime() - start; // A repetition takes from no other run.
        if (others.again()) {
            Result second = take(run, sampler, share);
            result = others.better() ? second : result;
        }
        results.add(result);
        nanosLeft = Math.max(0, nanosLeft - took);
        runsLeft--;
    }

    private Result take(Run run, Sampler sampler, long share) {
        int operations = run.kind() == Run.Kind.STEAL && !run.otherCpu() ? Rings.ROUND : 1;
        Samples samples = new Samples(
                operations, settings.samples(), Math.min(MOST_SETTLE, share / SETTLE_SHARE), share);
        Floor floor = sampler.fill(samples);
        return samples.result(run, floor);
    }
}
