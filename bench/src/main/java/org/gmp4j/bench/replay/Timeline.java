// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;

import org.gmp4j.tracing.Perfetto;

/** Writes the steps of a run as a timeline for Perfetto: a track for each lane, and a microsecond for each step. */
final class Timeline {
    private static final long STEP_NANOS = 1_000;

    private Timeline() {
    }

    /** Returns the file of a run with a trace. Each stay of a lane is a slice, in which each step is one, and the failure is an event. */
    static byte[] of(Run run) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Perfetto out = new Perfetto(bytes);
        for (int i = 0; i < run.count; i++) {
            out.track(i + 1, 0, run.lanes[i].name, false);
        }
        List<Trace.Step> steps = run.trace.steps();
        for (int i = 0; i < steps.size(); i++) {
            Trace.Step step = steps.get(i);
            long track = step.lane + 1;
            if (i == 0 || steps.get(i - 1).lane != step.lane) {
                out.begin(track, run.lanes[step.lane].name).put(i * STEP_NANOS);
            }
            out.begin(track, step.text()).put(i * STEP_NANOS);
            out.end(track).put((i + 1) * STEP_NANOS);
            if (i + 1 == steps.size() || steps.get(i + 1).lane != step.lane) {
                out.end(track).put((i + 1) * STEP_NANOS);
            }
        }
        if (run.failure != null) {
            long track = steps.isEmpty() ? 1 : steps.getLast().lane + 1;
            out.message(track, run.failure.text()).put(steps.size() * STEP_NANOS);
        }
        return bytes.toByteArray();
    }
}
