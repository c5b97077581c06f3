// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.OwnThread;

/**
 * An HTTP server with a few pages that can only be read: GET and HEAD of exactly their paths, and nothing else. What a request
 * says reaches no file and no command: its path is a key of a map.
 *
 * <p>It runs on threads of its own, daemons, not on goroutines: it answers also when no goroutine gets on. A request has a
 * thread, as the JDK's server reads a request that has begun until it is whole. At most {@value #MOST} requests are under
 * way: of more the oldest is cut off. So clients that are slow, or say nothing, however many, keep nobody from the pages.
 */
final class WebServer {
    private static final int MOST = 32;
    private static final int BACKLOG = 1024;
    private static final int STACK = 256 << 10;
    /** Those that schedulers share, by what is served and where they asked for it. Under its monitor. */
    private static final Map<Place, WebServer> SHARED = new HashMap<>();

    private record Place(String what, InetSocketAddress address) {
    }

    /** What a page is made of. */
    interface Content {
        /** The page as it is now, on a thread of its request; interrupted when that is cut off. */
        byte[] read() throws IOException;
    }

    /** A page. */
    record Page(String type, Content content) {
    }

    /**
     * What is served.
     *
     * @param what in sentences: "metrics cannot be served"
     * @param thread the beginning of its threads' names
     * @param local whether only those are answered who ask this machine by a name of its own: a page of the web, whose
     *     name leads to this machine, is not
     * @param headers of each answer
     * @param pages by path
     */
    record Pages(String what, String thread, boolean local, Map<String, String> headers, Map<String, Page> pages) {
    }

    private final Listening http;
    private final Place place;
    /** Of a shared one, how many use it. Under the monitor of SHARED. */
    private int users;

    private WebServer(Pages pages, InetSocketAddress address) throws IOException {
        place = new Place(pages.what, address);
        http = new Listening(pages, address);
    }

    /**
     * Starts one.
     *
     * @throws IOException when it cannot listen there
     * @throws IllegalStateException when there is no module {@code jdk.httpserver}
     */
    static WebServer start(Pages pages, InetSocketAddress address) throws IOException {
        try {
            return new WebServer(pages, address);
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException(pages.what + " by HTTP needs the module jdk.httpserver: start java with --add-modules "
                    + "jdk.httpserver", e);
        }
    }

    /**
     * The one that schedulers of this process share at an address; {@link #close} by each of them.
     *
     * @param first told of one that this call has started
     * @throws IllegalArgumentException when it cannot listen there, with one sentence
     * @throws IllegalStateException when there is no module {@code jdk.httpserver}
     */
    static WebServer shared(Pages pages, InetSocketAddress address, Consumer<WebServer> first) {
        synchronized (SHARED) {
            WebServer server = SHARED.get(new Place(pages.what, address));
            if (server == null) {
                try {
                    server = start(pages, address);
                } catch (BindException e) {
                    throw new IllegalArgumentException(pages.what + " cannot be served at " + text(address) + ": " + e.getMessage(), e);
                } catch (IOException e) {
                    throw new IllegalArgumentException(pages.what + " cannot be served at " + text(address) + ": " + e, e);
                }
                SHARED.put(server.place, server);
                first.accept(server);
            }
            server.users++;
            return server;
        }
    }

    private static String text(InetSocketAddress a) {
        return a.getHostString() + ":" + a.getPort();
    }

    InetSocketAddress address() {
        return http.server.getAddress();
    }

    /** Stops it, and cuts off clients that are being answered; of a shared one, once all have called this: each once. */
    void close() {
        synchronized (SHARED) {
            if (users > 0 && --users > 0) {
                return;
            }
            SHARED.remove(place, this);
        }
        http.server.stop(0);
        http.requests.cutOff();
    }

    /** What needs the JDK's server, so that the class above can say that there is none. */
    private static final class Listening {
        private final HttpServer server;
        private final Pages pages;
        private final Requests requests;

        Listening(Pages pages, InetSocketAddress address) throws IOException {
            this.pages = pages;
            requests = new Requests(pages.thread + "-request");
            server = begin(address);
        }

        /** The threads of the server are daemons, and the runtime's, because a daemon of the runtime's makes it. */
        private HttpServer begin(InetSocketAddress address) throws IOException {
            FutureTask<HttpServer> begun = new FutureTask<>(() -> {
                HttpServer made = HttpServer.create(address, BACKLOG);
                made.setExecutor(requests);
                made.createContext("/", this::answer);
                made.start();
                return made;
            });
            Thread t = OwnThread.withHelpers(begun, pages.thread);
            t.start();
            boolean interrupted = false;
            while (!begun.isDone()) {
                try {
                    t.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            if (begun.state() == Future.State.SUCCESS) {
                return begun.resultNow();
            }
            if (begun.exceptionNow() instanceof IOException e) {
                throw e;
            }
            throw JdkThreads.sneaky(begun.exceptionNow());
        }

        private void answer(HttpExchange exchange) throws IOException {
            try (exchange) {
                boolean head = exchange.getRequestMethod().equals("HEAD");
                Page page = pages.pages.get(exchange.getRequestURI().getPath());
                pages.headers.forEach(exchange.getResponseHeaders()::set);
                if (pages.local && !isLocal(exchange.getRequestHeaders().getFirst("Host"))) {
                    say(exchange, 403, "text/plain", "Ask for localhost.\n".getBytes(US_ASCII), head);
                } else if (page == null) {
                    String all = String.join(" and ", new TreeSet<>(pages.pages.keySet()));
                    say(exchange, 404, "text/plain", ("There is only " + all + ".\n").getBytes(US_ASCII), head);
                } else if (!head && !exchange.getRequestMethod().equals("GET")) {
                    exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                    say(exchange, 405, "text/plain", "This page can only be read.\n".getBytes(US_ASCII), false);
                } else {
                    say(exchange, 200, page.type, page.content.read(), head);
                }
            }
        }

        /** A browser says which name it was given. */
        private static boolean isLocal(String host) {
            return host == null || host.matches("(?i)(localhost|127(\\.\\d{1,3}){3}|\\[::1\\])(:\\d{1,5})?");
        }

        private static void say(HttpExchange exchange, int code, String type, byte[] body, boolean head) throws IOException {
            exchange.getResponseHeaders().set("Content-Type", type);
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
        private final String name;
        /** In the order of their beginning; under the monitor. */
        private final Set<Thread> running = new LinkedHashSet<>();

        Requests(String name) {
            this.name = name;
        }

        /** On the one thread that accepts connections. Without memory or a thread the client gets no answer, and the server lives. */
        @Override
        public void execute(Runnable request) {
            try {
                begin(request);
            } catch (OutOfMemoryError e) {
                return;
            }
        }

        private void begin(Runnable request) {
            Thread t = new OwnThread(() -> {
                try {
                    request.run();
                } finally {
                    ended(Thread.currentThread());
                }
            }, name, STACK);
            synchronized (this) {
                if (running.size() >= MOST) {
                    Iterator<Thread> oldest = running.iterator();
                    oldest.next().interrupt();
                    oldest.remove();
                }
                running.add(t);
            }
            boolean started = false;
            try {
                t.start();
                started = true;
            } finally {
                if (!started) {
                    ended(t);
                }
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
