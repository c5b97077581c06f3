// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library.app;

import java.util.concurrent.TimeUnit;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;

/** A service as any other, which was not written for goroutines: verticles on virtual threads, which wait for futures. */
public final class VertxService extends VerticleBase {
    private static final int INSTANCES = 4;
    private static final long GRACE_SECONDS = 10;

    private static volatile int port;

    private HttpServer server;

    /** Serves on a free port, and prints it. */
    public static void main(String[] args) throws Exception {
        Vertx vertx = Vertx.vertx();
        String _ = vertx.deployVerticle(VertxService.class, new DeploymentOptions().setThreadingModel(ThreadingModel.VIRTUAL_THREAD)
                        .setInstances(INSTANCES))
                .toCompletionStage()
                .toCompletableFuture()
                .get();
        System.out.println("started on port " + port + " ");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> vertx.close().toCompletionStage().toCompletableFuture().join()));
    }

    @Override
    public Future<?> start() {
        server = vertx.createHttpServer().requestHandler(this::answer);
        // Below 0 it is any free one, the same for all instances.
        return server.listen(-1).onSuccess(s -> port = s.actualPort());
    }

    @Override
    public Future<?> stop() {
        return server.shutdown(GRACE_SECONDS, TimeUnit.SECONDS);
    }

    private void answer(HttpServerRequest request) {
        switch (request.path()) {
            case "/thread" -> request.response().end(Where.am());
            case "/slow" -> {
                Buffer body = request.body().await();
                System.out.println("slow begins");
                vertx.timer(500, TimeUnit.MILLISECONDS).await();
                request.response().end(body);
            }
            default -> {
                Buffer body = request.body().await();
                vertx.timer(1, TimeUnit.MILLISECONDS).await();
                request.response().end(body);
            }
        }
    }
}
