// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.sun.security.auth.module.UnixSystem;
import org.junit.jupiter.api.Assumptions;
import org.tukaani.xz.XZInputStream;

/**
 * A PostgreSQL server of its own, unpacked from a Maven artifact into a temporary folder. PostgreSQL refuses to run as
 * root; then it runs as the user "nobody".
 */
final class Postgres implements AutoCloseable {
    static final String USER = "postgres";
    private static final String ARCHIVE = "/postgres-linux-x86_64.txz";
    private static final String NOBODY = "65534";
    private static final long SECONDS = 60;
    /** Tests need no disk that survives a power cut. */
    private static final List<String> FAST = List.of("-c", "fsync=off", "-c", "full_page_writes=off");

    private final Path dir;
    private final int port;
    private final List<String> asUser;
    private Process server;

    private Postgres(Path dir, int port, List<String> asUser) {
        this.dir = dir;
        this.port = port;
        this.asUser = asUser;
    }

    /** Starts one. The test is skipped, with the reason, where no PostgreSQL can run. */
    static Postgres start() throws IOException, InterruptedException {
        Assumptions.assumeTrue(
                Postgres.class.getResource(ARCHIVE) != null && System.getProperty("os.arch").equals("amd64"),
                "PostgreSQL's binaries come for x86-64");
        boolean root = new UnixSystem().getUid() == 0;
        Path dir = Files.createTempDirectory(
                "gmp4j-postgres", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Postgres postgres = new Postgres(
                dir,
                port,
                root
                        ? List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--no-new-privs")
                        : List.of());
        try {
            postgres.unpack();
            if (root) {
                postgres.run(List.of("chown", "-R", NOBODY + ":" + NOBODY, dir.toString()));
                String refused = postgres.output(postgres.asUser("true"));
                Assumptions.assumeTrue(
                        refused.isEmpty(), "PostgreSQL does not run as root, and another user is refused: " + refused);
            }
            postgres.serve();
            return postgres;
        } catch (Throwable t) {
            postgres.close();
            throw t;
        }
    }

    /** For JDBC. */
    String url() {
        return "jdbc:postgresql://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + port + "/postgres";
    }

    private void unpack() throws IOException, InterruptedException {
        Process tar = new ProcessBuilder("tar", "-x", "-f", "-", "-C", dir.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (InputStream in = new XZInputStream(Postgres.class.getResourceAsStream(ARCHIVE));
                OutputStream out = tar.getOutputStream()) {
            in.transferTo(out);
        }
        if (tar.waitFor() != 0) {
            throw new IOException("tar failed");
        }
    }

    private List<String> asUser(String... command) {
        List<String> all = new ArrayList<>(asUser);
        all.addAll(List.of(command));
        return all;
    }

    private String program(String name) {
        return dir.resolve("bin").resolve(name).toString();
    }

    private void serve() throws IOException, InterruptedException {
        String data = dir.resolve("data").toString();
        run(asUser(program("initdb"), "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"));
        List<String> command = asUser(
                program("postgres"), "-D", data, "-p", Integer.toString(port), "-k", dir.toString(), "-h",
                InetAddress.getLoopbackAddress().getHostAddress());
        command.addAll(FAST);
        server = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log().toFile())
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(server::destroy)); // It does not outlive the tests.
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!accepts()) {
            if (!server.isAlive() || System.nanoTime() > end) {
                throw new IOException("PostgreSQL did not start: " + Files.readString(log()));
            }
            Thread.sleep(20);
        }
    }

    private Path log() {
        return dir.resolve("log");
    }

    private boolean accepts() {
        try {
            DriverManager.getConnection(url(), USER, "").close();
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    private void run(List<String> command) throws IOException, InterruptedException {
        String said = output(command);
        if (!said.isEmpty()) {
            throw new IOException(said);
        }
    }

    /** Runs it to its end: empty when it succeeds, else what it said. */
    private String output(List<String> command) throws IOException, InterruptedException {
        Path out = Files.createTempFile("gmp4j", ".out");
        try {
            Process p = new ProcessBuilder(command)
                    .directory(dir.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(out.toFile())
                    .start();
            if (!p.waitFor(SECONDS, TimeUnit.SECONDS)) {
                p.destroyForcibly().waitFor();
                return command + " does not end: " + Files.readString(out);
            }
            return p.exitValue() == 0 ? "" : command + ", exit code " + p.exitValue() + ": " + Files.readString(out);
        } catch (IOException e) {
            return e.getMessage();
        } finally {
            Files.delete(out);
        }
    }

    @Override
    public void close() throws IOException {
        if (server != null) {
            server.destroy(); // SIGTERM: it waits for sessions, of which there are none unless the test failed.
            server.onExit().completeOnTimeout(server, SECONDS, TimeUnit.SECONDS).join();
            server.destroyForcibly().onExit().join();
        }
        try (Stream<Path> files = Files.walk(dir)) {
            for (Path p : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(p);
            }
        }
    }
}
