// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.gmp4j.Gmp;
import org.gmp4j.bench.library.app.HelidonService;
import org.gmp4j.bench.library.app.SpringService;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.weave.Weave;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.loader.tools.Library;
import org.springframework.boot.loader.tools.LibraryScope;
import org.springframework.boot.loader.tools.Repackager;

/**
 * Services of frameworks, unchanged, with the agent's option {@code default} and without: a Spring Boot jar with its libraries inside,
 * the same woven, without the agent, and Helidon SE. Each answers the same, on goroutines with the flag, and stops on SIGTERM as before: the request under way
 * is answered.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServicesByOneFlagTest {
    private static final int CONNECTIONS = 16;
    private static final int REQUESTS = 60;
    private static final int SIGTERM = 128 + 15;
    private static final Pattern PORT = Pattern.compile("started on port (\\d+) ");

    @TempDir
    static Path folder;

    private static Path agent;

    /** The two jars side by side, as they are in a distribution. */
    @BeforeAll
    static void jars() throws Exception {
        Path runtime = place(Gmp.class);
        Assumptions.assumeTrue(runtime.toString().endsWith(".jar"), "the runtime is a jar in mvn verify only");
        Path bindings = place(NativeException.class);
        agent = Files.copy(runtime, folder.resolve(runtime.getFileName()));
        Path _ = Files.copy(bindings, folder.resolve(bindings.getFileName()));
    }

    private static Path place(Class<?> of) throws Exception {
        return Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private static List<Path> libraries(String... groups) {
        return Stream.of(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                        .split(File.pathSeparator))
                .filter(p -> Stream.of(groups).anyMatch(g -> p.contains("/repository/" + g + "/")))
                .map(Path::of)
                .toList();
    }

    /** The classes of the services alone. */
    private static Path classes(String name) throws Exception {
        Path jar = folder.resolve(name);
        Path root = place(SpringService.class);
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file);
                Stream<Path> all = Files.list(root.resolve("org/gmp4j/bench/library/app"))) {
            for (Path p : (Iterable<Path>) all::iterator) {
                out.putNextEntry(new JarEntry(root.relativize(p).toString()));
                Files.copy(p, out);
            }
        }
        return jar;
    }

    private enum Service {
        SPRING {
            @Override
            List<String> command() throws Exception {
                Path jar = folder.resolve("service.jar");
                if (!Files.exists(jar)) {
                    Repackager repackager = new Repackager(classes("spring.jar").toFile());
                    repackager.setMainClass(SpringService.class.getName());
                    repackager.repackage(jar.toFile(), callback -> {
                        for (Path p : libraries("org/springframework", "org/apache/tomcat", "org/apache/logging", "tools/jackson",
                                "com/fasterxml/jackson/core/jackson-annotations", "ch/qos/logback", "org/slf4j", "io/micrometer",
                                "jakarta/annotation", "org/yaml", "commons-logging", "org/jspecify")) {
                            if (!p.getFileName().toString().startsWith("spring-boot-loader")) {
                                callback.library(new Library(p.toFile(), LibraryScope.COMPILE));
                            }
                        }
                    });
                }
                return List.of("-jar", jar.toString(), "--server.port=0", "--spring.threads.virtual.enabled=true");
            }
        },
        /** The same, its jars woven: no agent. The runtime is beside it, in sight of Spring's class loader. */
        WOVEN {
            @Override
            List<String> flags() {
                return List.of("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED",
                        "-Dgmp.default=on", "-Dgmp.default.debug=schedtrace=500");
            }

            @Override
            List<String> command() throws Exception {
                List<String> plain = SPRING.command();
                Path woven = folder.resolve("woven.jar");
                Weave.weave(plain.get(1), woven.toString(), null, System.out);
                List<String> command = new ArrayList<>(List.of("-cp", woven + File.pathSeparator + agent,
                        "org.springframework.boot.loader.launch.JarLauncher"));
                command.addAll(plain.subList(2, plain.size()));
                return command;
            }
        },
        HELIDON {
            @Override
            List<String> command() throws Exception {
                List<String> path = new ArrayList<>(List.of(classes("helidon.jar").toString()));
                libraries("io/helidon").forEach(p -> path.add(p.toString()));
                return List.of("-cp", String.join(File.pathSeparator, path), HelidonService.class.getName());
            }
        };

        List<String> flags() {
            return List.of("-javaagent:" + agent + "=default,debug=schedtrace=500");
        }

        abstract List<String> command() throws Exception;
    }

    /** A service in a process of its own. */
    private static final class Running implements AutoCloseable {
        private final Process process;
        private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        private final List<String> all = new ArrayList<>();
        private final InetSocketAddress address;

        Running(Service service, boolean flag) throws Exception {
            List<String> command =
                    new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
            if (flag) {
                command.add("--enable-native-access=ALL-UNNAMED");
                command.addAll(service.flags());
            }
            command.addAll(service.command());
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
            Thread.ofPlatform().daemon().start(() -> {
                try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
                    out.lines().forEach(lines::add);
                } catch (IOException e) {
                    lines.add(e.toString());
                }
                lines.add("");
            });
            Matcher port = await(PORT);
            address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port.group(1)));
        }

        /** The next line that has {@code what} in it. */
        Matcher await(Pattern what) throws InterruptedException {
            while (process.isAlive() || !lines.isEmpty()) {
                String line = lines.poll(1, TimeUnit.SECONDS);
                if (line != null) {
                    all.add(line);
                    Matcher m = what.matcher(line);
                    if (m.find()) {
                        return m;
                    }
                }
            }
            throw new AssertionError("it ended: " + String.join("\n", all));
        }

        String get(String path) throws Exception {
            try (HttpClient client = HttpClient.newHttpClient()) {
                URI uri = URI.create("http://localhost:" + address.getPort() + path);
                return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
            }
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @CsvSource({"SPRING, false", "SPRING, true", "WOVEN, true", "HELIDON, false", "HELIDON, true"})
    void answersAndStops(Service service, boolean flag) throws Exception {
        try (Running running = new Running(service, flag);
                ExecutorService clients = Executors.newFixedThreadPool(CONNECTIONS)) {
            assertEquals("virtual true, goroutine " + flag, running.get("/thread"));
            List<Callable<Integer>> work = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                int number = i;
                work.add(() -> client(running.address, number));
            }
            int answered = 0;
            for (Future<Integer> f : clients.invokeAll(work)) {
                answered += f.get();
            }
            assertEquals(CONNECTIONS * REQUESTS, answered);
            if (flag) {
                running.await(Pattern.compile("^SCHED \\d+ms: gomaxprocs="));
            }
            byte[] body = {1, 2, 3};
            Future<byte[]> last = clients.submit(() -> {
                try (HttpConnection c = new HttpConnection(running.address)) {
                    return c.post("/slow", body).body();
                }
            });
            running.await(Pattern.compile("slow begins"));
            running.process.destroy(); // SIGTERM.
            assertArrayEquals(body, last.get());
            assertTrue(running.process.waitFor(1, TimeUnit.MINUTES), "does not stop");
            assertEquals(SIGTERM, running.process.exitValue());
        }
    }

    private static int client(InetSocketAddress address, int number) throws IOException {
        Random random = new Random(number);
        try (HttpConnection c = new HttpConnection(address)) {
            for (int i = 0; i < REQUESTS; i++) {
                byte[] body = new byte[1 + random.nextInt(i % 10 == 0 ? 40_000 : 100)];
                random.nextBytes(body);
                assertArrayEquals(body, c.post("/", body).body());
            }
        }
        return REQUESTS;
    }
}
