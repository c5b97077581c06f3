// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Gmp;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Web servers whose threads are goroutines, under a load of clients that are goroutines of the same scheduler: every
 * request was answered on a goroutine, with the right body, in order on its connection.
 */
class HttpServersTest {
    private static final int CONNECTIONS = 24;
    private static final int REQUESTS = 100;
    private static final int MAX_BODY = 40_000;

    private enum Server {
        JDK {
            @Override
            HttpService start(Gmp gmp, ExecutorService executor) throws Exception {
                return HttpServices.jdk(executor);
            }
        },
        JETTY {
            @Override
            HttpService start(Gmp gmp, ExecutorService executor) throws Exception {
                return HttpServices.jetty(executor);
            }
        },
        JETTY_ALL {
            @Override
            HttpService start(Gmp gmp, ExecutorService executor) throws Exception {
                return HttpServices.jettyAllIn(executor);
            }
        },
        UNDERTOW {
            @Override
            HttpService start(Gmp gmp, ExecutorService executor) {
                return HttpServices.undertow(executor);
            }
        },
        NETTY_BESIDE {
            @Override
            HttpService start(Gmp gmp, ExecutorService executor) throws Exception {
                return HttpServices.netty(Thread.ofPlatform().factory(), executor);
            }
        },
        NETTY_ALL {
            @Override
            HttpService start(Gmp gmp, ExecutorService executor) throws Exception {
                return HttpServices.netty(gmp.threadFactory(), Runnable::run);
            }
        };

        abstract HttpService start(Gmp gmp, ExecutorService executor) throws Exception;
    }

    @ParameterizedTest(name = "{0} on {1} Ps")
    @CsvSource({
        "JDK, 1", "JDK, 2", "JETTY, 1", "JETTY, 2", "JETTY_ALL, 1", "JETTY_ALL, 2", "UNDERTOW, 1", "UNDERTOW, 2",
        "NETTY_BESIDE, 1", "NETTY_BESIDE, 2", "NETTY_ALL, 1", "NETTY_ALL, 2"
    })
    void answersEveryRequest(Server server, int procs) throws Exception {
        AtomicInteger answered = new AtomicInteger();
        try (TestScheduler scheduler = new TestScheduler(procs);
                ExecutorService executor = scheduler.gmp.newThreadPerTaskExecutor();
                HttpService service = server.start(scheduler.gmp, executor)) {
            scheduler.each(CONNECTIONS, number -> {
                Random random = new Random(number);
                try (HttpConnection connection = new HttpConnection(service.address())) {
                    for (int i = 0; i < REQUESTS; i++) {
                        byte[] body = new byte[i % 10 == 0 ? random.nextInt(MAX_BODY) : random.nextInt(100)];
                        random.nextBytes(body);
                        HttpConnection.Answer answer = connection.post(i % 5 == 0 ? "/sleep" : "/", body);
                        assertArrayEquals(HttpService.answer("/", body), answer.body());
                        assertEquals("goroutine", answer.thread());
                        answered.incrementAndGet();
                    }
                }
            });
        }
        assertEquals(CONNECTIONS * REQUESTS, answered.get());
    }
}
