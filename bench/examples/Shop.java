// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/**
 * A service that knows nothing of gmp4j, with four faults for {@code runtime/DIAGNOSING.md}: a page that computes, a lock that is held for
 * long, a pool of connections that are not given back, and virtual threads that never end. It answers until its input ends.
 */
final class Shop {
    private static final int CONNECTIONS = 4;
    private static final int BACKLOG = 1000;
    private static final ReentrantLock STOCK = new ReentrantLock();
    private static final AtomicInteger ORDERS = new AtomicInteger();
    private static final Semaphore POOL = new Semaphore(CONNECTIONS);
    /** One for each report that was asked for; nothing is ever put into them, and they are never removed. */
    private static final List<LinkedBlockingQueue<String>> REPORTS = new CopyOnWriteArrayList<>();

    private Shop() {
    }

    /** Starts it at a port of the loopback address; 0 is any. */
    public static void main(String[] args) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])), BACKLOG);
        server.setExecutor(Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("http-", 0).factory()));
        server.createContext("/price", x -> answer(x, Shop::price));
        server.createContext("/stock", x -> answer(x, Shop::stock));
        server.createContext("/order", x -> answer(x, Shop::order));
        server.createContext("/report", x -> answer(x, Shop::report));
        server.start();
        System.out.println("http://localhost:" + server.getAddress().getPort() + "/");
        int _ = System.in.read();
        System.exit(0);
    }

    private interface Page {
        String text() throws InterruptedException;
    }

    private static void answer(HttpExchange exchange, Page page) throws IOException {
        try (exchange) {
            byte[] body = page.text().getBytes();
            exchange.sendResponseHeaders(200, body.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Computes for some tenths of a second. */
    private static String price() {
        long sum = 0;
        for (int n = 2; n < 40_000; n++) {
            boolean prime = true;
            for (int i = 2; i < n && prime; i++) {
                prime = n % i != 0;
            }
            sum += prime ? n : 0;
        }
        return sum + "\n";
    }

    /** Keeps the lock for 0.1 s. */
    private static String stock() throws InterruptedException {
        STOCK.lock();
        try {
            Thread.sleep(100);
            return "in stock\n";
        } finally {
            STOCK.unlock();
        }
    }

    /** Takes a connection, and gives back one in two. */
    private static String order() throws InterruptedException {
        POOL.acquire();
        if (ORDERS.incrementAndGet() % 2 == 0) {
            POOL.release();
        }
        return "ordered\n";
    }

    /** Starts a thread that waits for ever. */
    private static String report() {
        LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
        REPORTS.add(lines);
        Thread _ = Thread.ofVirtual().name("report-" + REPORTS.size()).start(() -> {
            try {
                String _ = lines.take();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        return "will be sent\n";
    }
}
