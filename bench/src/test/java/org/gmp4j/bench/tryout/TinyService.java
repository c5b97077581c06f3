// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

import com.sun.net.httpserver.HttpServer;

/** The service of {@link TryCommandTest}, on virtual threads. */
final class TinyService {
    private static final int REQUESTS_BEFORE_THE_END = 20;

    private TinyService() {
    }

    /** Does what its first argument says; the second names a file for the process's number. */
    public static void main(String[] args) throws IOException {
        Files.writeString(Path.of(args[1]), ProcessHandle.current().pid() + "\n", StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
        System.out.println("tiny service: " + args[0]);
        if (args[0].equals("end")) {
            System.err.println("no configuration");
            System.exit(3);
        }
        AtomicInteger requests = new AtomicInteger();
        byte[] body = "hello".getBytes(StandardCharsets.US_ASCII);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", exchange -> {
            if (args[0].equals("quit") && requests.incrementAndGet() == REQUESTS_BEFORE_THE_END) {
                System.err.println("out of paper");
                Runtime.getRuntime().halt(7);
            }
            exchange.sendResponseHeaders(args[0].equals("error") ? 500 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }
}
