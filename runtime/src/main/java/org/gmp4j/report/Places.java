// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;

import org.gmp4j.print.Frames;
import org.jspecify.annotations.Nullable;

/**
 * The places in code that a profile has found, with counts. Labels whose values differ each time, such as the number of a request, make a
 * new place each time. So at most {@value #MOST} places are kept, and all others are counted together at {@link #OTHERS}. One thread adds
 * places, and any thread may read them.
 */
public final class Places {
    /** The greatest number of places, without {@link #OTHERS}. */
    static final int MOST = 4_096;
    /** Stands for all places for which there is no room. */
    public static final Place OTHERS = new Place(List.of(Frames.OTHERS), Map.of());

    private final Map<Place, Count> found = new ConcurrentHashMap<>();
    private final Count others = new Count();

    /** A place in code, innermost frame first, with the goroutine's labels. */
    public record Place(List<StackTraceElement> frames, Map<String, String> labels) {
    }

    /** The counts of a place. */
    public static final class Count {
        private final LongAdder number = new LongAdder();
        private final LongAdder nanos = new LongAdder();

        private Count() {
        }

        /** Returns the number of samples or waits. */
        public long number() {
            return number.sum();
        }

        /** Returns the total time, ns. */
        public long nanos() {
            return nanos.sum();
        }
    }

    Places() {
    }

    /**
     * Adds to the counts of a place.
     *
     * @param labels the goroutine's labels; null for none
     */
    void add(List<StackTraceElement> frames, @Nullable Map<String, String> labels, long number, long nanos) {
        Place place = new Place(frames, labels == null ? Map.of() : labels);
        Count c = found.get(place);
        if (c == null && found.size() < MOST) {
            c = new Count();
            found.put(place, c);
        } else if (c == null) {
            c = others;
        }
        c.number.add(number);
        c.nanos.add(nanos);
    }

    /** Passes all places, with their counts, to {@code each}. {@link #OTHERS} is the last, if anything was counted there. */
    public void forEach(BiConsumer<Place, Count> each) {
        found.forEach(each);
        if (others.nanos() != 0) {
            each.accept(OTHERS, others);
        }
    }
}
