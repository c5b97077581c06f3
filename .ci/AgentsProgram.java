// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import org.gmp4j.Chan;
import org.gmp4j.Gmp;

/**
 * What .ci/agents runs beside each agent: a service on virtual threads with a client, and a span around each wait; or gmp4j as a
 * library. It prints how many answers and spans were right.
 */
final class AgentsProgram {
    private static final int REQUESTS = 200;
    private static final AtomicInteger RIGHT = new AtomicInteger();
    private static final AtomicInteger WRONG = new AtomicInteger();

    private AgentsProgram() {
    }

    /** What Mockito's inline mocks replace. */
    static final class Last {
        int number() {
            return 1;
        }
    }

    public static void main(String[] args) throws Exception {
        for (String what : args) {
            System.out.println(what + " " + switch (what) {
                case "service" -> service();
                case "library" -> library();
                case "mock" -> mocked();
                default -> throw new IllegalArgumentException(what);
            });
        }
        System.exit(0);
    }

    private static String service() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), REQUESTS);
        AtomicInteger right = new AtomicInteger();
        try (ExecutorService ex = Executors.newVirtualThreadPerTaskExecutor();
                HttpClient client = HttpClient.newBuilder().executor(ex).build()) {
            server.setExecutor(ex);
            server.createContext("/", exchange -> {
                byte[] answer = String.valueOf(within(ex)).getBytes();
                exchange.sendResponseHeaders(200, answer.length);
                exchange.getResponseBody().write(answer);
                exchange.close();
            });
            server.start();
            HttpRequest request = HttpRequest.newBuilder(URI.create("http:/" + server.getAddress() + "/")).build();
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                all.add(ex.submit(() -> client.send(request, HttpResponse.BodyHandlers.ofString()).body().equals("42")
                        ? right.incrementAndGet() : 0));
            }
            for (Future<?> f : all) {
                f.get();
            }
        } finally {
            server.stop(0);
        }
        return "answers " + right + " of " + REQUESTS + ", spans right " + RIGHT + " wrong " + WRONG;
    }

    private static int within(ExecutorService ex) throws IOException {
        Span span = GlobalOpenTelemetry.getTracer("t").spanBuilder("request").startSpan();
        try (Scope _ = span.makeCurrent()) {
            same(span);
            Thread.sleep(1);
            same(span);
            Thread.yield();
            same(span);
            int n = ex.submit(() -> loop(42)).get();
            same(span);
            return n;
        } catch (Exception e) {
            throw new IOException(e);
        } finally {
            span.end();
        }
    }

    private static void same(Span span) {
        boolean same = Span.current().getSpanContext().getSpanId().equals(span.getSpanContext().getSpanId());
        int _ = (same ? RIGHT : WRONG).incrementAndGet();
    }

    private static int loop(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            s += i % 2 == 0 ? 2 : 0;
        }
        return s;
    }

    private static int library() {
        try (Gmp g = Gmp.builder().procs(2).build()) {
            Chan<Integer> c = Chan.make();
            g.go(() -> {
                for (int i = 0; i < 1_000; i++) {
                    c.send(loop(42));
                }
                c.close();
            });
            int sum = 0;
            for (int i : c) {
                sum += i;
            }
            return sum;
        }
    }

    private static Object mocked() throws Exception {
        return Executors.newVirtualThreadPerTaskExecutor().submit(() -> {
            Object mock = Class.forName("org.mockito.Mockito").getMethod("mock", Class.class).invoke(null, Last.class);
            return ((Last) mock).number();
        }).get();
    }
}
