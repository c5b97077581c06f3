// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.trace;

import java.io.PrintWriter;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

import org.gmp4j.bench.trace.TraceFile.Event;

/** A trace as text, an event a line: microseconds since its beginning, the lane, what happened. */
final class TraceText implements TraceFile.Visitor {
    private final PrintWriter out;
    private final Map<Long, String> lanes = new HashMap<>();
    private long first = -1;

    TraceText(PrintWriter out) {
        this.out = out;
    }

    @Override
    public void track(long uuid, long parent, String name) {
        lanes.put(uuid, name);
    }

    @Override
    public void event(Event e) {
        if (first < 0) {
            first = e.nanos;
        }
        out.printf(Locale.ROOT, "%14.3f  %-40s %-8s", (e.nanos - first) / 1e3, lanes.getOrDefault(e.track, "?"),
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
