// SPDX-License-Identifier: Apache-2.0
package shop;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * A service that knows nothing of gmp4j, with four faults for {@code runtime/DIAGNOSING.md}: a page that computes, a lock that is held for
 * long, a pool of connections that are not given back, and virtual threads that never end.
 */
@SpringBootApplication(proxyBeanMethods = false)
@RestController
public class Shop {
    private static final int CONNECTIONS = 4;

    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicInteger orders = new AtomicInteger();
    private final HikariDataSource pool = new HikariDataSource();
    /** One for each report that was asked for. Nothing is ever put into them, and they are never removed. */
    private final List<BlockingQueue<String>> reports = new CopyOnWriteArrayList<>();

    /** Made by Spring. */
    public Shop() {
        pool.setJdbcUrl("jdbc:h2:mem:shop");
        pool.setMaximumPoolSize(CONNECTIONS);
    }

    /** Starts it with Spring's own options. */
    public static void main(String[] args) {
        SpringApplication.run(Shop.class, args);
    }

    /** Computes for some tenths of a second. */
    @GetMapping("/price")
    public String price() {
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
    @GetMapping("/stock")
    public String stock() throws InterruptedException {
        lock.lock();
        try {
            Thread.sleep(100);
            return "in stock\n";
        } finally {
            lock.unlock();
        }
    }

    /** Takes a connection, and gives back one in two. */
    @GetMapping("/order")
    public String order() throws SQLException {
        Connection c = pool.getConnection();
        try (Statement s = c.createStatement()) {
            s.execute("SELECT 1");
        }
        if (orders.incrementAndGet() % 2 == 0) {
            c.close();
        }
        return "ordered\n";
    }

    /** Starts a thread that waits for ever. */
    @GetMapping("/report")
    public String report() {
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        reports.add(lines);
        Thread _ = Thread.ofVirtual().name("report-" + reports.size()).start(() -> {
            try {
                String _ = lines.take();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        return "will be sent\n";
    }
}
