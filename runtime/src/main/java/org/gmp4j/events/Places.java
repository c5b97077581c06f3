// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

import org.gmp4j.print.Frames;
import org.jspecify.annotations.Nullable;

/**
 * The places in code that a profile has found, with counts. Labels whose values differ each time, such as the number of a request, make a
 * new place each time. So at most {@value #MOST} places are kept, and all others are counted together at {@link #OTHERS}. One thread
 * at a time adds places, and any thread may read them.
 */
public final class Places {
    /** The greatest number of places, without {@link #OTHERS}. */
    static final int MOST = 4_096;
    /** Stands for all places for which there is no room. */
    static final Place OTHERS = new Place(List.of(Frames.OTHERS), Map.of());

    private final Map<Place, Count> found = new ConcurrentHashMap<>();
    /** The counts of {@link #OTHERS}; null when nothing was counted there. */
    private volatile @Nullable Count others;

    /** A place in code, innermost frame first, without the frames of the runtime, and with the goroutine's labels. */
    public record Place(List<StackTraceElement> frames, Map<String, String> labels) {
    }

    /** The number of samples or waits at a place, and their total time, ns. They are estimates if a sample stands for several waits. */
    public record Count(double number, double nanos) {
    }

    /**
     * Adds to the counts of a place.
     *
     * @param labels the goroutine's labels; null for none
     */
    public void add(List<StackTraceElement> frames, @Nullable Map<String, String> labels, double number, double nanos) {
        Place place = new Place(frames, labels == null ? Map.of() : labels);
        Count c = found.get(place);
        if (c != null || found.size() < MOST) {
            found.put(place, sum(c, number, nanos));
        } else {
            others = sum(others, number, nanos);
        }
    }

    private static Count sum(@Nullable Count c, double number, double nanos) {
        return c == null ? new Count(number, nanos) : new Count(c.number + number, c.nanos + nanos);
    }

    /** Passes all places, with their counts, to {@code each}. {@link #OTHERS} is the last, if anything was counted there. */
    public void forEach(BiConsumer<Place, Count> each) {
        found.forEach(each);
        Count rest = others;
        if (rest != null) {
            each.accept(OTHERS, rest);
        }
    }
}
