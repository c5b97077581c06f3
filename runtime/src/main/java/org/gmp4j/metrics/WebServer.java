// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
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
import org.jspecify.annotations.Nullable;

/**
 * An HTTP server with a few pages that can only be read: it answers only GET and HEAD of exactly their paths. No part of a request names a
 * file or a command: the path is a key of a map, and a page reads only certain parameters.
 *
 * <p>It runs on daemon threads of its own, so it answers even when no goroutine makes progress. Each request has a thread, because the
 * JDK's server blocks a thread from the beginning of a request to its end. At most {@value #MOST} requests are served at a time. A further
 * request cuts off the oldest one. So slow or silent clients cannot keep others from the pages.
 */
final class WebServer {
    private static final int MOST = 32;
    private static final int BACKLOG = 1024;
    private static final int STACK = 256 << 10;
    /** The servers that schedulers share, by pages and requested address. Guarded by this map's monitor. */
    private static final Map<Place, WebServer> SHARED = new HashMap<>();

    private record Place(String what, InetSocketAddress address) {
    }

    /** The content of a page. */
    interface Content {
        /**
         * Returns the present content of the page. Called on the request's thread, which is interrupted when the request is cut off.
         *
         * @param query the parameters of the request, by name
         * @throws IllegalArgumentException when a parameter is bad, with a sentence for the client
         * @throws IllegalStateException when there cannot be a page now, with a sentence for the client
         */
        Answer read(Map<String, String> query) throws IOException, InterruptedException;
    }

    /** The content of a page without parameters. */
    interface Bytes {
        /** Returns the present content of the page. Called like {@link Content#read}. */
        byte[] read() throws IOException;
    }

    /** The body of a long answer. It is made while it is sent, so only a part of it is in memory at a time. */
    interface Body {
        /** Writes the body. Called on the request's thread. */
        void writeTo(OutputStream out) throws IOException;
    }

    /**
     * An answer to a client.
     *
     * @param type its content type
     * @param name the name under which a browser saves it; empty for a page that a browser shows
     * @param body the bytes, if {@code file} and {@code made} are null
     * @param file a file with the bytes, which is deleted afterwards
     * @param made writes the bytes
     */
    record Answer(String type, String name, byte[] body, @Nullable Path file, @Nullable Body made) {
        static final String TEXT = "text/plain; charset=utf-8";
        private static final String BYTES = "application/octet-stream";

        static Answer of(String type, byte[] body) {
            return new Answer(type, "", body, null, null);
        }

        static Answer of(String type, Body made) {
            return new Answer(type, "", new byte[0], null, made);
        }

        static Answer file(String name, byte[] body) {
            return new Answer(BYTES, name, body, null, null);
        }

        static Answer file(String name, Path file) {
            return new Answer(BYTES, name, new byte[0], file, null);
        }
    }

    /**
     * A page.
     *
     * @param near whether the page is for clients on this machine only, whatever the server's address. HEAD does not read its content,
     *     because that takes time
     */
    record Page(boolean near, Content content) {
        static Page of(String type, Bytes content) {
            return new Page(false, _ -> Answer.of(type, content.read()));
        }
    }

    /** Work that is done while a server lives. */
    interface Background {
        /** Does nothing. */
        Background NONE = new Background() { };

        /** Called once, when the server listens. */
        default void start() {
        }

        /** Called once, when the server has stopped, or when {@link #start} has thrown. */
        default void stop() {
        }
    }

    /**
     * The pages of a server.
     *
     * @param what the name of the pages in sentences such as "metrics cannot be served"
     * @param thread the start of its threads' names
     * @param local whether the server answers only requests whose host is a local name of this machine. It then refuses the requests of a
     *     web page whose host name resolves to this machine
     * @param headers the headers of each answer
     * @param pages the pages by their paths
     * @param background the work to do while they are served
     */
    record Pages(String what, String thread, boolean local, Map<String, String> headers, Map<String, Page> pages, Background background) {
    }

    private final Listening http;
    private final Place place;
    /** The number of users of a shared server. Guarded by the monitor of SHARED. */
    private int users;

    private WebServer(Pages pages, InetSocketAddress address) throws IOException {
        place = new Place(pages.what, address);
        http = new Listening(pages, address);
        boolean started = false;
        try {
            pages.background.start();
            started = true;
        } finally {
            if (!started) {
                http.stop(); // No caller gets the server, so none could close it.
            }
        }
    }

    /**
     * Starts a server.
     *
     * @throws IOException when the server cannot listen at the address
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
     * Returns the server that schedulers of this process share at an address. Starts it if there is none. Each caller has to {@link #close}
     * it.
     *
     * @param first is called with the server if this call has started it
     * @throws IllegalArgumentException when the server cannot listen at the address; the message is one sentence
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

    /**
     * Stops the server, and cuts off clients that are being answered. A shared server stops when all its users have called this. Each user
     * must call it once.
     */
    void close() {
        synchronized (SHARED) {
            if (users > 0 && --users > 0) {
                return;
            }
            SHARED.remove(place, this);
        }
        http.stop();
    }

    /**
     * The part that needs the JDK's server. It is a class of its own, so that the outer class can be loaded, and report the error, when the
     * module is missing.
     */
    private static final class Listening {
        private final HttpServer server;
        private final Pages pages;
        private final Requests requests;

        Listening(Pages pages, InetSocketAddress address) throws IOException {
            this.pages = pages;
            requests = new Requests(pages.thread + "-request");
            server = begin(address);
        }

        /** Starts the server on a daemon thread of the runtime, so that the server's threads are daemons of the runtime too. */
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
            OwnThread.joinUninterruptibly(t);
            if (begun.state() == Future.State.SUCCESS) {
                return begun.resultNow();
            }
            if (begun.exceptionNow() instanceof IOException e) {
                throw e;
            }
            throw JdkThreads.sneaky(begun.exceptionNow());
        }

        void stop() {
            server.stop(0);
            requests.cutOff();
            pages.background.stop();
        }

        private void answer(HttpExchange exchange) throws IOException {
            try (exchange) {
                boolean head = exchange.getRequestMethod().equals("HEAD");
                Page page = pages.pages.get(exchange.getRequestURI().getPath());
                pages.headers.forEach(exchange.getResponseHeaders()::set);
                if (pages.local && !isLocal(exchange.getRequestHeaders().getFirst("Host"))) {
                    say(exchange, 403, "Ask for localhost.", head);
                } else if (page == null) {
                    say(exchange, 404, "There is only " + String.join(", ", new TreeSet<>(pages.pages.keySet())) + ".", head);
                } else if (!head && !exchange.getRequestMethod().equals("GET")) {
                    exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                    say(exchange, 405, "This page can only be read.", false);
                } else if (page.near && !isNear(exchange)) {
                    say(exchange, 403, "Only this machine can read this page, and only as localhost.", head);
                } else if (page.near && head) {
                    say(exchange, 200, "", true);
                } else {
                    answer(exchange, page, head);
                }
            }
        }

        private static void answer(HttpExchange exchange, Page page, boolean head) throws IOException {
            Answer a;
            try {
                a = page.content.read(query(exchange.getRequestURI().getRawQuery()));
            } catch (IllegalArgumentException e) {
                say(exchange, 400, String.valueOf(e.getMessage()), head);
                return;
            } catch (IllegalStateException e) {
                say(exchange, 409, String.valueOf(e.getMessage()), head);
                return;
            } catch (InterruptedException cutOff) {
                return; // Closing the exchange closes the connection.
            }
            try {
                if (!a.name.isEmpty()) {
                    exchange.getResponseHeaders().set("Content-Disposition", "attachment; filename=\"" + a.name + "\"");
                }
                exchange.getResponseHeaders().set("Content-Type", a.type);
                exchange.sendResponseHeaders(200, head ? -1 : length(a));
                if (!head) {
                    send(exchange, a);
                }
            } finally {
                if (a.file != null) {
                    Files.delete(a.file);
                }
            }
        }

        /** Returns the length of a body; 0 if it is not known. */
        private static long length(Answer a) throws IOException {
            return a.made != null ? 0 : a.file == null ? a.body.length : Files.size(a.file);
        }

        private static void send(HttpExchange exchange, Answer a) throws IOException {
            try (OutputStream out = exchange.getResponseBody()) {
                if (a.made != null) {
                    make(a.made, out);
                } else if (a.file == null) {
                    out.write(a.body);
                } else {
                    long _ = Files.copy(a.file, out);
                }
            }
        }

        /** Writes a body. If that fails, breaks the connection. A mere close of the stream would end the body as if it were complete. */
        private static void make(Body body, OutputStream out) throws IOException {
            boolean whole = false;
            try {
                body.writeTo(out);
                whole = true;
            } finally {
                if (!whole) {
                    Thread.currentThread().interrupt(); // The next write closes the channel. The thread ends with the request.
                }
            }
        }

        /** Returns the parameters of a request. If several have the same name, the last one counts. */
        private static Map<String, String> query(@Nullable String raw) {
            Map<String, String> query = new HashMap<>();
            for (String item : raw == null ? new String[0] : raw.split("&")) {
                int equals = item.indexOf('=');
                query.put(URLDecoder.decode(equals < 0 ? item : item.substring(0, equals), UTF_8),
                        equals < 0 ? "" : URLDecoder.decode(item.substring(equals + 1), UTF_8));
            }
            return query;
        }

        /**
         * Returns whether a client is on this machine, and is not the web page of another site. The requests of such a page use another
         * name for this machine, or the browser says that they come from another site.
         */
        private static boolean isNear(HttpExchange exchange) {
            String site = exchange.getRequestHeaders().getFirst("Sec-Fetch-Site");
            return exchange.getRemoteAddress().getAddress().isLoopbackAddress() && isLocal(exchange.getRequestHeaders().getFirst("Host"))
                    && (site == null || site.equals("none") || site.equals("same-origin"));
        }

        /** Returns whether a request has no host or a local name. A browser sends the name in the address that the user entered. */
        private static boolean isLocal(@Nullable String host) {
            return host == null || host.matches("(?i)(localhost|127(\\.\\d{1,3}){3}|\\[::1\\])(:\\d{1,5})?");
        }

        /** Sends a sentence, or only its headers if {@code head}. */
        private static void say(HttpExchange exchange, int code, String sentence, boolean head) throws IOException {
            byte[] body = (sentence + "\n").getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", Answer.TEXT);
            exchange.sendResponseHeaders(code, head ? -1 : body.length);
            if (!head) {
                try (OutputStream out = exchange.getResponseBody()) {
                    out.write(body);
                }
            }
        }
    }

    /** Starts a thread for each request. An interrupt of a thread that reads or writes closes its connection. */
    private static final class Requests implements Executor {
        private final String name;
        /** The threads of the present requests, the oldest first. Guarded by the monitor. */
        private final Set<Thread> running = new LinkedHashSet<>();

        Requests(String name) {
            this.name = name;
        }

        /**
         * Starts the thread of a request. Called on the thread that accepts connections. If there is no memory or thread, the client gets
         * no answer, and the server continues.
         */
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
