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
 * Merges the events of all rings into one sequence. The events of one ring are in order. Events of different rings are ordered by their
 * time stamps, which may be wrong by some hundred nanoseconds ({@code ffi.Ticks}). So the event with the least time stamp may be
 * impossible, for example a goroutine's start while the goroutine still waits. Then a possible event of another ring, with a time stamp
 * not much later, is put first. Go numbers the events of each goroutine instead, but here a goroutine has no fields for the tracer.
 */
final class Merge {
    /** A possible event is put before an impossible event only if the possible one's time stamp is at most this much later, ns. */
    private static final long SLACK = 5_000;

    /** Receives the events, one at a time. */
    interface Sink {
        /** Returns whether the event is possible after the events that the sink has received. */
        boolean ready(int ring, int kind, long goid);

        /**
         * Receives the next event, which is in {@code words} at {@code at}.
         *
         * @param nanos the time since the trace began, ns, which never decreases from event to event
         */
        void event(long nanos, int ring, MemorySegment words, long at) throws IOException;
    }

    /** One ring, with the current place in it. */
    private final class Stream {
        private final int ring;
        private final List<Piece> pieces = new ArrayList<>();
        private int piece;
        @SuppressWarnings("NullAway.Init") // Set by advance.
        private MemorySegment words;
        private long at;
        private long next;
        private long nanos;
        private int kind;
        private long goid;

        Stream(int ring) {
            this.ring = ring;
        }

        /** Moves to the next event, at first to the first one. Returns false if there is none. */
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

    /** Passes to the sink the events that are not earlier than {@code since}, ns. Returns their number. */
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

    @SuppressWarnings("NullAway") // There is at least one stream.
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
