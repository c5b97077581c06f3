// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A web service in a process of its own, which prints the port that it serves on. */
final class RunningService implements AutoCloseable {
    private static final int CONNECTIONS = 16;
    private static final int REQUESTS = 60;
    private static final int SIGTERM = 128 + 15;
    private static final Pattern PORT = Pattern.compile("started on port (\\d+) ");

    final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final List<String> all = new ArrayList<>();
    final InetSocketAddress address;

    RunningService(List<String> command) throws Exception {
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Thread.ofPlatform().daemon().start(() -> {
            try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
                out.lines().forEach(lines::add);
            } catch (IOException | UncheckedIOException e) { // It is closed when the process has ended.
                lines.add(e.toString());
            }
            lines.add("");
        });
        Matcher port = await(PORT);
        address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port.group(1)));
    }

    /** The next line that has {@code what} in it. */
    private Matcher await(Pattern what) throws InterruptedException {
        while (process.isAlive() || !lines.isEmpty()) {
            String line = lines.poll(1, TimeUnit.SECONDS);
            if (line != null) {
                all.add(line);
                Matcher m = what.matcher(line);
                if (m.find()) {
                    return m;
                }
            }
        }
        throw new AssertionError("it ended: " + String.join("\n", all));
    }

    private String get(String path) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://localhost:" + address.getPort() + path);
            return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
        }
    }

    /**
     * Answers many at a time with what they sent, on virtual threads, which are goroutines or not; and stops on SIGTERM, when the request
     * under way is answered.
     */
    void answersAndStops(boolean goroutines) throws Exception {
        try (ExecutorService clients = Executors.newFixedThreadPool(CONNECTIONS)) {
            assertEquals("virtual true, goroutine " + goroutines, get("/thread"));
            List<Callable<Integer>> work = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                int number = i;
                work.add(() -> client(address, number));
            }
            int answered = 0;
            for (Future<Integer> f : clients.invokeAll(work)) {
                answered += f.get();
            }
            assertEquals(CONNECTIONS * REQUESTS, answered);
            if (goroutines) {
                await(Pattern.compile("^SCHED \\d+ms: gomaxprocs=.* schedticks=\\[.* \\d{2,} .*\\]")); // Their work.
            }
            byte[] body = {1, 2, 3};
            Future<byte[]> last = clients.submit(() -> {
                try (HttpConnection c = new HttpConnection(address)) {
                    return c.post("/slow", body).body();
                }
            });
            await(Pattern.compile("slow begins"));
            process.destroy(); // SIGTERM.
            assertArrayEquals(body, last.get());
            assertTrue(process.waitFor(1, TimeUnit.MINUTES), "does not stop");
            assertEquals(SIGTERM, process.exitValue());
        }
    }

    private static int client(InetSocketAddress address, int number) throws IOException {
        Random random = new Random(number);
        try (HttpConnection c = new HttpConnection(address)) {
            for (int i = 0; i < REQUESTS; i++) {
                byte[] body = new byte[1 + random.nextInt(i % 10 == 0 ? 40_000 : 100)];
                random.nextBytes(body);
                assertArrayEquals(body, c.post("/", body).body());
            }
        }
        return REQUESTS;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
