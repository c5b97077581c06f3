// SPDX-License-Identifier: Apache-2.0
// ./gmp run bench/examples/resp/Resp.java [PORT [TRANSPORT [SCHEDULER]]]
// A server that speaks Redis' protocol, for redis-cli and redis-benchmark: a goroutine a connection; requests that come
// together are answered in one write; what is published goes through channels. TRANSPORT: net (org.gmp4j.net) or socket
// (java.net.Socket); SCHEDULER: gmp, or jdk for the JDK's own of virtual threads. Ends at SIGTERM, when its connections have
// answered what they were asked. Without a port it checks itself, on 1, 2 and 8 Ps and on the JDK's scheduler.
// Its twin in Go is bench/peers/go/resp.

package resp;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.gmp4j.Gmp;
import org.gmp4j.Go;

public class Resp {
    private static final int MOST_PORT = 65_535;
    private static final int BAD_USAGE = 2;
    /** So long a client that does not read its answers may hold up the end. */
    private static final long GRACE_SECONDS = 5;

    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            Check.all();
            return;
        }
        String transport = args.length > 1 ? args[1] : "net";
        String scheduler = args.length > 2 ? args[2] : "gmp";
        int port = args[0].matches("[0-9]{1,5}") ? Integer.parseInt(args[0]) : MOST_PORT + 1;
        if (port > MOST_PORT || args.length > 3 || !List.of("net", "socket").contains(transport)
                || !List.of("gmp", "jdk").contains(scheduler)) {
            System.err.println("Resp: use Resp [PORT [net|socket [gmp|jdk]]], with a port from 0, for any, to 65535.");
            System.exit(BAD_USAGE);
        }
        try {
            serve(new Server(listen(transport, port)), scheduler);
        } catch (IOException e) {
            System.err.println("Resp: port " + port + ": " + e.getMessage() + ".");
            System.exit(1);
        }
    }

    static Listener listen(String transport, int port) throws IOException {
        return transport.equals("net") ? NetListener.on(port) : SocketListener.on(port);
    }

    /** As the caller is one: a goroutine, or a virtual thread of the JDK's. */
    static void start(Runnable r) {
        if (Go.inGoroutine()) {
            Go.go(r);
        } else {
            Thread _ = Thread.startVirtualThread(r);
        }
    }

    private static void serve(Server server, String scheduler) throws InterruptedException {
        CountDownLatch over = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            server.stop();
            try {
                if (!over.await(GRACE_SECONDS, TimeUnit.SECONDS)) {
                    server.kill();
                    over.await();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        System.out.println("ready on " + server.port());
        try {
            if (scheduler.equals("gmp")) {
                try (Gmp gmp = Gmp.builder().build()) {
                    gmp.run(server::run);
                }
            } else {
                Thread.startVirtualThread(server::run).join();
            }
        } finally {
            over.countDown();
        }
    }
}
