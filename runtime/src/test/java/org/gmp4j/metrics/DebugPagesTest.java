// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Chan;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The pages below /debug/pprof/, and clients that must not have them. */
class DebugPagesTest {
    private static HttpResponse<byte[]> get(HttpClient client, MetricsServer server, String path) throws IOException, InterruptedException {
        URI uri = URI.create("http://localhost:" + server.address().getPort() + "/debug/pprof/" + path);
        return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    private static String text(HttpResponse<byte[]> r) {
        return r.statusCode() + " " + new String(r.body());
    }

    @Test
    void pages() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        try (TestGmp g = TestGmp.with(b -> b.procs(2).name("the one")); HttpClient client = HttpClient.newHttpClient();
                MetricsServer server = MetricsServer.start(MetricsServerTest.anyPort())) {
            String one = "scheduler=the+one&";
            Chan<Integer> c = Chan.make();
            g.go(() -> {
                Integer _ = c.recv();
            });
            g.go(() -> {
                while (!over.get()) {
                    Thread.onSpinWait();
                }
            });
            try {
                assertTrue(text(get(client, server, "")).startsWith("200 goroutine "));
                String all;
                do {
                    all = text(get(client, server, "goroutine?" + one + "debug=1"));
                } while (!all.contains("[chan receive]"));
                assertTrue(all.startsWith("200 goroutine profile: total 2\n"), all);
                HttpResponse<byte[]> pprof = get(client, server, "goroutine?" + one);
                assertEquals(List.of("goroutine count"), new PprofDecoded(pprof.body()).types);
                assertEquals("attachment; filename=\"goroutine.pb.gz\"", pprof.headers().firstValue("Content-Disposition").orElse(""));
                assertTrue(text(get(client, server, "goroutineleak?debug=1&" + one)).startsWith("200 goroutineleak profile: total "));
                do {
                    all = text(get(client, server, "profile?seconds=0.02&debug=1&" + one));
                } while (!all.contains("DebugPagesTest"));
                assertEquals("200 block profile\n", text(get(client, server, "block?debug=1&" + one)));
                assertEquals("200 mutex profile\n", text(get(client, server, "mutex?seconds=0.01&debug=1&" + one)));
                HttpResponse<byte[]> trace = get(client, server, "trace?seconds=0.01");
                assertTrue(trace.statusCode() == 200 && trace.body().length > 100, () -> text(trace));

                assertEquals("400 seconds is \"long\": use more than 0, and at most 3600\n",
                        text(get(client, server, "block?seconds=long&" + one)));
                assertEquals("400 seconds is 0.0: use more than 0, and at most 3600\n", text(get(client, server, "trace?seconds=0")));
                String none = text(get(client, server, "goroutine?scheduler=x"));
                assertTrue(none.startsWith("400 name one of the schedulers ") && none.contains("the one"), none);
                assertTrue(g.scheduler().blockProfile.openWindow(1));
                assertEquals("409 another block profile of it is being taken\n", text(get(client, server, "block?seconds=0.01&" + one)));
                g.scheduler().blockProfile.closeWindow();
                assertTrue(text(get(client, server, "set?procs=1")).startsWith("404 "), "a page that changes something");
            } finally {
                over.set(true);
                c.close();
            }
        }
    }

    /** Metrics are for everybody who reaches the server; these pages are not. */
    @Test
    void onlyForThisMachine() throws Exception {
        try (MetricsServer server = MetricsServer.start(new InetSocketAddress(InetAddress.getByName("0.0.0.0"), 0))) {
            InetSocketAddress here = new InetSocketAddress(InetAddress.getLoopbackAddress(), server.address().getPort());
            String page = "GET /debug/pprof/ HTTP/1.1";
            assertTrue(MetricsServerTest.ask(here, page).startsWith("HTTP/1.1 200 "));
            assertTrue(MetricsServerTest.ask(here, "HEAD /debug/pprof/profile HTTP/1.1").startsWith("HTTP/1.1 200 "), "without a profile");
            assertTrue(MetricsServerTest.ask(here, page, "evil.example").startsWith("HTTP/1.1 403 "), "by another name");
            assertTrue(MetricsServerTest.ask(here, page + "\r\nSec-Fetch-Site: cross-site").startsWith("HTTP/1.1 403 "), "by a page");
            assertTrue(MetricsServerTest.ask(here, page + "\r\nSec-Fetch-Site: none").startsWith("HTTP/1.1 200 "));
            assertTrue(MetricsServerTest.ask(here, "POST /debug/pprof/ HTTP/1.1").startsWith("HTTP/1.1 405 "));
            InetAddress outer = NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
                    .filter(a -> a.getAddress().length == 4 && !a.isLoopbackAddress()).findFirst().orElse(null);
            Assumptions.assumeTrue(outer != null, "this machine has no other address");
            InetSocketAddress there = new InetSocketAddress(outer, server.address().getPort());
            assertTrue(MetricsServerTest.ask(there, page).startsWith("HTTP/1.1 403 "), "from another address");
            assertTrue(MetricsServerTest.ask(there, "GET /metrics HTTP/1.1", "evil.example").startsWith("HTTP/1.1 200 "));
        }
    }
}
