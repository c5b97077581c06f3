// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.trace;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

import org.gmp4j.bench.trace.TraceFile.Event;

/** A trace as text, an event a line: microseconds since its beginning, the lane, what happened. */
final class TraceText implements TraceFile.Visitor {
    private final PrintWriter out;
    private final Map<Long, String> lanes = new HashMap<>();
    private final long begin;

    /** {@code begin} is the least time of the events, which are not all in the order of time: see {@link Begin}. */
    private TraceText(PrintWriter out, long begin) {
        this.out = out;
        this.begin = begin;
    }

    /** Prints a whole file. */
    static void print(Path file, PrintWriter out) throws IOException {
        Begin begin = new Begin();
        TraceFile.read(file, begin);
        TraceFile.read(file, new TraceText(out, begin.least));
    }

    /** Looks for the earliest event. That of a goroutine older than the trace stands where the file first tells of the goroutine. */
    private static final class Begin implements TraceFile.Visitor {
        private long least = Long.MAX_VALUE;

        @Override
        public void track(long uuid, long parent, String name) {
            // Has no time.
        }

        @Override
        public void event(Event e) {
            least = Math.min(least, e.nanos);
        }
    }

    @Override
    public void track(long uuid, long parent, String name) {
        lanes.put(uuid, name);
    }

    @Override
    public void event(Event e) {
        out.printf(Locale.ROOT, "%14.3f  %-40s %-8s", (e.nanos - begin) / 1e3, lanes.getOrDefault(e.track, "?"),
                e.type.name().toLowerCase(Locale.ROOT));
        if (e.type == TraceFile.Type.COUNTER) {
            out.print(e.counter);
        } else {
            out.print(e.name);
        }
        e.values.forEach((k, v) -> out.print(" " + k + "=" + v));
        if (e.flow != 0) {
            out.print(" arrow=" + Long.toHexString(e.flow));
        }
        out.println();
    }
}
