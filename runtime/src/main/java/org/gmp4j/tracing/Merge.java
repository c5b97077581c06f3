// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.tracing;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.gmp4j.events.Ev;

/**
 * Puts the events of all rings in order. Each ring is in order by itself. Between them the clock decides, which may be off by some hundred
 * nanoseconds ({@code ffi.Ticks}): an event that cannot be next, such as the start of a goroutine that still waits, lets others go before
 * it that are not much later. Go numbers the events of each goroutine for that; here no goroutine carries anything for the tracer.
 */
final class Merge {
    /** So many nanoseconds others may be later. */
    private static final long SLACK = 5_000;

    /** Takes the events, one by one. */
    interface Sink {
        /** Whether it can be next. */
        boolean ready(int ring, int kind, long goid);

        /**
         * It is next. The event stands in {@code words} at {@code at}.
         *
         * @param nanos when, since the trace began; never less than the last
         */
        void event(long nanos, int ring, MemorySegment words, long at) throws IOException;
    }

    /** One ring, and where in it we are. */
    private final class Stream {
        private final int ring;
        private final List<Piece> pieces = new ArrayList<>();
        private int piece;
        @SuppressWarnings("NullAway.Init") // See advance.
        private MemorySegment words;
        private long at;
        private long next;
        private long nanos;
        private int kind;
        private long goid;

        Stream(int ring) {
            this.ring = ring;
        }

        /** To the first or next event; false when there is none. */
        boolean advance() {
            at = next;
            while (words == null || at == words.byteSize()) {
                if (piece == pieces.size()) {
                    return false;
                }
                words = pieces.get(piece++).words();
                at = 0;
            }
            long head = words.get(JAVA_LONG, at);
            long word = words.get(JAVA_LONG, at + Long.BYTES);
            kind = Ev.kind(head);
            goid = Ev.number(word);
            nanos = Math.max(nanos, (long) (Ev.ticks(head) * nanosPerTick));
            next = at + (long) Ev.words(kind, word) * Long.BYTES;
            return true;
        }
    }

    private final List<Stream> streams;
    private final double nanosPerTick;

    Merge(List<Piece> pieces, double nanosPerTick) {
        this.nanosPerTick = nanosPerTick;
        Map<Integer, Stream> byRing = new TreeMap<>();
        for (Piece p : pieces) {
            byRing.computeIfAbsent(p.ring(), Stream::new).pieces.add(p);
        }
        streams = new ArrayList<>(byRing.values());
    }

    /** All of them from {@code since} on; returns how many. */
    long run(long since, Sink sink) throws IOException {
        streams.removeIf(s -> !s.advance());
        long n = 0;
        long last = since;
        while (!streams.isEmpty()) {
            Stream s = next(sink);
            if (s.nanos >= since) {
                last = Math.max(last, s.nanos);
                sink.event(last, s.ring, s.words, s.at);
                n++;
            }
            if (!s.advance()) {
                streams.remove(s);
            }
        }
        return n;
    }

    @SuppressWarnings("NullAway") // There is one.
    private Stream next(Sink sink) {
        Stream first = null;
        for (Stream s : streams) {
            if (first == null || s.nanos < first.nanos) {
                first = s;
            }
        }
        if (sink.ready(first.ring, first.kind, first.goid)) {
            return first;
        }
        Stream other = null;
        for (Stream s : streams) {
            if (s != first && s.nanos <= first.nanos + SLACK && (other == null || s.nanos < other.nanos)
                    && sink.ready(s.ring, s.kind, s.goid)) {
                other = s;
            }
        }
        return other == null ? first : other;
    }
}
