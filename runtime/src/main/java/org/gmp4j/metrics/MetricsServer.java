// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An HTTP server whose page {@code /metrics} has the {@link Metrics#prometheus() metrics} of all schedulers of the process,
 * for Prometheus to collect. Read-only: it answers GET and HEAD of that page, and nothing else. {@code Gmp.Builder.metrics}
 * and the setting {@code metrics=PORT} of GMPDEBUG start one with a scheduler. It is the JDK's, so it needs the module
 * {@code jdk.httpserver}, which a program on the class path has. Thread-safe.
 *
 * <p>It runs on threads of its own, daemons, not on goroutines: it answers also when no goroutine gets on. At most 32
 * requests are under way: of more the oldest is cut off. So clients that are slow, or say nothing, however many, keep nobody
 * from the page.
 */
public final class MetricsServer implements AutoCloseable {
    private static final WebServer.Pages PAGES = new WebServer.Pages("metrics", "gmp-metrics", false, Map.of(),
            Map.of("/metrics", new WebServer.Page("text/plain; version=0.0.4; charset=utf-8", () -> Metrics.prometheus().getBytes(UTF_8))));

    private final WebServer server;
    private final AtomicBoolean closed = new AtomicBoolean();

    private MetricsServer(WebServer server) {
        this.server = server;
    }

    /**
     * Starts one.
     *
     * @param address where; port 0 is any that is free. A loopback address unless others are to see it: whoever reaches it may read it
     * @throws IOException when it cannot listen there
     * @throws IllegalStateException when there is no module {@code jdk.httpserver}
     */
    public static MetricsServer start(InetSocketAddress address) throws IOException {
        return new MetricsServer(WebServer.start(PAGES, address));
    }

    /**
     * The one that schedulers of this process share at an address; {@link #close} by each of them.
     *
     * @throws IllegalArgumentException when it cannot listen there, with one sentence
     * @throws IllegalStateException when there is no module {@code jdk.httpserver}
     */
    public static MetricsServer shared(InetSocketAddress address) {
        return new MetricsServer(WebServer.shared(PAGES, address, s -> { }));
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return server.address();
    }

    /** Stops it, and cuts off clients that are being answered; of a shared one, once all have called this. Harmless when repeated. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) { // Others may share the server.
            server.close();
        }
    }
}
