// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.gmp4j.Go;

/**
 * Accounts in a database behind a connection pool that is smaller than the number of goroutines that use it. Money moves
 * in transactions, some of which are rolled back; afterwards none was made or lost, and the books tell every move.
 */
final class Bank {
    private static final int ACCOUNTS = 10;
    private static final int OPENING = 1_000;
    private static final int CONNECTIONS = 4;
    private static final int TELLERS = 20;
    private static final int TRANSFERS = 25;
    private static final int ROLLED_BACK = 5; // Each fifth.

    private Bank() {
    }

    /** Opens a bank in the database at {@code url}, works, and checks the books. */
    static void work(String url, String user, int procs) throws Exception {
        try (TestScheduler scheduler = new TestScheduler(procs)) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(url);
            config.setUsername(user);
            config.setMaximumPoolSize(CONNECTIONS);
            config.setMinimumIdle(1);
            config.setAutoCommit(false);
            config.setThreadFactory(scheduler.gmp.threadFactory()); // The pool's own work too.
            Set<Connection> held = ConcurrentHashMap.newKeySet();
            try (HikariDataSource pool = new HikariDataSource(config)) {
                scheduler.each(1, number -> open(pool));
                scheduler.each(TELLERS, number -> {
                    assertTrue(Go.inGoroutine());
                    Random random = new Random(number);
                    for (int i = 0; i < TRANSFERS; i++) {
                        transfer(pool, held, random, number * TRANSFERS + i);
                    }
                });
                scheduler.each(1, number -> checkBooks(pool));
            }
        }
    }

    private static void open(HikariDataSource pool) throws SQLException {
        try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
            s.execute("DROP TABLE IF EXISTS account");
            s.execute("DROP TABLE IF EXISTS book");
            s.execute("CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL)");
            s.execute("CREATE TABLE book (id INT PRIMARY KEY, amount INT NOT NULL)");
            for (int i = 0; i < ACCOUNTS; i++) {
                s.execute("INSERT INTO account VALUES (" + i + ", " + OPENING + ")");
            }
            c.commit();
        }
    }

    private static void transfer(HikariDataSource pool, Set<Connection> held, Random random, int id) throws Exception {
        int from = random.nextInt(ACCOUNTS);
        int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
        int amount = 1 + random.nextInt(100);
        boolean less = from < to; // In the order of their numbers, or two transfers could wait for each other.
        try (Connection c = pool.getConnection()) {
            Connection real = c.unwrap(Connection.class);
            assertTrue(held.add(real), "two goroutines hold one connection");
            add(c, less ? from : to, less ? -amount : amount);
            if (id % 3 == 0) {
                Thread.sleep(1); // With the row locked and the connection held.
            } else {
                Go.gosched();
            }
            add(c, less ? to : from, less ? amount : -amount);
            update(c, "INSERT INTO book VALUES (?, ?)", id, amount);
            if (id % ROLLED_BACK == 0) {
                c.rollback();
            } else {
                c.commit();
            }
            held.remove(real);
        }
    }

    private static void add(Connection c, int account, int amount) throws SQLException {
        update(c, "UPDATE account SET balance = balance + ? WHERE id = ?", amount, account);
    }

    private static void update(Connection c, String sql, int first, int second) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            s.setInt(1, first);
            s.setInt(2, second);
            assertEquals(1, s.executeUpdate());
        }
    }

    private static void checkBooks(HikariDataSource pool) throws SQLException {
        try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
            assertEquals(ACCOUNTS * OPENING, number(s, "SELECT SUM(balance) FROM account"));
            int transfers = TELLERS * TRANSFERS;
            assertEquals(transfers - transfers / ROLLED_BACK, number(s, "SELECT COUNT(*) FROM book"));
            assertEquals(0, number(s, "SELECT COUNT(*) FROM book WHERE MOD(id, " + ROLLED_BACK + ") = 0"));
        }
    }

    private static int number(Statement s, String query) throws SQLException {
        try (ResultSet r = s.executeQuery(query)) {
            assertTrue(r.next());
            return r.getInt(1);
        }
    }
}
