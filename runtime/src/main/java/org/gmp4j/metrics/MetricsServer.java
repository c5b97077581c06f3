// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/**
 * An HTTP server whose page {@code /metrics} has the {@link Metrics#prometheus() metrics} of all schedulers of the process,
 * for Prometheus to collect. Read-only: it answers GET and HEAD of that page, and nothing else. {@code Gmp.Builder.metrics}
 * and the setting {@code metrics=PORT} of GMPDEBUG start one with a scheduler. It is the JDK's, so it needs the module
 * {@code jdk.httpserver}, which a program on the class path has. Thread-safe.
 *
 * <p>It runs on threads of its own, daemons, not on goroutines: it answers also when no goroutine gets on. A request has a
 * thread, as the JDK's server reads a request that has begun until it is whole. At most {@value #MOST} requests are under
 * way: of more the oldest is cut off. So clients that are slow, or say nothing, however many, keep nobody from the page.
 */
public final class MetricsServer implements AutoCloseable {
    private static final int MOST = 32;
    private static final int BACKLOG = 1024;
    private static final int STACK = 256 << 10;
    private static final String PAGE = "/metrics";
    /** Those that schedulers share, by what was asked for. Under its monitor. */
    private static final Map<InetSocketAddress, MetricsServer> SHARED = new HashMap<>();

    private final Listening http;
    private final InetSocketAddress asked;
    /** Of a shared one, how many use it. Under the monitor of SHARED. */
    private int users;

    private MetricsServer(InetSocketAddress asked) throws IOException {
        this.asked = asked;
        http = new Listening(asked);
    }

    /**
     * Starts one.
     *
     * @param address where; port 0 is any that is free. A loopback address unless others are to see it: whoever reaches it may read it
     * @throws IOException when it cannot listen there
     * @throws IllegalStateException when there is no module {@code jdk.httpserver}
     */
    public static MetricsServer start(InetSocketAddress address) throws IOException {
        try {
            return new MetricsServer(address);
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException("metrics by HTTP need the module jdk.httpserver: start java with --add-modules jdk.httpserver",
                    e);
        }
    }

    /**
     * The one that schedulers of this process share at an address; {@link #close} by each of them.
     *
     * @throws IllegalArgumentException when it cannot listen there, with one sentence
     * @throws IllegalStateException when there is no module {@code jdk.httpserver}
     */
    public static MetricsServer shared(InetSocketAddress address) {
        synchronized (SHARED) {
            MetricsServer server = SHARED.get(address);
            if (server == null) {
                try {
                    server = start(address);
                } catch (BindException e) {
                    throw new IllegalArgumentException("metrics cannot be served at " + text(address) + ": " + e.getMessage(), e);
                } catch (IOException e) {
                    throw new IllegalArgumentException("metrics cannot be served at " + text(address) + ": " + e, e);
                }
                SHARED.put(address, server);
            }
            server.users++;
            return server;
        }
    }

    private static String text(InetSocketAddress a) {
        return a.getHostString() + ":" + a.getPort();
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return http.server.getAddress();
    }

    /** Stops it, and cuts off who is being answered; of a shared one, once all have called this. Harmless when repeated. */
    @Override
    public void close() {
        synchronized (SHARED) {
            if (users > 0 && --users > 0) {
                return;
            }
            SHARED.remove(asked, this);
        }
        http.server.stop(0);
        http.requests.cutOff();
    }

    /** What needs the JDK's server, so that the class above can say that there is none. */
    private static final class Listening {
        private final HttpServer server;
        private final Requests requests = new Requests();

        Listening(InetSocketAddress address) throws IOException {
            server = HttpServer.create(address, BACKLOG);
            server.setExecutor(requests);
            server.createContext("/", Listening::answer);
            begin();
        }

        /** Its threads are daemons when a daemon starts it, and belong to no goroutine. */
        private void begin() {
            FutureTask<Void> started = new FutureTask<>(server::start, null);
            Thread t = new Thread(null, started, "gmp-metrics", 0, false);
            t.setDaemon(true);
            t.start();
            boolean interrupted = false;
            while (!started.isDone()) {
                try {
                    t.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        private static void answer(HttpExchange exchange) throws IOException {
            try (exchange) {
                boolean head = exchange.getRequestMethod().equals("HEAD");
                if (!exchange.getRequestURI().getPath().equals(PAGE)) {
                    say(exchange, 404, "There is only " + PAGE + ".\n", head);
                } else if (!head && !exchange.getRequestMethod().equals("GET")) {
                    exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                    say(exchange, 405, "This page can only be read.\n", false);
                } else {
                    exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
                    say(exchange, 200, Metrics.prometheus(), head);
                }
            }
        }

        private static void say(HttpExchange exchange, int code, String text, boolean head) throws IOException {
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(code, head ? -1 : body.length);
            if (!head) {
                try (OutputStream out = exchange.getResponseBody()) {
                    out.write(body);
                }
            }
        }
    }

    /** A thread for each request. To interrupt one that reads or writes closes its connection. */
    private static final class Requests implements Executor {
        /** In the order of their beginning; under the monitor. */
        private final Set<Thread> running = new LinkedHashSet<>();

        @Override
        public void execute(Runnable request) {
            Thread t = new Thread(null, () -> {
                try {
                    request.run();
                } finally {
                    ended(Thread.currentThread());
                }
            }, "gmp-metrics-request", STACK, false);
            t.setDaemon(true);
            synchronized (this) {
                if (running.size() >= MOST) {
                    Iterator<Thread> oldest = running.iterator();
                    oldest.next().interrupt();
                    oldest.remove();
                }
                running.add(t);
            }
            try {
                t.start();
            } catch (OutOfMemoryError e) {
                ended(t); // No thread to be had: the client gets no answer, and the server lives.
            }
        }

        private synchronized void ended(Thread t) {
            running.remove(t);
        }

        synchronized void cutOff() {
            running.forEach(Thread::interrupt);
        }
    }
}
