// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code gmp scale} with small sizes; its JVMs check the results of what they measure. */
@Timeout(value = 4, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ScaleCommandTest {
    @TempDir
    private Path dir;

    private String out;

    private Map<?, ?> scale(String... what) throws Exception {
        Path json = dir.resolve("s.json");
        String[] args = new String[what.length + 3];
        args[0] = "scale";
        System.arraycopy(what, 0, args, 1, what.length);
        args[what.length + 1] = "--max=100";
        args[what.length + 2] = "--json=" + json;
        CommandLineRun run = CommandLineRun.of(args);
        assertEquals(0, run.code(), run.err());
        assertEquals("", run.err());
        out = run.out();
        return (Map<?, ?>) Json.parse(Files.readString(json));
    }

    private static Object first(Object list) {
        return ((List<?>) list).getFirst();
    }

    @Tag("long")
    @Test
    void everySeries() throws Exception {
        Map<?, ?> all = scale("procs", "goroutines", "timers", "channels", "queues", "--seconds=0.01");
        assertTrue(((Map<?, ?>) all.get("machine")).containsKey("cpu"));
        List<?> series = (List<?>) all.get("scaling");
        assertEquals(List.of("yield", "spawn", "pass", "round", "ring", "create", "reset", "channels", "select", "receivers",
                "lockers", "global"), series.stream().map(s -> ((Map<?, ?>) s).get("series")).toList());
        for (Object s : series) {
            Map<?, ?> o = (Map<?, ?>) s;
            List<?> sizes = (List<?>) o.get("sizes");
            List<?> wall = (List<?>) o.get("wall");
            assertEquals(sizes.size(), wall.size(), o.toString());
            assertTrue(wall.stream().allMatch(ns -> (Double) ns > 0), o.toString());
            long fitted = sizes.stream().filter(n -> (Double) n >= (Double) o.get("from")).count();
            assertEquals(fitted > 1, o.get("exponent") != null, o.toString()); // With many CPUs 100 Ps are few.
            boolean procs = o.get("group").equals("procs");
            assertEquals(procs ? 64.0 : 100.0, sizes.getLast(), o.toString());
            assertEquals(procs, o.containsKey("cpu_exponent"), o.toString());
        }
        for (String head : List.of("procs", "goroutines", "timers", "channels", "queues")) {
            assertTrue(out.lines().anyMatch(l -> l.startsWith("  " + head + " ") && l.endsWith("expected")),
                    out);
        }
    }

    @Tag("long")
    @Test
    void everyCollector() throws Exception {
        Map<?, ?> all = scale("gc", "--seconds=0.02");
        List<?> rows = (List<?>) all.get("gc");
        assertEquals("yield", ((Map<?, ?>) first(rows)).get("figure"));
        for (Object r : rows) {
            Map<?, ?> row = (Map<?, ?>) r;
            for (String collector : List.of("g1", "zgc", "parallel", "serial")) {
                double v = (Double) row.get(collector);
                // 100 goroutines are less than what else comes and goes in memory; there may be no collection.
                assertTrue(row.get("unit").equals("ns") ? v > 0 : Double.isFinite(v), row.toString());
            }
        }
        assertTrue(out.lines().anyMatch(l -> l.startsWith("  collector ")), out);
    }

    @Test
    void driftPrintsEachTenth() throws Exception {
        Map<?, ?> drift = (Map<?, ?>) scale("drift", "--seconds=3").get("drift");
        List<?> columns = (List<?>) drift.get("columns");
        List<?> rows = (List<?>) drift.get("rows");
        assertEquals(10, rows.size());
        for (Object row : rows) {
            assertEquals(columns.size(), ((List<?>) row).size());
        }
        for (int i = 0; i < columns.size(); i++) { // In 0.3 s of a slow machine there may be nothing.
            int column = i;
            assertTrue(rows.stream().anyMatch(row -> (Double) ((List<?>) row).get(column) > 0), rows.toString());
        }
        assertEquals(columns.size() - 1, ((List<?>) drift.get("change_an_hour")).size());
        assertEquals(13, out.strip().lines().count(), out);
    }
}
