// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.gmp4j.events.Places;
import org.gmp4j.events.WaitProfile;

/**
 * The places where goroutines spent time: on a CPU, waiting, or holding a lock for which other goroutines waited. Immutable.
 *
 * <p>Source: the profiles {@code cpu}, {@code block} and {@code mutex} of Go's {@code runtime/pprof}. The types and units are Go's.
 */
public final class Profile {
    /**
     * A place in the program.
     *
     * @param frames the frames, innermost first, without those of the runtime
     * @param labels the goroutine's labels, set by {@link Labels}
     * @param count the number of samples in a CPU profile; in other profiles the number of waits, an estimate if not all waits are sampled
     * @param nanos the total time, ns
     */
    public record Sample(List<StackTraceElement> frames, Map<String, String> labels, long count, long nanos) {
    }

    private final String kind;
    private final String counted;
    private final String timed;
    private final long period;
    private final List<Sample> samples;

    Profile(String kind, String counted, String timed, long period, List<Sample> samples) {
        this.kind = kind;
        this.counted = counted;
        this.timed = timed;
        this.period = period;
        this.samples = samples.stream().sorted(Comparator.comparingLong(Sample::nanos).reversed()).toList();
    }

    /** Makes a profile of waits. Users call {@code Gmp.blockProfile()} or {@code Gmp.mutexProfile()}. */
    @SuppressWarnings("exports")
    public Profile(String kind, WaitProfile waits) {
        this(kind, samples(waits.all()));
    }

    /** Makes a profile of these waits. */
    Profile(String kind, List<Sample> waits) {
        this(kind, "contentions", "delay", 1, waits);
    }

    /** Returns a sample for each of these places, in a new list. */
    static List<Sample> samples(Places places) {
        List<Sample> samples = new ArrayList<>();
        places.forEach((p, c) -> samples.add(
                new Sample(p.frames(), Map.copyOf(p.labels()), Math.round(c.number()), Math.round(c.nanos()))));
        return samples;
    }

    /** Returns the samples, in descending order of their times. */
    public List<Sample> samples() {
        return samples;
    }

    /** Returns the total time at all places, ns. */
    public long nanos() {
        return samples.stream().mapToLong(Sample::nanos).sum();
    }

    /** Returns the text: each place with its count, its time and its frames. */
    @Override
    public String toString() {
        StringBuilder b = new StringBuilder(kind).append(" profile\n");
        for (Sample s : samples) {
            b.append('\n').append(s.count).append(' ').append(counted).append(", ").append(s.nanos).append(" ns:\n");
            if (!s.labels.isEmpty()) {
                b.append("\tlabels: ").append(new TreeMap<>(s.labels)).append('\n');
            }
            s.frames.forEach(e -> b.append('\t').append(e).append('\n'));
        }
        return b.toString();
    }

    /**
     * Writes the profile in the format of pprof, for {@code go tool pprof} and other readers.
     *
     * @throws IOException when the file cannot be written
     */
    public void write(Path file) throws IOException {
        Path _ = Files.write(file, pprof());
    }

    /** Returns the profile in the format of pprof: {@code profile.proto}, compressed by gzip. */
    public byte[] pprof() {
        Pprof p = new Pprof(period, counted, "count", timed, "nanoseconds");
        samples.forEach(s -> p.add(s.frames, new TreeMap<>(s.labels), s.count, s.nanos));
        return p.bytes();
    }
}
