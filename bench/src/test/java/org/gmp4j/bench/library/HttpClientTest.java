// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;

import org.gmp4j.Go;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The JDK's HttpClient with its tasks on goroutines, called by goroutines, against the JDK's server on goroutines. */
class HttpClientTest {
    private static final int CALLERS = 16;
    private static final int REQUESTS = 20;

    private static URI uri(HttpService service, String path) {
        InetSocketAddress address = service.address();
        return URI.create("http://" + address.getAddress().getHostAddress() + ":" + address.getPort() + path);
    }

    private static HttpRequest request(URI uri, byte[] body) {
        return HttpRequest.newBuilder(uri).POST(BodyPublishers.ofByteArray(body)).build();
    }

    private static void check(byte[] body, HttpResponse<byte[]> response) {
        assertEquals(200, response.statusCode());
        assertEquals("goroutine", response.headers().firstValue(HttpService.THREAD_HEADER).orElseThrow());
        try {
            assertArrayEquals(HttpService.answer("/", body), response.body());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** {@code send} blocks the goroutine; stages of {@code sendAsync} run on goroutines, and {@code join} waits for them. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void sendsAndReceives(int procs) throws Exception {
        try (TestScheduler scheduler = new TestScheduler(procs);
                ExecutorService executor = scheduler.gmp.newThreadPerTaskExecutor();
                HttpService service = HttpServices.jdk(executor);
                HttpClient client = HttpClient.newBuilder().executor(executor).build()) {
            scheduler.each(CALLERS, number -> {
                Random random = new Random(number);
                List<CompletableFuture<Void>> pending = new ArrayList<>();
                for (int i = 0; i < REQUESTS; i++) {
                    byte[] body = new byte[random.nextInt(5_000)];
                    random.nextBytes(body);
                    check(body, client.send(request(uri(service, "/"), body), BodyHandlers.ofByteArray()));
                    pending.add(client.sendAsync(request(uri(service, "/sleep"), body), BodyHandlers.ofByteArray())
                            .thenAcceptAsync(
                                    response -> {
                                        assertTrue(Go.inGoroutine());
                                        check(body, response);
                                    },
                                    executor));
                }
                CompletableFuture.allOf(pending.toArray(CompletableFuture[]::new)).join();
            });
        }
    }

    /** A time limit and an interrupt each end the wait of a goroutine for an answer that does not come. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void givesUp(int procs) throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        try (TestScheduler scheduler = new TestScheduler(procs);
                ExecutorService executor = scheduler.gmp.newThreadPerTaskExecutor();
                HttpService silent = HttpServices.jdk(task -> executor.execute(() -> {
                    try {
                        never.await();
                    } catch (InterruptedException e) {
                        return;
                    }
                    task.run();
                }));
                HttpClient client = HttpClient.newBuilder().executor(executor).build()) {
            scheduler.each(2, number -> {
                HttpRequest.Builder request = HttpRequest.newBuilder(uri(silent, "/"));
                if (number == 0) {
                    HttpRequest limited = request.timeout(Duration.ofMillis(50)).build();
                    assertThrows(HttpTimeoutException.class, () -> client.send(limited, BodyHandlers.ofByteArray()));
                } else {
                    Thread me = Thread.currentThread();
                    executor.execute(() -> {
                        while (me.getState() != Thread.State.WAITING) {
                            Go.gosched();
                        }
                        me.interrupt();
                    });
                    assertThrows(
                            InterruptedException.class, () -> client.send(request.build(), BodyHandlers.ofByteArray()));
                }
            });
            never.countDown();
        }
    }
}
