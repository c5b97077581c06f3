// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library.app;

import io.micronaut.context.ApplicationContext;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.runtime.Micronaut;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;

/** A service as any other, which was not written for goroutines: its handlers leave the event loop, to virtual threads. */
@Controller
@ExecuteOn(TaskExecutors.BLOCKING)
public class MicronautService {
    /** Started with Micronaut's own options; prints the port that it serves on. */
    public static void main(String[] args) {
        ApplicationContext context = Micronaut.run(MicronautService.class, args);
        System.out.println("started on port " + context.getBean(EmbeddedServer.class).getPort() + " ");
    }

    /** What runs the handler. */
    @Get(uri = "/thread", produces = MediaType.TEXT_PLAIN)
    public String thread() {
        return Where.am();
    }

    /** The body, after a pause. */
    @Post(uri = "/", consumes = MediaType.ALL, produces = MediaType.APPLICATION_OCTET_STREAM)
    public byte[] echo(@Body byte[] body) throws InterruptedException {
        Thread.sleep(1);
        return body;
    }

    /** An answer that takes a while. */
    @Post(uri = "/slow", consumes = MediaType.ALL, produces = MediaType.APPLICATION_OCTET_STREAM)
    public byte[] slow(@Body byte[] body) throws InterruptedException {
        System.out.println("slow begins");
        Thread.sleep(500);
        return body;
    }
}
