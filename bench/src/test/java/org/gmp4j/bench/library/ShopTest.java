// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.spi.ToolProvider;

import org.gmp4j.bench.top.GoroutinesCommand;
import org.gmp4j.bench.top.ProfileCommand;
import org.gmp4j.bench.trace.TraceCommand;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The walk of {@code runtime/DIAGNOSING.md} through {@code examples/Shop.java}, by the flag: each fault is seen from outside. */
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
            if (group.contains("\tShop." + method + "(") || group.contains("\tShop.lambda$" + method)) {
                return group;
            }
        }
        return "";
    }

    @Test
    void itsFaults(@TempDir Path folder) throws Exception {
        OneFlag with = new OneFlag(folder);
        assertEquals(0, ToolProvider.findFirst("javac").orElseThrow()
                .run(System.out, System.err, "-d", folder.toString(), "examples/Shop.java"));
        Process shop = new ProcessBuilder(OneFlag.java(with.flags(""), List.of("-cp", folder.toString(), "Shop", "0")))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        AtomicBoolean over = new AtomicBoolean();
        HttpClient client = HttpClient.newHttpClient();
        try {
            String url = shop.inputReader().readLine();
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
            } while (!group(all, "order").contains("goroutines [park (Semaphore)]") || !all.contains("[park (ReentrantLock)]"));
            assertTrue(group(all, "report").startsWith("1 goroutine [park (Condition)]:\n\tthread "), all);
            assertTrue(group(all, "report").contains("\"report-1\""), all);
            String profile;
            do {
                profile = said(new ProfileCommand(), shop.pid(), "--seconds", 0.1);
            } while (!profile.contains("\tShop.price("));
            String block;
            do {
                block = said(new ProfileCommand(), shop.pid(), "--seconds", 0.1, "--kind", "block");
            } while (!group(block, "stock").contains("labels: {wait=park (ReentrantLock)}")
                    || !group(block, "order").contains("labels: {wait=park (Semaphore)}"));
            String trace;
            do {
                trace = said(new TraceCommand(), shop.pid(), "--seconds", 0.3);
            } while (!trace.contains("park (ReentrantLock)"));
        } finally {
            over.set(true);
            shop.destroyForcibly().waitFor();
            client.shutdownNow();
        }
    }
}
