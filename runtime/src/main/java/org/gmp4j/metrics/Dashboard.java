// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * A page that shows the schedulers of the process live in a browser: Ps, queues, threads that spin, latencies, steals, preemptions, stalls,
 * and what goroutines wait for. {@code Gmp.Builder.dashboard}, the setting {@code dashboard=PORT} of GMPDEBUG, the property
 * {@code gmp.dashboard=PORT} and {@code gmp run --dashboard PORT} start one with a scheduler. Thread-safe.
 *
 * <p>The page needs only the module {@code jdk.httpserver}, which a program on the class path has. This jar has the page, its style, its
 * script and the charting library, uPlot. The page forbids the browser to load anything from elsewhere. The server listens on the loopback
 * address only. It answers only requests for {@code localhost} or a loopback address, so that no page of the web can read its data. The
 * server is read-only: it answers only GET and HEAD of {@code /}, {@code /data.json} and {@code /history.json}. The server runs on daemon
 * threads of its own. One of them takes a reading each second, and keeps the readings of the last five minutes. A reading stops no thread,
 * so the page also shows a scheduler whose goroutines make no progress. At most 32 requests are served at a time. A further request cuts
 * off the oldest one.
 */
public final class Dashboard implements AutoCloseable {
    private static final int MOST_PORT = 65_535;
    private static final String PROPERTY = "gmp.dashboard";
    private static final String JSON = "application/json";

    private final WebServer server;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Dashboard(WebServer server) {
        this.server = server;
    }

    /** The page, with all its parts in one file. The browser checks script and style by their hashes. The page is made at its first use. */
    private static final class Parts {
        private static final byte[] PAGE;
        private static final Map<String, String> HEADERS;

        static {
            String script = text("uplot/uPlot.iife.min.js") + text("dashboard.js");
            String style = text("uplot/uPlot.min.css") + text("dashboard.css");
            PAGE = text("dashboard.html").replace("@STYLE@", style).replace("@SCRIPT@", script).getBytes(UTF_8);
            HEADERS = Map.of("Cache-Control", "no-store", "X-Content-Type-Options", "nosniff",
                    "Referrer-Policy", "no-referrer", "Cross-Origin-Resource-Policy", "same-origin",
                    "Content-Security-Policy", "default-src 'none'; script-src '" + hash(script) + "'; style-src '" + hash(style)
                    + "'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
        }

        static WebServer.Pages pages() {
            History history = new History(Snapshots::brief);
            return new WebServer.Pages("the dashboard", "gmp-dashboard", true, HEADERS,
                    Map.of("/", WebServer.Page.of("text/html; charset=utf-8", () -> PAGE),
                            "/data.json", WebServer.Page.of(JSON, new Snapshots()),
                            "/history.json", new WebServer.Page(false, _ -> WebServer.Answer.of(JSON, history::writeTo))), history);
        }

        private static String text(String resource) {
            try (InputStream in = Dashboard.class.getResourceAsStream(resource)) {
                if (in == null) {
                    throw new IllegalStateException("the jar gmp4j-runtime has no " + resource + ", which its build puts there");
                }
                return new String(in.readAllBytes(), UTF_8).replace("\r\n", "\n"); // A browser converts line ends like this.
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static String hash(String text) {
            try {
                return "sha256-" + Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)));
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e); // Each JDK has this algorithm.
            }
        }
    }

    /**
     * Starts a page that shows all schedulers of the process while they live.
     *
     * @param port the port to listen at, 0 to 65535; 0 for any free port: see {@link #address}
     * @throws IOException when the server cannot listen at the port
     * @throws IllegalArgumentException when the port is out of range
     * @throws IllegalStateException when there is no module {@code jdk.httpserver}
     */
    public static Dashboard start(int port) throws IOException {
        return new Dashboard(WebServer.start(Parts.pages(), loopback(port)));
    }

    /**
     * Returns the page that schedulers of this process share at a port. If there is none, starts one, and prints a line with its address on
     * stderr. Each caller has to {@link #close} the page.
     *
     * @throws IllegalArgumentException when the port is out of range, or the server cannot listen at it; the message is one sentence
     * @throws IllegalStateException when there is no module {@code jdk.httpserver}
     */
    public static Dashboard shared(int port) {
        return new Dashboard(WebServer.shared(Parts.pages(), loopback(port), s -> System.err.println("gmp4j: dashboard at " + url(s))));
    }

    /**
     * Returns the port that the property {@code gmp.dashboard} asks for; null when the property is not set.
     *
     * @throws IllegalArgumentException when the property's value is not a port
     */
    public static @Nullable Integer wanted() {
        String port = System.getProperty(PROPERTY, "");
        if (port.isEmpty()) {
            return null;
        }
        if (!port.matches("[0-9]{1,5}")) {
            throw new IllegalArgumentException(PROPERTY + " is \"" + port + "\": use a port from 0 to " + MOST_PORT);
        }
        return Integer.valueOf(port);
    }

    private static InetSocketAddress loopback(int port) {
        if (port < 0 || port > MOST_PORT) {
            throw new IllegalArgumentException("the dashboard's port is " + port + ": use 0 to " + MOST_PORT);
        }
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private static String url(WebServer server) {
        return "http://localhost:" + server.address().getPort() + "/";
    }

    /** Returns the address at which the server listens. */
    public InetSocketAddress address() {
        return server.address();
    }

    /** Returns the address for a browser: {@code http://localhost:8080/}. */
    @Override
    public String toString() {
        return url(server);
    }

    /**
     * Stops the server, and cuts off clients that are being answered. A shared server stops when all its users have called this. Further
     * calls do nothing.
     */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) { // A shared server counts its users. A second close would count for another user.
            server.close();
        }
    }
}
