// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An HTTP server whose page {@code /metrics} has the {@link Metrics#prometheus() metrics} of all schedulers of the process, for
 * Prometheus to collect. The pages below {@code /debug/pprof/} have profiles and traces on demand, under the paths of Go's {@code
 * net/http/pprof}. They are for clients on the same machine only, whatever address the server listens at. The server is read-only: it
 * answers only GET and HEAD of these pages. {@code Gmp.Builder.metrics} and GMPDEBUG's {@code metrics=PORT} start a server with a
 * scheduler. It is the JDK's server, so it needs the module {@code jdk.httpserver}, which a program on the class path has. Thread-safe.
 *
 * <p>It runs on daemon threads of its own, so it answers even when no goroutine makes progress. At most 32 requests are served at a time. A
 * further request cuts off the oldest one. So slow or silent clients cannot keep others from the page.
 */
public final class MetricsServer implements AutoCloseable {
    private static final WebServer.Pages PAGES = new WebServer.Pages("metrics", "gmp-metrics", false,
            Map.of("X-Content-Type-Options", "nosniff"), pages(), WebServer.Background.NONE);

    private final WebServer server;
    private final AtomicBoolean closed = new AtomicBoolean();

    private static Map<String, WebServer.Page> pages() {
        Map<String, WebServer.Page> pages = DebugPages.all();
        pages.put("/metrics", WebServer.Page.of("text/plain; version=0.0.4; charset=utf-8", () -> Metrics.prometheus().getBytes(UTF_8)));
        return pages;
    }

    private MetricsServer(WebServer server) {
        this.server = server;
    }

    /**
     * Starts a server.
     *
     * @param address the address to listen at; port 0 is any free port. Every client that reaches the address may read the metrics. So use
     *     a loopback address unless other machines shall read them
     * @throws IOException when the server cannot listen at the address
     * @throws IllegalStateException when there is no module {@code jdk.httpserver}
     */
    public static MetricsServer start(InetSocketAddress address) throws IOException {
        return new MetricsServer(WebServer.start(PAGES, address));
    }

    /**
     * Returns the server that schedulers of this process share at an address. Starts it if there is none. Each caller has to {@link #close}
     * it.
     *
     * @throws IllegalArgumentException when the server cannot listen at the address; the message is one sentence
     * @throws IllegalStateException when there is no module {@code jdk.httpserver}
     */
    public static MetricsServer shared(InetSocketAddress address) {
        return new MetricsServer(WebServer.shared(PAGES, address, s -> { }));
    }

    /** Returns the address at which the server listens. */
    public InetSocketAddress address() {
        return server.address();
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
