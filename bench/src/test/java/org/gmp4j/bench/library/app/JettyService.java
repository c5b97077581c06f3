// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library.app;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** A service as any other, which was not written for goroutines: it answers whatever is asked for with the same JSON. */
public final class JettyService {
    private static final byte[] ANSWER = "{\"hello\":\"world\",\"letters\":5}".getBytes(StandardCharsets.US_ASCII);

    private JettyService() {
    }

    /** Serves on a free port, and prints it. */
    public static void main(String[] args) throws Exception {
        QueuedThreadPool threads = new QueuedThreadPool();
        threads.setVirtualThreadsExecutor(Executors.newVirtualThreadPerTaskExecutor());
        Server server = new Server(threads);
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("localhost");
        server.addConnector(connector);
        server.setStopAtShutdown(true);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
                response.write(true, ByteBuffer.wrap(ANSWER), callback);
                return true;
            }
        });
        server.start();
        System.out.println("started on port " + connector.getLocalPort() + " ");
    }
}
