// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** The whole command: a run of a fraction of a second with all its outputs, and bad usage. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StealCommandTest {
    private static final int SAMPLES = 300;
    private static final String[] PERCENTILES = {"p50", "p90", "p99", "p999", "p9999", "max"};

    private Path dir;
    private CommandLineRun run;
    private String json;
    private String hgrm;
    private Path hlog;
    private String html;

    @BeforeAll
    void shortRun(@TempDir Path temporary) throws IOException {
        dir = temporary;
        Path jsonFile = dir.resolve("s.json");
        Path hgrmFile = dir.resolve("s.hgrm");
        hlog = dir.resolve("s.hlog");
        Path htmlFile = dir.resolve("s.html");
        Files.writeString(jsonFile, "what stood here before, longer than nothing");
        run = CommandLineRun.of("steal", "--procs", "2", "--seconds", "0.4", "--samples", Integer.toString(SAMPLES), "--json",
                jsonFile.toString(), "--hgrm", hgrmFile.toString(), "--hlog", hlog.toString(), "--html", htmlFile.toString());
        assertEquals(0, run.code(), run.err());
        json = Files.readString(jsonFile);
        hgrm = Files.readString(hgrmFile);
        html = Files.readString(htmlFile);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> object(Object value) {
        return (Map<String, Object>) assertInstanceOf(Map.class, value);
    }

    private List<Map<String, Object>> runs() {
        List<?> runs = assertInstanceOf(List.class, object(Json.parse(json)).get("runs"));
        List<Map<String, Object>> objects = new ArrayList<>();
        runs.forEach(r -> objects.add(object(r)));
        return objects;
    }

    private static double number(Map<String, Object> run, String key) {
        return assertInstanceOf(Double.class, run.get(key), key + " of " + run);
    }

    @Test
    void jsonHasMachineAndRuns() {
        Map<String, Object> all = object(Json.parse(json));
        assertFalse(object(all.get("machine")).isEmpty());
        assertTrue(object(all.get("others")).containsKey("most_percent")); // It is null where each run was too short to tell.
        assertTrue(run.out().matches("(?s).*\nothers    had (at most [0-9]+ %|a share) of the CPUs .*"), run.out());
        for (Map<String, Object> run : runs()) {
            assertInstanceOf(String.class, run.get("kind"));
            assertInstanceOf(String.class, run.get("spin"));
            assertTrue(number(run, "gap_ns") >= 0);
            assertTrue(number(run, "batch") >= 0);
            double samples = number(run, "samples");
            assertTrue(samples >= 1 && samples <= SAMPLES, run.toString());
        }
    }

    @Test
    void percentilesRise() {
        for (Map<String, Object> run : runs()) {
            double last = 0;
            for (String p : PERCENTILES) {
                double v = number(run, p);
                assertTrue(v >= last && v < 60e9, p + " of " + run);
                last = v;
            }
            if (run.containsKey("corrected")) {
                Map<String, Object> corrected = object(run.get("corrected"));
                assertTrue(number(corrected, "p50") >= number(run, "p50"), run.toString());
                assertEquals(number(run, "max"), number(corrected, "max"), number(run, "max") / 100);
            }
        }
    }

    @Test
    void everythingIsMeasured() {
        Set<String> seen = new TreeSet<>();
        for (Map<String, Object> run : runs()) {
            boolean steal = run.get("kind").equals("steal");
            seen.add(run.get("kind") + " " + run.get("spin") + " " + (steal ? run.get("victim") : "")
                    + (long) number(run, steal ? "batch" : "gap_ns"));
        }
        Set<String> wanted = new HashSet<>();
        for (int batch : new int[] {0, 1, 4, 16, 128}) {
            wanted.add("steal none same CPU" + batch);
            wanted.add("steal none other CPU" + batch);
        }
        for (String spin : new String[] {"go", "latency:1ms", "busy"}) {
            for (int gap : new int[] {0, 20_000, 200_000, 1_000_000}) {
                wanted.add("wake " + spin + " " + gap);
            }
            wanted.add("handoff " + spin + " 0");
            wanted.add("handoff " + spin + " 200000");
        }
        assertEquals(new TreeSet<>(wanted), seen);
        assertEquals(wanted.size(), runs().size());
    }

    @Test
    void ringsStandBesideTheFloor() {
        List<?> rings = assertInstanceOf(List.class, object(Json.parse(json)).get("rings"));
        assertEquals(6, rings.size());
        for (Object o : rings) {
            Map<String, Object> ring = object(o);
            assertTrue(number(ring, "java_ns") > 0 && number(ring, "floor_ns") > 0, ring.toString());
            double ratio = number(ring, "java_ns") / number(ring, "floor_ns");
            assertEquals(ratio, number(ring, "ratio"), 0.01 * ratio, ring.toString());
        }
    }

    @Test
    void textNamesMachineSettingsAndCaveats() {
        for (String word : new String[] {
            "machine", "JVM", "pinning", "settings", "clock", "push + pop", "failed probe", "wake", "handoff",
            "coordinated omission", "CPU while idle", "no scheduler", "busy"
        }) {
            assertTrue(run.out().contains(word), word + " in:\n" + run.out());
        }
        assertTrue(run.out().lines().allMatch(l -> l.length() <= 130), run.out());
    }

    /** HdrHistogram's own reader finds the histogram of each run, by its tag. */
    @Test
    void hlogHasAHistogramARun() throws IOException {
        List<String> tags = new ArrayList<>();
        List<Long> totals = new ArrayList<>();
        try (HistogramLogReader reader = new HistogramLogReader(hlog.toFile())) {
            while (reader.nextIntervalHistogram() instanceof AbstractHistogram h) {
                tags.add(h.getTag());
                totals.add(h.getTotalCount());
            }
        }
        assertEquals(runs().stream().map(r -> (long) number(r, "samples")).toList(), totals);
        assertEquals(Set.copyOf(tags).size(), tags.size(), tags::toString);
        assertTrue(tags.stream().allMatch(t -> t.matches("[ -~]+")), tags::toString);
    }

    /** Sections of HdrHistogram's percentile output, as its plotter reads them. */
    @Test
    void hgrmHasASectionARun() {
        Pattern row = Pattern.compile(" *([0-9.]+) ([01]\\.[0-9]+) +([0-9]+) *([0-9.]+|Infinity)?");
        List<Long> totals = new ArrayList<>();
        double value = 0;
        double percentile = 0;
        long count = 0;
        for (String line : hgrm.lines().toList()) {
            Matcher m = row.matcher(line);
            if (line.startsWith("# run: ")) {
                value = 0;
                percentile = 0;
                count = 0;
            } else if (line.startsWith("#[Max")) {
                assertEquals(1, percentile);
                totals.add(count);
                assertTrue(line.contains("Total count"), line);
            } else if (m.matches()) {
                assertTrue(Double.parseDouble(m.group(1)) >= value, line);
                assertTrue(Double.parseDouble(m.group(2)) >= percentile, line);
                value = Double.parseDouble(m.group(1));
                percentile = Double.parseDouble(m.group(2));
                count = Long.parseLong(m.group(3));
            } else {
                assertTrue(line.isEmpty() || line.startsWith("#[") || line.strip().startsWith("Value "), line);
            }
        }
        assertEquals(runs().stream().map(r -> (long) number(r, "samples")).toList(), totals);
    }

    @Test
    void pageIsWellFormedAndComplete() throws Exception {
        Document page = HtmlPage.parse(html);
        int curves = 0;
        NodeList paths = page.getElementsByTagName("path");
        for (int i = 0; i < paths.getLength(); i++) {
            String d = ((Element) paths.item(i)).getAttribute("d");
            assertTrue(d.matches("M[-0-9., Lh]+"), d);
            curves += d.contains("h12") ? 0 : 1; // Those are the labels' strokes.
        }
        assertEquals(runs().size(), curves);
        int rows = 0;
        NodeList bodies = page.getElementsByTagName("tbody");
        for (int i = 0; i < bodies.getLength(); i++) {
            rows += ((Element) bodies.item(i)).getElementsByTagName("tr").getLength();
        }
        assertEquals(runs().size() + 6 + 4, rows); // The floor's and the idle table.
        for (String outside : new String[] {"<script", "src=", "href=", "url(", "@import", "http"}) {
            assertFalse(html.contains(outside), outside);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--samples 0 | --samples is 0",
                "--samples -5 | --samples is -5",
                "--samples many | --samples",
                "--seconds 0 | --seconds is 0",
                "--seconds NaN | --seconds is NaN",
                "--seconds 1e9 | --seconds is 1.0E9",
                "--procs 1 | --procs is 1: use 2",
                "--procs 0 | --procs is 0",
                "--procs 5000 | --procs is 5000",
                "--affinity 9999 | CPU 9999 is not there",
                "--affinity everywhere | affinity \"everywhere\" is unknown",
                "--spin sometimes | spin policy \"sometimes\" is unknown",
                "--spin latency:5 | spin policy \"latency:5\" is unknown",
                "--json DIR/none/s.json | there is no such directory",
                "--hgrm DIR | it is a directory",
                "--hlog DIR | it is a directory",
                "--html /dev/null/s.html | cannot write to /dev/null/s.html: Not a directory",
                "--json DIR/same --html DIR/same | name the same file",
                "--nope | --nope",
                "everything | everything",
            })
    void badUsageIsOneSentence(String options, String why) throws IOException {
        try (var before = Files.list(dir)) {
            Set<Path> files = new TreeSet<>(before.toList());
            CommandLineRun bad = CommandLineRun.of(("steal " + options.replace("DIR", dir.toString())).split(" "));
            assertEquals(2, bad.code(), bad.err());
            assertEquals("", bad.out());
            assertEquals(1, bad.err().lines().count(), bad.err());
            assertTrue(bad.err().contains(why), bad.err());
            try (var after = Files.list(dir)) {
                assertEquals(files, new TreeSet<>(after.toList()));
            }
        }
    }

    @Test
    void whatStoodInAFileStaysUntilThereIsAResult() throws IOException {
        Path file = Files.writeString(dir.resolve("kept"), "kept");
        assertEquals(2, CommandLineRun.of("steal", "--json", file.toString(), "--html", dir.toString()).code());
        assertEquals("kept", Files.readString(file));
        Files.delete(file);
    }

    @Test
    void aFullDiskIsOneSentence() {
        CommandLineRun full = CommandLineRun.of("steal", "--spin", "go", "--seconds", "0.1", "--samples", "20", "--json", "/dev/full");
        assertEquals(1, full.code());
        assertEquals(1, full.err().lines().count(), full.err());
        assertTrue(full.err().contains("cannot write to /dev/full: No space left on device"), full.err());
        assertTrue(full.out().contains("handoff"), full.out());
    }

    @Test
    void onePolicyUnpinned() throws IOException {
        Path file = dir.resolve("one.json");
        CommandLineRun one = CommandLineRun.of("steal", "--spin", "latency:50us", "--affinity", "none", "--procs", "3", "--seconds", "0.1",
                "--samples", "20", "--json", file.toString());
        assertEquals(0, one.code(), one.err());
        assertTrue(one.out().contains("none: the kernel places the threads"), one.out());
        assertTrue(one.out().contains("latency:50us") && !one.out().contains("busy  "), one.out());
        object(Json.parse(Files.readString(file)));
        Files.delete(file);
    }
}
