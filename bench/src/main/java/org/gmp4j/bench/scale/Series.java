// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.scale;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** What is measured against its size, and how its cost should grow. */
enum Series {
    YIELD("procs", "gosched, 4 goroutines a P", 0, Loads::yields),
    SPAWN("procs", "start, run, end", 0, Loads::spawns),
    PASS("procs", "unbuffered pass, a pair a P", 0, Loads::passes),
    ROUND("goroutines", "gosched", 0, Loads::round),
    RING("goroutines", "a token's hop in a ring of channels", 0, Loads.Ring::new),
    CREATE("timers", "make one more and stop it", 0, Loads::timers),
    RESET("timers", "reset any", 0, Loads::resets),
    CHANNELS("channels", "send and receive, each in turn", 0, Loads::channels),
    SELECT("channels", "select, the last one ready", 1, Loads::select),
    RECEIVERS("queues", "hand a value to the first of a channel", 0, Loads::receivers),
    LOCKERS("queues", "hand a mutex to the first", 0, Loads::lockers),
    GLOBAL("queues", "start, wait in the global queue, run, end", 0, Loads::global);

    static final List<String> GROUPS = List.of("procs", "goroutines", "timers", "channels", "queues");
    private static final int CPUS = Runtime.getRuntime().availableProcessors();
    private static final int MOST_PROCS = Math.max(64, 4 * CPUS);
    private static final int MOST_TIMERS = 1_000_000;
    private static final int MOST_OTHERS = 100_000;
    private static final int MOST_CASES = 1_000;

    /** Off the heap, for a goroutine and what it waits for. */
    private static final int NATIVE_BYTES = 500;

    final String group;
    final String title;

    /** The exponent that the mechanism should have. */
    final double expected;
    final IntFunction<Load> load;

    Series(String group, String title, double expected, IntFunction<Load> load) {
        this.group = group;
        this.title = title;
        this.expected = expected;
        this.load = load;
    }

    /** Bytes of heap for the size, and what the collector needs. */
    long heap(int size) {
        return (this == ROUND ? 1_400L : 2_000L) * size; // A goroutine; with a channel.
    }

    /** Bytes of memory that so many goroutines want, on and off the heap; 0 for the rest, which is fewer. */
    long memory(int size) {
        return group.equals("goroutines") ? heap(size) + (long) NATIVE_BYTES * size : 0;
    }

    /** Powers of 2 of Ps, decades of all else, of goroutines {@code max} too; none above it, none that wants more memory. */
    List<Integer> sizes(int max, long memory) {
        int most = Math.min(max, switch (group) {
            case "procs" -> MOST_PROCS;
            case "goroutines" -> max;
            case "timers" -> MOST_TIMERS;
            default -> this == SELECT ? MOST_CASES : MOST_OTHERS;
        });
        int factor = group.equals("procs") ? 2 : 10;
        List<Integer> sizes = new ArrayList<>();
        for (long n = group.equals("procs") || this == SELECT ? 1 : 10; n <= most; n *= factor) {
            sizes.add((int) n);
        }
        if (group.equals("goroutines") && sizes.getLast() < max) {
            sizes.add(max);
        }
        sizes.removeIf(n -> memory(n) > memory);
        return sizes;
    }

    /** Returns the size from which the cost should grow so: more Ps than CPUs share them, and a select has a cost of its own. */
    int from() {
        return group.equals("procs") ? CPUS : 10;
    }

    /** Returns a note for readers of the table. */
    static String note(String group) {
        return switch (group) {
            case "procs" -> "Wall time falls with each P up to the number of CPUs; from there on it and the CPU time should "
                    + "be constant: exponents are taken from there.";
            case "goroutines" -> "On 1 P. Constant, but for the caches: each switch touches another stack, and the "
                    + "collector moves them.";
            case "timers" -> "On 1 P. A heap of 4 children a node: O(log n), an exponent of 0.1 or less, and the caches.";
            case "channels" -> "On 1 P. A select looks at all its cases, Go's too: linear, from 10 on.";
            default -> "On 1 P. Each waits in a list, so the first is found at once.";
        };
    }
}
