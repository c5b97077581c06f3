// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library.app;

import java.time.Duration;

import io.helidon.webserver.WebServer;

/** A service as any other, which was not written for goroutines. */
public final class HelidonService {
    private HelidonService() {
    }

    /** Serves on a free port, and prints it. */
    public static void main(String[] args) {
        WebServer server = WebServer.builder()
                .port(0)
                // By default half a second, as long as the slow request takes.
                .shutdownGracePeriod(Duration.ofSeconds(10))
                .routing(r -> r.get("/hello", (request, response) -> response.send("{\"hello\":\"world\",\"letters\":5}"))
                        .get("/thread", (request, response) -> response.send(Where.am()))
                        .post("/", (request, response) -> {
                            byte[] body = request.content().as(byte[].class);
                            Thread.sleep(1);
                            response.send(body);
                        })
                        .post("/slow", (request, response) -> {
                            byte[] body = request.content().as(byte[].class);
                            System.out.println("slow begins");
                            Thread.sleep(500);
                            response.send(body);
                        }))
                .build()
                .start();
        System.out.println("started on port " + server.port() + " ");
    }
}
