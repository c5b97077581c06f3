// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library.app;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/**
 * A user of MariaDB as any other, which was not written for goroutines: more virtual threads than HikariCP's pool has connections.
 * Arguments: the database's address. Prints what came of it, the same in each run, and then what the work ran on.
 */
public final class MariaDbProgram {
    private static final int CONNECTIONS = 40;
    private static final int CALLERS = 100;
    private static final int ROWS = 20;
    private static final String SLOW = "SELECT SLEEP(30)";

    private final HikariDataSource pool;
    private final ExecutorService threads;
    private final Seen seen = new Seen();

    private MariaDbProgram(HikariDataSource pool, ExecutorService threads) {
        this.pool = pool;
        this.threads = threads;
    }

    /** Works, and ends. */
    public static void main(String[] args) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(args[0]);
        config.setMaximumPoolSize(CONNECTIONS);
        config.setThreadFactory(Thread.ofVirtual().factory()); // The pool's own work too.
        try (HikariDataSource pool = new HikariDataSource(config);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            new MariaDbProgram(pool, threads).work();
        }
    }

    private void work() throws Exception {
        execute("CREATE OR REPLACE TABLE word (id INT PRIMARY KEY, text LONGTEXT NOT NULL)");
        List<Callable<Integer>> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            int number = i;
            callers.add(() -> writesAndReads(number));
        }
        System.out.println("right " + sum(callers) + ", rows " + sum(List.of(() -> number("SELECT COUNT(*) FROM word"))));
        slowQueries();
        System.out.println("deadlocks " + sum(deadlock()));
        seen.print();
    }

    /** Rows of one transaction, read again by another, a few at a time. */
    private int writesAndReads(int number) throws SQLException {
        try (Connection c = pool.getConnection()) {
            seen.here();
            c.setAutoCommit(false);
            try (PreparedStatement s = c.prepareStatement("INSERT INTO word VALUES (?, ?)")) {
                for (int i = 0; i < ROWS; i++) {
                    s.setInt(1, number * ROWS + i);
                    s.setString(2, text(number, i));
                    s.addBatch();
                }
                s.executeBatch();
            }
            c.commit();
        }
        int right = 0;
        try (Connection c = pool.getConnection();
                PreparedStatement s = c.prepareStatement("SELECT text FROM word WHERE id BETWEEN ? AND ? ORDER BY id")) {
            s.setFetchSize(3);
            s.setInt(1, number * ROWS);
            s.setInt(2, number * ROWS + ROWS - 1);
            try (ResultSet r = s.executeQuery()) {
                for (int i = 0; r.next(); i++) {
                    right += r.getString(1).equals(text(number, i)) ? 1 : 0;
                }
            }
        }
        return right;
    }

    private static String text(int number, int row) {
        return number + "-" + row + "x".repeat(row == 0 ? 40_000 : 10);
    }

    /**
     * All connections but one wait for the server at a time, more than there are carriers; the last one serves the others meanwhile, and
     * ends the slow queries: the server says so to each.
     */
    private void slowQueries() throws Exception {
        List<Future<Integer>> slow = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS - 1; i++) {
            slow.add(threads.submit(this::slow));
        }
        String waiting = " FROM information_schema.PROCESSLIST WHERE INFO = '" + SLOW + "' AND STATE = 'User sleep'";
        Future<String> served = threads.submit(() -> {
            while (number("SELECT COUNT(*)" + waiting) < CONNECTIONS - 1) {
                Thread.sleep(1);
            }
            List<Callable<Integer>> others = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                int id = i * ROWS + 1;
                others.add(() -> number("SELECT COUNT(*) FROM word WHERE id = " + id));
            }
            return "slow " + number("SELECT COUNT(*)" + waiting) + ", served meanwhile " + sum(others);
        });
        System.out.println(served.get());
        try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
            List<Integer> ids = new ArrayList<>();
            try (ResultSet r = s.executeQuery("SELECT ID" + waiting)) {
                while (r.next()) {
                    ids.add(r.getInt(1));
                }
            }
            for (int id : ids) {
                s.execute("KILL QUERY " + id);
            }
        }
        int ended = 0;
        for (Future<Integer> f : slow) {
            ended += f.get();
        }
        System.out.println("ended early " + ended);
    }

    /** 1 when the server was made to end the query. */
    private int slow() throws SQLException {
        try {
            return 100 + number(SLOW);
        } catch (SQLException e) {
            return state(e, "70100");
        }
    }

    private static int state(SQLException e, String expected) throws SQLException {
        if (!expected.equals(e.getSQLState())) {
            throw e;
        }
        return 1;
    }

    /** Two transactions lock two rows in either order: the server ends one of them. */
    private List<Callable<Integer>> deadlock() {
        CyclicBarrier bothHaveOne = new CyclicBarrier(2);
        return List.of(() -> locks(0, 1, bothHaveOne), () -> locks(1, 0, bothHaveOne));
    }

    private int locks(int first, int second, CyclicBarrier bothHaveOne) throws Exception {
        try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
            seen.here();
            c.setAutoCommit(false);
            s.execute("UPDATE word SET text = '' WHERE id = " + first);
            bothHaveOne.await();
            try {
                s.execute("UPDATE word SET text = '' WHERE id = " + second);
                c.commit();
                return 0;
            } catch (SQLException e) {
                c.rollback();
                return state(e, "40001");
            }
        }
    }

    private int sum(List<Callable<Integer>> work) throws Exception {
        int sum = 0;
        for (Future<Integer> f : threads.invokeAll(work)) {
            sum += f.get();
        }
        return sum;
    }

    private void execute(String sql) throws SQLException {
        try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
            s.execute(sql);
        }
    }

    private int number(String query) throws SQLException {
        try (Connection c = pool.getConnection(); Statement s = c.createStatement(); ResultSet r = s.executeQuery(query)) {
            seen.here();
            r.next();
            return r.getInt(1);
        }
    }
}
