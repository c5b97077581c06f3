// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code gmp service} refuses what it cannot measure, in one sentence; and measures for a moment, with real processes. */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServiceCommandTest {
    private static CommandLineRun service(String... arguments) {
        return CommandLineRun.of(Stream.concat(Stream.of("service"), Stream.of(arguments)).toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "--mix=none; --mix is a list of rare, exp, fixed",
        "--mix=rare,,exp; --mix is a list of rare, exp, fixed",
        "--load=0; --load is a list of percentages above 0 and at most 200, or light",
        "--load=50,NaN; --load is a list of percentages above 0 and at most 200, or light",
        "--load=201; --load is a list of percentages above 0 and at most 200, or light",
        "--load=1e-9; --seconds and a load of 0.000000001 % make less than 100 requests, too few for a percentile",
        "--load=dark; --load is a list of percentages above 0 and at most 200, or light",
        "--rate=0; --rate is above 0 and at most 1000000",
        "--rate=500,2000000; --rate is above 0 and at most 1000000",
        "--rate=1; --seconds and a load of 1/s make less than 100 requests, too few for a percentile",
        "--rate=x; Invalid value for option '--rate' (N): 'x' is not a double",
        "--connections=0; --connections is from 1 to 10000",
        "--connections=10001; --connections is from 1 to 10000",
        "--connections=1.5; Invalid value for option '--connections': '1.5' is not an int",
        "--seconds=0; --seconds is above 0 and at most 86400",
        "--seconds=1e9; --seconds is above 0 and at most 86400",
        "--seconds=0.001; --seconds and a load of light make less than 100 requests, too few for a percentile",
        "--warmup=-1; --warmup is from 0 to 86400",
        "--warmup=Infinity; --warmup is from 0 to 86400",
        "--runs=0; --runs is from 1 to 1000",
        "--runs=1001; --runs is from 1 to 1000",
        "--quantum=100; --quantum is a list of numbers from 200 to 60000000, or of two of these, as 200..1000",
        "--quantum=1000..200; --quantum is a list of numbers from 200 to 60000000, or of two of these, as 200..1000",
        "--quantum=1000,,200; --quantum is a list of numbers from 200 to 60000000, or of two of these, as 200..1000",
        "--spin=go,fast; --spin: spin policy \"fast\" is unknown: use go",
        "--spin=latency:0us; --spin: ",
        "--peers=kotlin; --peers is a list of jdk, go, net; or none",
        "--peers=jdk,none; --peers is a list of jdk, go, net; or none",
        "--points=some; --points is demand, load, eager or off",
        "--burn=2; ",
        "--json=/; --json: cannot write to /: it is a directory",
        "--html=/no/such/dir/s.html; --html: cannot write to /no/such/dir/s.html: there is no such directory",
        "--markdown=/; --markdown: cannot write to /: it is a directory",
        "--jsn=x; Unknown option: '--jsn=x'",
        "more; Unmatched argument at index 1: 'more'"
    })
    void badInput(String argument, String sentence) {
        refused("gmp: " + (sentence == null ? "" : sentence), argument);
    }

    @Test
    void twoThatExcludeEachOther(@TempDir Path dir) {
        refused("gmp: --load and --rate exclude each other", "--load=50", "--rate=100");
        Path file = dir.resolve("s");
        refused("gmp: --json and --markdown name the same file", "--json=" + file, "--markdown=" + file);
        assertTrue(Files.notExists(file));
    }

    /** What people wrote there could not be kept. */
    @Test
    void aPageThatIsNoText(@TempDir Path dir) throws Exception {
        byte[] bytes = {(byte) 0xff, 0};
        Path file = Files.write(dir.resolve("s.md"), bytes);
        refused("gmp: --markdown: what stands in " + file + " is not text in UTF-8", "--markdown=" + file);
        assertArrayEquals(bytes, Files.readAllBytes(file));
    }

    private static void refused(String sentence, String... arguments) {
        CommandLineRun run = service(arguments);
        assertEquals("", run.out());
        assertTrue(run.err().startsWith(sentence), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        assertEquals(2, run.code());
    }

    /** It could not open its connections, and says what to do before it tries. */
    @Test
    void tooFewOpenFiles() throws Exception {
        Process p = new ProcessBuilder("sh", "-c", "ulimit -n 500 && exec \"$@\"", "sh",
                ChildJava.JAVA, "--enable-native-access=ALL-UNNAMED",
                "-cp", System.getProperty("java.class.path"), GmpCommand.class.getName(), "service", "--connections=301")
                .redirectErrorStream(true).start();
        String said = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals("gmp: --connections=301 needs 501 open files, and 500 are allowed: 'ulimit -Hn' as root allows more;"
                + " 'gmp service --help' tells more.\n", said);
        assertEquals(2, p.waitFor());
    }

    /** From a young server on. */
    @Test
    void allOutputs(@TempDir Path dir) throws Exception {
        outputs(1, "jdk,net", dir);
    }

    /** All that take part; Go where there is one. */
    @Tag("long")
    @Test
    void allOutputsOfTwoTurns(@TempDir Path dir) throws Exception {
        outputs(2, "jdk,go,net", dir);
    }

    private static void outputs(int turns, String peers, Path dir) throws Exception {
        Path json = dir.resolve("s.json");
        Path html = dir.resolve("s.html");
        Path markdown = dir.resolve("s.md");
        CommandLineRun run = service("--mix=rare", "--rate=1000", "--runs=" + turns, "--seconds=0.3", "--warmup=0", "--connections=50",
                "--quantum=200..1000", "--peers=" + peers, "--json=" + json, "--html=" + html, "--markdown=" + markdown);
        assertEquals(0, run.code(), run.err());
        Map<?, ?> all = (Map<?, ?>) Json.parse(Files.readString(json));
        assertTrue(((Map<?, ?>) all.get("machine")).containsKey("cpu"));
        List<?> medians = (List<?>) all.get("medians");
        boolean withGo = peers.contains("go");
        assertEquals(withGo ? List.of("jdk", "go", "gmp4j 200 µs to 1 ms", "net 200 µs to 1 ms")
                        : List.of("jdk", "gmp4j 200 µs to 1 ms", "net 200 µs to 1 ms"),
                medians.stream().map(m -> ((Map<?, ?>) m).get("scheduler")).toList());
        boolean go = withGo && ((Map<?, ?>) all.get("versions")).containsKey("go");
        List<?> runs = (List<?>) all.get("runs");
        assertEquals(turns * (go ? 4 : 3), runs.size());
        for (Object of : runs) {
            run((Map<?, ?>) of);
        }
        Map<?, ?> ours = (Map<?, ?>) medians.getLast();
        assertTrue((Double) ours.get("p99_ns") >= (Double) ours.get("p50_ns"), ours.toString());
        Map<?, ?> ratios = (Map<?, ?>) ours.get("ratios");
        assertTrue((Double) ((Map<?, ?>) ratios.get("jdk")).get("p99_ns") > 0, ours.toString());
        assertEquals(go, ratios.containsKey("go"));
        if (withGo && !go) {
            assertTrue(((Map<?, ?>) medians.get(1)).get("missing").toString().startsWith("Go 1.25 or newer was not found"));
            assertTrue(run.out().matches("(?s).* go +not found.*"), run.out());
        }
        String page = Files.readString(html);
        assertEquals("html", HtmlPage.parse(page).getDocumentElement().getTagName());
        assertEquals(6, page.split("<svg", -1).length, page); // four against load, one of percentiles
        assertTrue(Files.readString(markdown).contains("| 1000/s | net 200 µs to 1 ms | "), Files.readString(markdown));
        nothingIsLeft();
    }

    private static void run(Map<?, ?> run) throws Exception {
        Histogram shorts = Histogram.decodeFromCompressedByteBuffer(
                ByteBuffer.wrap(Base64.getDecoder().decode((String) run.get("histogram"))), 0);
        Histogram longs = Histogram.decodeFromCompressedByteBuffer(
                ByteBuffer.wrap(Base64.getDecoder().decode((String) run.get("long_histogram"))), 0);
        assertEquals((Double) run.get("answered"), shorts.getTotalCount() + longs.getTotalCount());
        assertTrue(shorts.getTotalCount() > 100 && shorts.getMaxValue() > 20_000, run.toString()); // they take so long
        assertTrue(longs.getTotalCount() == 0 || longs.getMinValue() > 20_000, run.toString());
        assertTrue((Double) run.get("cpu_seconds") > 0, run.toString());
        double others = (Double) run.get("others_percent");
        assertTrue(others >= 0 && others <= 110, run.toString()); // Ticks are 10 ms.
        assertTrue((Double) run.get("voluntary_switches") > 0, run.toString());
        double carriers = (Double) run.get("carriers");
        assertTrue(carriers >= 1 && carriers <= (Double) run.get("threads"), run.toString());
        assertTrue(run.get("peer").equals("go") || carriers < (Double) run.get("threads"), run.toString());
    }

    /** Two more processes, and one connection that all have to wait for. */
    @Tag("long")
    @Test
    void burning(@TempDir Path dir) throws Exception {
        Path json = dir.resolve("s.json");
        CommandLineRun run = service("--mix=fixed", "--load=light", "--runs=1", "--seconds=0.2", "--warmup=0.1",
                "--connections=1", "--quantum=10000", "--spin=latency:50us", "--peers=none", "--burn", "--json=" + json);
        assertEquals(0, run.code(), run.err());
        Map<?, ?> all = (Map<?, ?>) Json.parse(Files.readString(json));
        Map<?, ?> first = (Map<?, ?>) ((List<?>) all.get("runs")).getFirst();
        assertEquals("gmp4j 10 ms latency:50us", first.get("scheduler"));
        assertTrue((Double) first.get("queued") > 0, first.toString());
        assertFalse(run.out().contains("divided by"), run.out()); // there is no other
        nothingIsLeft();
    }

    /** A server that cannot keep up is a figure that is not there, and not the end of everything. */
    @Tag("long")
    @Test
    void tooMuch() {
        CommandLineRun run = service("--mix=rare", "--rate=1000000", "--runs=1", "--seconds=30", "--warmup=0", "--quantum=1000",
                "--peers=none");
        assertEquals(1, run.code(), run.err());
        assertTrue(run.out().contains("gmp4j 1 ms  failed"), run.out());
        assertTrue(run.out().contains("gmp4j 1 ms: 1 of 1 runs failed: the server falls behind, "), run.out());
        nothingIsLeft();
    }

    private static void nothingIsLeft() {
        assertEquals(List.of(), ProcessHandle.current().children()
                .filter(p -> p.info().arguments().map(a -> String.join(" ", a)).orElse("").contains("bench.service"))
                .toList());
    }
}
