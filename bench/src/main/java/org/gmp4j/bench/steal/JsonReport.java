// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.gmp4j.bench.measure.IdleCpu;
import org.gmp4j.bench.report.JsonText;

/**
 * The report for programs. Times are nanoseconds. {@code runs} holds one object a run: kind, spin ({@code none} for
 * steals), gap_ns, batch, samples, p50, p90, p99, p999, p9999, max; for steals {@code victim}; where the same was done
 * in C {@code floor_ns} and {@code ratio}; where there is a gap {@code corrected} for coordinated omission.
 */
final class JsonReport {
    private JsonReport() {
    }

    static String write(Report report) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("machine", report.machine().json());
        all.put("settings", settings(report));
        all.put("others", report.others().json());
        all.put("clock", Map.of("cost_ns", report.clock().costNanos(), "step_ns", report.clock().stepNanos()));
        List<Object> rings = new ArrayList<>();
        rings.add(floor("pushpop", 1, report.pushpop()));
        for (Result r : report.of(Run.Kind.STEAL)) {
            if (r.floor() != null) {
                rings.add(floor(r.run().batch() == 0 ? "probe" : "steal", r.run().batch(), r.floor()));
            }
        }
        all.put("rings", rings);
        all.put("runs", report.results().stream().map(JsonReport::run).toList());
        List<Object> idle = new ArrayList<>();
        for (IdleCpu i : report.idle()) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("spin", i.spinName());
            one.put("cpu_percent", i.percent());
            one.put("nanos", i.nanos());
            idle.add(one);
        }
        all.put("idle", idle);
        return JsonText.of(all);
    }

    private static Map<String, Object> settings(Report report) {
        Settings s = report.settings();
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("procs", s.procs());
        o.put("affinity", s.affinity().toString());
        o.put("owner_cpu", report.ownerCpu());
        o.put("thief_cpu", report.thiefCpu());
        o.put("spin", s.spins().stream().map(Object::toString).toList());
        o.put("samples", s.samples());
        o.put("seconds", s.nanos() / 1e9);
        o.put("warmup_seconds", report.warmUpNanos() / 1e9);
        return o;
    }

    private static Map<String, Object> floor(String operation, int batch, Floor f) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("operation", operation);
        o.put("batch", batch);
        o.put("java_ns", f.javaNanos());
        o.put("floor_ns", f.cNanos());
        o.put("ratio", f.ratio());
        o.put("slices", f.slices());
        return o;
    }

    private static Map<String, Object> run(Result r) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("kind", r.run().kind().toString());
        o.put("spin", r.run().spinName());
        o.put("gap_ns", r.run().gapNanos());
        o.put("batch", r.run().batch());
        o.put("samples", r.samples());
        percentiles(o, r);
        if (r.run().kind() == Run.Kind.STEAL) {
            o.put("victim", r.run().victim());
        }
        if (r.floor() != null) {
            o.put("floor_ns", r.floor().cNanos());
            o.put("ratio", r.floor().ratio());
        }
        if (r.discarded() > 0) {
            o.put("discarded", r.discarded());
        }
        if (r.correctable()) {
            Map<String, Object> corrected = new LinkedHashMap<>();
            corrected.put("interval_ns", r.interval());
            percentiles(corrected, r.corrected());
            o.put("corrected", corrected);
        }
        return o;
    }

    private static void percentiles(Map<String, Object> o, Result r) {
        for (int i = 0; i < Result.NAMES.length; i++) {
            o.put(Result.NAMES[i], r.at(Result.PERCENTILES[i]));
        }
        o.put("max", r.max());
    }
}
