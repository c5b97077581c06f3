// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;

import org.gmp4j.bench.top.GoroutinesCommand;
import org.gmp4j.bench.top.ProfileCommand;
import org.gmp4j.bench.trace.TraceCommand;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringBootVersion;
import picocli.CommandLine;

/** The walk of {@code runtime/DIAGNOSING.md} through {@code examples/spring}, by the flag: each fault is seen from outside. */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShopTest {
    private static final int ORDERS = 12; // Eight of them empty the pool.

    private static String said(Object command, Object... args) {
        StringWriter out = new StringWriter();
        String[] line = new String[args.length];
        for (int i = 0; i < line.length; i++) {
            line[i] = args[i].toString();
        }
        assertEquals(0, new CommandLine(command).setOut(new PrintWriter(out)).execute(line));
        return out.toString();
    }

    /** Returns the group of goroutines that are in this method, with its head line, or an empty text. */
    private static String group(String goroutines, String method) {
        for (String group : goroutines.split("\n\n")) {
            if (group.contains("\tshop.Shop." + method + "(") || group.contains("\tshop.Shop.lambda$" + method)) {
                return group;
            }
        }
        return "";
    }

    /** The example that a reader starts is the version that is tested here. */
    @Test
    void itsVersion() throws IOException {
        String version = SpringBootVersion.getVersion();
        assertTrue(Files.readString(Path.of("examples/spring/pom.xml")).contains("<version>" + version + "</version>"), version);
    }

    @Test
    void itsFaults(@TempDir Path folder) throws Exception {
        OneFlag with = new OneFlag(folder);
        String path = folder + File.pathSeparator + OneFlag.libraries("org/springframework", "org/apache/tomcat", "org/apache/logging",
                "tools/jackson", "com/fasterxml/jackson/core/jackson-annotations", "ch/qos/logback", "org/slf4j", "io/micrometer",
                "jakarta/annotation", "org/yaml", "commons-logging", "org/jspecify", "com/zaxxer", "com/h2database").stream()
                .map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        assertEquals(0, ToolProvider.findFirst("javac").orElseThrow().run(System.out, System.err, "-Xlint:all", "-Werror", "-cp", path,
                "-d", folder.toString(), "examples/spring/src/main/java/shop/Shop.java"));
        AtomicBoolean over = new AtomicBoolean();
        HttpClient client = HttpClient.newHttpClient();
        try (RunningService running = new RunningService(OneFlag.java(with.flags(""),
                List.of("-cp", path, "shop.Shop", "--server.port=0", "--spring.threads.virtual.enabled=true")))) {
            Process shop = running.process;
            String url = "http://localhost:" + running.address.getPort() + "/";
            for (int i = 0; i < ORDERS; i++) {
                var _ = client.sendAsync(HttpRequest.newBuilder(URI.create(url + "order")).build(), HttpResponse.BodyHandlers.ofString());
            }
            assertEquals("will be sent\n",
                    client.send(HttpRequest.newBuilder(URI.create(url + "report")).build(), HttpResponse.BodyHandlers.ofString()).body());
            for (String page : new String[] {"stock", "stock", "stock", "price"}) {
                Thread t = new Thread(() -> {
                    while (!over.get()) {
                        client.sendAsync(HttpRequest.newBuilder(URI.create(url + page)).build(), HttpResponse.BodyHandlers.ofString())
                                .handle((_, _) -> 0).join();
                    }
                });
                t.setDaemon(true);
                t.start();
            }
            String all;
            do {
                all = said(new GoroutinesCommand(), shop.pid());
            } while (!group(all, "order").contains("goroutines [park (SynchronousQueue)]") || !all.contains("[park (ReentrantLock)]"));
            assertTrue(group(all, "report").startsWith("1 goroutine [park (Condition)]:\n\tthread "), all);
            assertTrue(group(all, "report").contains("\"report-1\""), all);
            String profile;
            do {
                profile = said(new ProfileCommand(), shop.pid(), "--seconds", 0.1);
            } while (!profile.contains("\tshop.Shop.price("));
            String block;
            do {
                block = said(new ProfileCommand(), shop.pid(), "--seconds", 0.1, "--kind", "block");
            } while (!group(block, "stock").contains("labels: {wait=park (ReentrantLock)}")
                    || !group(block, "order").contains("labels: {wait=park (SynchronousQueue)}"));
            String trace;
            do {
                trace = said(new TraceCommand(), shop.pid(), "--seconds", 0.3);
            } while (!trace.contains("park (ReentrantLock)"));
        } finally {
            over.set(true);
            client.shutdownNow();
        }
    }
}
