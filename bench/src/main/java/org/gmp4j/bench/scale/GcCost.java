// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.scale;

import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import org.HdrHistogram.Histogram;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.sync.WaitGroup;

/** What the collectors make of switches, parked goroutines and wake-ups; two JVMs each. */
final class GcCost {
    private static final Map<String, String> COLLECTORS = new LinkedHashMap<>();

    static {
        COLLECTORS.put("G1", "-XX:+UseG1GC");
        COLLECTORS.put("ZGC", "-XX:+UseZGC");
        COLLECTORS.put("Parallel", "-XX:+UseParallelGC");
        COLLECTORS.put("Serial", "-XX:+UseSerialGC");
    }

    /** For switches and wake-ups: small, so that there are collections. */
    private static final String HEAP = "-Xmx512m";

    /** For parked ones: what is free goes back to the system. */
    private static final List<String> TRIM =
            List.of("-XX:MinHeapFreeRatio=5", "-XX:MaxHeapFreeRatio=10", "-XX:ZUncommitDelay=1");

    /** Few enough for the caches, so that it is the collector that one sees. */
    private static final int SWITCHING = 1_000;
    private static final int ROUNDS = 8;
    private static final int PARKED = 200_000;
    private static final int COLLECTIONS = 4;
    private static final long UNCOMMIT_MILLIS = 3_000;

    private static final int BESIDE = 100_000;
    private static final long GAP = 200_000;
    private static final int ARRAY = 16 << 10;
    private static final int ARRAYS_A_MILLI = 128;
    private static final int KEPT = 2048;

    private static volatile boolean stop;
    private static volatile long woken;

    private GcCost() {
    }

    /** A figure of the table; the names are the protocol. */
    enum Figure {
        YIELD("gosched, 1,000 in turns", "ns"),
        YIELD_FIRST("  first round after promotion", "ns"),
        YIELD_LATER("  later rounds", "ns"),
        PASS("unbuffered pass, ring of 1,000", "ns"),
        PASS_FIRST("  first round after promotion", "ns"),
        PASS_LATER("  later rounds", "ns"),
        RESIDENT("parked goroutine, resident", "bytes"),
        HEAP("parked goroutine, of it heap in use", "bytes"),
        WAKE_P50("wake on another P, p50", "ns"),
        WAKE_P99("  p99", "ns"),
        WAKE_MAX("  longest", "ns"),
        BUSY_P50("  while another thread allocates, p50", "ns"),
        BUSY_P99("  p99", "ns"),
        BUSY_MAX("  longest", "ns"),
        BUSY_COLLECTIONS("  collections meanwhile", "count");

        final String title;
        final String unit;

        Figure(String title, String unit) {
            this.title = title;
            this.unit = unit;
        }
    }

    /** Measures all figures by collector. */
    static Map<String, Map<Figure, Double>> measure(double seconds, int max) throws IOException, InterruptedException {
        Map<String, Map<Figure, Double>> all = new LinkedHashMap<>();
        for (Map.Entry<String, String> collector : COLLECTORS.entrySet()) {
            Map<Figure, Double> figures = new EnumMap<>(Figure.class);
            for (String what : List.of("time", "memory")) {
                List<String> options = new ArrayList<>(List.of(collector.getValue()));
                options.addAll(what.equals("time") ? List.of(HEAP) : TRIM);
                Jvm.run(options, GcCost.class, line -> {
                    String[] f = line.split(" ");
                    figures.put(Figure.valueOf(f[0]), Double.parseDouble(f[1]));
                }, what, Double.toString(seconds), Integer.toString(max));
            }
            all.put(collector.getKey(), figures);
        }
        return all;
    }

    // ---- in the JVM

    /** Arguments: time or memory, seconds a figure, most goroutines. */
    public static void main(String[] args) throws Exception {
        long nanos = (long) (Double.parseDouble(args[1]) * 1e9);
        int max = Integer.parseInt(args[2]);
        if (args[0].equals("memory")) {
            memory(Math.min(PARKED, max), nanos);
        } else {
            yields(Math.min(SWITCHING, max), nanos);
            passes(Math.min(SWITCHING, max), nanos);
            wakes(Math.min(BESIDE, max), nanos);
        }
    }

    private static void print(Figure figure, double value) {
        System.out.println(figure + " " + value);
    }

    /** Prints a figure before promotion, the first after it, and one later. */
    private static void print(Figure before, List<double[]> young, List<double[]> promoted) {
        Figure[] all = Figure.values();
        print(before, Estimate.median(young.stream().mapToDouble(GcCost::later).toArray()));
        print(all[before.ordinal() + 1], Estimate.median(promoted.stream().mapToDouble(r -> r[0]).toArray()));
        print(all[before.ordinal() + 2], Estimate.median(promoted.stream().mapToDouble(GcCost::later).toArray()));
    }

    private static double later(double[] rounds) {
        return Estimate.median(Arrays.copyOfRange(rounds, 1, rounds.length));
    }

    /** Collects twice, so that the stacks are in the old generation: one collection may move them only on their way there. */
    private static void promote() {
        System.gc();
        System.gc();
    }

    private static void yields(int n, long nanos) {
        try (Gmp gmp = Gmp.builder().procs(1).build()) {
            warmUp(nanos, () -> yields(gmp, n, false));
            List<double[]> young = repeat(nanos, () -> yields(gmp, n, false));
            print(Figure.YIELD, young, repeat(nanos, () -> yields(gmp, n, true)));
        }
    }

    /** Something that gives nanoseconds a switch by round. */
    private interface Rounds {
        double[] measure();
    }

    private static void warmUp(long nanos, Rounds rounds) {
        for (int i = 0; i < Scaling.BURSTS; i++) {
            List<double[]> _ = repeat(nanos / 2, rounds);
            Scaling.letJitFinish(nanos);
        }
    }

    /** Repeats the rounds at least 3 times. */
    private static List<double[]> repeat(long nanos, Rounds rounds) {
        List<double[]> all = new ArrayList<>();
        long end = System.nanoTime() + nanos;
        while (all.size() < 3 || System.nanoTime() - end < 0) {
            all.add(rounds.measure());
        }
        return all;
    }

    private static double[] yields(Gmp gmp, int n, boolean promote) {
        LongChan gate = LongChan.make();
        WaitGroup all = new WaitGroup();
        gmp.run(() -> {
            for (int i = 0; i < n; i++) {
                all.go(() -> {
                    gate.recv();
                    for (int r = 0; r < ROUNDS; r++) {
                        Go.gosched();
                    }
                });
            }
            Go.gosched(); // They have run, and wait.
        });
        if (promote) {
            promote();
        }
        double[] rounds = new double[ROUNDS];
        gmp.run(() -> {
            gate.close();
            for (int r = 0; r < ROUNDS; r++) {
                long start = System.nanoTime();
                Go.gosched();
                rounds[r] = (System.nanoTime() - start) / (double) n;
            }
            all.await();
        });
        return rounds;
    }

    private static void passes(int n, long nanos) {
        warmUp(nanos, () -> passes(n, false));
        List<double[]> young = repeat(nanos, () -> passes(n, false));
        print(Figure.PASS, young, repeat(nanos, () -> passes(n, true)));
    }

    private static double[] passes(int n, boolean promote) {
        try (Loads.Ring ring = new Loads.Ring(n)) {
            ring.gmp.run(ring::round); // All wait in the loop.
            if (promote) {
                promote();
            }
            double[] rounds = new double[ROUNDS];
            ring.gmp.run(() -> {
                for (int r = 0; r < ROUNDS; r++) {
                    long start = System.nanoTime();
                    int hops = ring.round();
                    rounds[r] = (System.nanoTime() - start) / (double) hops;
                }
            });
            return rounds;
        }
    }

    /** Measures resident bytes after collections, so that garbage does not count. */
    private static void memory(int n, long nanos) throws IOException, InterruptedException {
        try (Gmp gmp = Gmp.builder().procs(1).build()) {
            long end = System.nanoTime() + 2 * nanos;
            do { // Until the compilers are done: interpreted frames are larger.
                LongChan gate = LongChan.make();
                park(gmp, gate, Math.min(n, SWITCHING));
                gate.close();
            } while (System.nanoTime() - end < 0);
            long[] before = settled(n);
            LongChan gate = LongChan.make();
            park(gmp, gate, n);
            long[] after = settled(n);
            print(Figure.RESIDENT, (after[0] - before[0]) / (double) n);
            print(Figure.HEAP, (after[1] - before[1]) / (double) n);
            gate.close();
        }
    }

    private static void park(Gmp gmp, LongChan gate, int n) {
        gmp.run(() -> {
            for (int i = 0; i < n; i++) {
                Go.go(gate::recv);
                if (i % 100 == 0) {
                    Go.gosched();
                }
            }
            Go.gosched();
        });
    }

    /** Bytes resident and heap in use, where {@code n} goroutines are measured. */
    private static long[] settled(int n) throws IOException, InterruptedException {
        for (int i = 0; i < COLLECTIONS; i++) { // Serial leaves some garbage in place but at every fourth.
            System.gc();
        }
        boolean zgc = ManagementFactory.getGarbageCollectorMXBeans().getFirst().getName().startsWith("ZGC");
        if (zgc && n > SWITCHING) { // Fewer are lost in what else comes and goes in any case.
            Thread.sleep(UNCOMMIT_MILLIS);
        }
        return new long[] {resident(), heap()};
    }

    /** Bytes of the process. */
    static long resident() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        throw new IOException("no VmRSS in /proc/self/status");
    }

    /** Bytes in use. */
    static long heap() {
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** Its waker computes on, so it has to run on another P; others are parked, so that the collector has stacks to walk. */
    private static void wakes(int parked, long nanos) throws InterruptedException {
        try (Gmp gmp = Gmp.builder().procs(2).build()) {
            LongChan gate = LongChan.make();
            park(gmp, gate, parked);
            wakes(gmp, nanos, new Histogram(3));
            print(Figure.WAKE_P50, gmp, nanos);
            stop = false;
            Thread allocator = Thread.ofPlatform().start(GcCost::allocate);
            wakes(gmp, nanos, new Histogram(3));
            long before = collections();
            print(Figure.BUSY_P50, gmp, 2 * nanos);
            print(Figure.BUSY_COLLECTIONS, collections() - before);
            stop = true;
            allocator.join();
            gate.close();
        }
    }

    private static void print(Figure p50, Gmp gmp, long nanos) {
        Histogram h = new Histogram(3);
        wakes(gmp, nanos, h);
        Figure[] all = Figure.values();
        print(p50, h.getValueAtPercentile(50));
        print(all[p50.ordinal() + 1], h.getValueAtPercentile(99));
        print(all[p50.ordinal() + 2], h.getMaxValue());
    }

    private static void wakes(Gmp gmp, long nanos, Histogram h) {
        LongChan c = LongChan.make();
        gmp.run(() -> {
            Go.go(() -> {
                for (long sent = c.recv(); sent != 0; sent = c.recv()) {
                    h.recordValue(Math.max(0, System.nanoTime() - sent));
                    woken = sent;
                }
            });
            long end = System.nanoTime() + nanos;
            for (long now = System.nanoTime(); now - end < 0; now = System.nanoTime()) {
                while (System.nanoTime() - now < GAP) {
                    Thread.onSpinWait();
                }
                long sent = System.nanoTime();
                c.send(sent);
                while (woken != sent) {
                    Thread.onSpinWait();
                }
            }
            c.close();
        });
    }

    private static void allocate() {
        byte[][] kept = new byte[KEPT][];
        for (int i = 0; !stop; i = (i + 1) % KEPT) {
            kept[i] = new byte[ARRAY];
            if (i % ARRAYS_A_MILLI == 0) {
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    /** Returns the number of collections. ZGC has beans for its pauses too, which do not count. */
    private static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().filter(b -> !b.getName().contains("Pauses"))
                .mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
    }
}
