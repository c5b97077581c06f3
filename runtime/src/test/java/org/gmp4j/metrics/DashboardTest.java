// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The live page: what it answers, to whom, and what a browser makes of it. */
class DashboardTest {
    private static final String PAGE = "GET / HTTP/1.1";
    private static final String DATA = "GET /data.json HTTP/1.1";

    private static String ask(Dashboard d, String request) throws IOException {
        return MetricsServerTest.ask(d.address(), request);
    }

    @Test
    void itsPagesAndNothingElse() throws Exception {
        try (TestGmp g = TestGmp.procs(3); Dashboard d = Dashboard.start(0)) {
            assertTrue(d.address().getAddress().isLoopbackAddress());
            assertEquals("http://localhost:" + d.address().getPort() + "/", d.toString());
            String data = ask(d, DATA);
            assertTrue(data.startsWith("HTTP/1.1 200 OK\r\n"), data);
            assertTrue(data.contains("{\"name\":\"" + g.scheduler().label() + "\",\"metrics\":{\"/cpu/"), data);
            assertTrue(data.contains("\"/sched/gomaxprocs:threads\":3,"), data);
            assertTrue(data.contains("\"/sched/runqueue/local:goroutines\":[0,0,0],"), data);
            assertTrue(ask(d, "HEAD / HTTP/1.1").endsWith("\r\n\r\n"));
            for (String other : new String[] {"/data.json/", "/index.html", "/dashboard.js", "/uplot/LICENSE", "/../etc/passwd",
                    "/%2e%2e/etc/passwd", "/metrics", "/data.json%00"}) {
                assertTrue(ask(d, "GET " + other + " HTTP/1.1").startsWith("HTTP/1.1 404 "), other);
            }
            assertTrue(MetricsServerTest.hasNone(ask(d, "GET //data.json HTTP/1.1")));
            for (String method : new String[] {"POST", "PUT", "DELETE", "TRACE", "BREW"}) {
                assertTrue(ask(d, method + " /data.json HTTP/1.1").startsWith("HTTP/1.1 405 "), method);
            }
        }
    }

    /** The server keeps readings from before the first request. */
    @Test
    void history() throws Exception {
        try (TestGmp g = TestGmp.procs(2)) {
            String reading = "{\"name\":\"" + g.scheduler().label() + "\",\"metrics\":{\"/cpu/";
            String history;
            try (Dashboard d = Dashboard.start(0)) {
                do {
                    try (InputStream in = URI.create(d + "history.json").toURL().openStream()) {
                        history = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                    }
                } while (history.split(Pattern.quote(reading), -1).length < 3);
            }
            assertTrue(history.startsWith("[{\"process\":\"") && history.endsWith("}]}]"), history);
            for (Thread t : Thread.getAllStackTraces().keySet()) {
                if (t.getName().equals("gmp-dashboard-history")) {
                    t.join(); // It ends with the server.
                }
            }
        }
    }

    /** The page has all that it needs, and a browser runs nothing in it but its own script. */
    @Test
    void nothingFromElsewhere() throws Exception {
        try (Dashboard d = Dashboard.start(0)) {
            String page = ask(d, PAGE);
            Matcher policy = Pattern.compile("(?i)\r\nContent-Security-Policy: default-src 'none'; script-src '([^ ]+)'; "
                    + "style-src '([^ ]+)'; "
                    + "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n").matcher(page);
            assertTrue(policy.find(), page.substring(0, 1000));
            assertEquals(hash(only(page, "script")), policy.group(1));
            assertEquals(hash(only(page, "style")), policy.group(2));
            assertFalse(Pattern.compile("(?i)(src|href)\\s*=\\s*[\"']?(http|//|/)").matcher(page).find(), "it names something else");
            assertTrue(page.contains("uPlot") && !page.contains("@SCRIPT@"));
            for (String header : new String[] {"X-content-type-options: nosniff", "Cache-control: no-store", "Referrer-policy: no-referrer",
                    "Cross-origin-resource-policy: same-origin"}) {
                assertTrue(page.contains("\r\n" + header + "\r\n"), header);
            }
        }
    }

    private static String only(String page, String element) {
        Matcher m = Pattern.compile("<" + element + ">(.*?)</" + element + ">", Pattern.DOTALL).matcher(page);
        assertTrue(m.find());
        String text = m.group(1);
        assertFalse(m.find());
        return text;
    }

    /** Of text as it came, a char for each byte. */
    private static String hash(String text) throws Exception {
        return "sha256-" + Base64.getEncoder().encodeToString(
                MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.ISO_8859_1)));
    }

    /** A page of the web may have a name that leads here, and a browser that asks by it. */
    @Test
    void onlyByANameOfThisMachine() throws IOException {
        try (Dashboard d = Dashboard.start(0)) {
            int port = d.address().getPort();
            for (String own : new String[] {"localhost", "LOCALHOST:" + port, "127.0.0.1:" + port, "[::1]:" + port}) {
                assertTrue(MetricsServerTest.ask(d.address(), DATA, own).startsWith("HTTP/1.1 200 "), own);
            }
            for (String other : new String[] {"evil.example", "evil.example:" + port, "localhost.evil.example", "127.0.0.1.evil.example",
                    "10.0.0.1", "localhost:1@evil.example"}) {
                for (String request : new String[] {PAGE, DATA, "GET /none HTTP/1.1"}) {
                    String answer = MetricsServerTest.ask(d.address(), request, other);
                    assertTrue(answer.startsWith("HTTP/1.1 403 "), other);
                    assertFalse(answer.contains("sched"), other);
                }
            }
        }
    }

    @Test
    void garbageAndSlowClients() throws IOException {
        try (Dashboard d = Dashboard.start(0)) {
            MetricsServerTest.garbageAndSlowClients(d.address(), "/data.json");
        }
    }

    /** Requests at the same time have the same reading; a later one has a new one. */
    @Test
    void manyWhoAsk() throws IOException {
        Snapshots s = new Snapshots();
        long begin = System.nanoTime();
        byte[] first = s.read();
        byte[] last = first;
        int readings = 1;
        for (int i = 0; i < 2_000 || last == first; i++) {
            byte[] next = s.read();
            readings += next == last ? 0 : 1;
            last = next;
        }
        long most = 1 + (System.nanoTime() - begin) / 100_000_000;
        assertTrue(readings <= most, readings + " readings");
    }

    /** Its threads are none of the scheduler's: it shows one that stands still. */
    @Test
    void aSchedulerThatStandsStill() throws IOException {
        try (TestGmp g = TestGmp.procs(1); Dashboard d = Dashboard.start(0)) {
            AtomicAnswer answer = new AtomicAnswer();
            StopTheWorld.withWorldStopped(g.scheduler(), () -> answer.ask(d));
            assertTrue(answer.text.startsWith("HTTP/1.1 200 "), answer.text);
            assertTrue(answer.text.contains("\"name\":\"" + g.scheduler().label() + '"'), answer.text);
        }
    }

    private static final class AtomicAnswer {
        private String text = "none";

        void ask(Dashboard d) {
            try {
                text = DashboardTest.ask(d, DATA);
            } catch (IOException e) {
                text = e.toString();
            }
        }
    }

    @Test
    void badPorts() throws IOException {
        for (int bad : new int[] {-1, 65_536}) {
            assertEquals("the dashboard's port is " + bad + ": use 0 to 65535",
                    assertThrows(IllegalArgumentException.class, () -> Gmp.builder().procs(1).dashboard(bad).build()).getMessage());
        }
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = taken.getLocalPort();
            String there = InetAddress.getLoopbackAddress().getHostName() + ":" + port;
            assertEquals("the dashboard cannot be served at " + there + ": Address already in use",
                    assertThrows(IllegalArgumentException.class, () -> Gmp.builder().procs(1).dashboard(port).build()).getMessage());
        }
    }

    /** Of the builder and of GMPDEBUG; a metrics page that was started for a dashboard that cannot be is stopped again. */
    @Test
    void itLivesAsLongAsItsSchedulers() throws IOException {
        int port = freePort();
        InetSocketAddress there = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        Gmp first = Gmp.builder().procs(1).dashboard(port).build();
        Gmp second = Gmp.builder().procs(1).debug("dashboard=" + port).build();
        first.close();
        assertTrue(MetricsServerTest.ask(there, DATA).startsWith("HTTP/1.1 200 "));
        InetSocketAddress other = new InetSocketAddress(InetAddress.getLoopbackAddress(), freePort());
        assertThrows(IllegalArgumentException.class, () -> Gmp.builder().procs(1).metrics(other).dashboard(-1).build());
        assertThrows(IOException.class, () -> MetricsServerTest.ask(other, "GET /metrics HTTP/1.1"));
        Dashboard same = Dashboard.shared(port);
        same.close();
        same.close(); // The second's is not closed by that.
        assertTrue(MetricsServerTest.ask(there, DATA).startsWith("HTTP/1.1 200 "));
        second.close();
        assertThrows(IOException.class, () -> MetricsServerTest.ask(there, DATA));
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    /** A browser runs the page, and has it show what is so. */
    @Test
    void inABrowser(@TempDir Path profile) throws Exception {
        Path browser = Stream.of(System.getenv("PATH").split(":")).flatMap(d -> Stream.of("chromium", "chromium-browser", "google-chrome")
                .map(name -> Path.of(d, name))).filter(Files::isExecutable).findFirst().orElse(null);
        assumeTrue(browser != null, "there is no Chromium on the PATH: apt-get install chromium");
        try (TestGmp g = TestGmp.procs(2); Dashboard d = Dashboard.start(0)) {
            Chan<Integer> never = Chan.make();
            for (int i = 0; i < 77; i++) {
                g.go(() -> {
                    Integer _ = never.recv();
                });
            }
            while (!Long.valueOf(77).equals(g.gmp.metrics().states().get("chan receive"))) {
                Thread.onSpinWait();
            }
            Path dom = profile.resolve("dom.html");
            Path log = profile.resolve("log");
            Process p = new ProcessBuilder(List.of(browser.toString(), "--headless=new", "--no-sandbox", "--disable-gpu",
                    "--disable-dev-shm-usage", "--no-first-run", "--user-data-dir=" + profile.resolve("home"), "--enable-logging=stderr",
                    "--virtual-time-budget=4000", "--dump-dom", d.toString()))
                    .redirectOutput(dom.toFile()).redirectError(log.toFile()).start();
            try {
                assertTrue(p.waitFor(2, TimeUnit.MINUTES), () -> "the browser does not end: " + text(log));
            } finally {
                p.descendants().forEach(ProcessHandle::destroyForcibly);
                p.destroyForcibly().waitFor();
            }
            String page = text(dom);
            String said = text(log).lines().filter(l -> l.contains("CONSOLE")).findAny().orElse("");
            assertEquals("", said);
            assertTrue(page.contains("Live, a reading a second."), page);
            assertTrue(page.contains("<tr><td>77</td><td>chan receive</td></tr>"), page);
            assertTrue(page.contains("<dt>Ps</dt><dd>2</dd>"), page);
            assertEquals(9, Pattern.compile("<canvas width=\"[1-9][0-9]*\" height=\"[1-9]").matcher(page).results().count(), "charts");
            assertTrue(page.contains("<option value=\"" + g.scheduler().label() + "\">"), page);
            never.close();
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
