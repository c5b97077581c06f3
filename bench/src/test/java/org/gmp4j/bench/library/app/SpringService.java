// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library.app;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** A service as any other, which was not written for goroutines. */
@SpringBootApplication
@RestController
public class SpringService {
    /** Started with Spring's own options. */
    public static void main(String[] args) {
        SpringApplication.run(SpringService.class, args);
    }

    /** What {@link #hello} answers. */
    record Greeting(String hello, int letters) {
    }

    /** As JSON. */
    @GetMapping("/hello")
    Greeting hello() {
        return new Greeting("world", "world".length());
    }

    /** What runs the handler. */
    @GetMapping("/thread")
    public String thread() {
        return Where.am();
    }

    /** The body, after a pause. */
    @PostMapping("/")
    public byte[] echo(@RequestBody byte[] body) throws InterruptedException {
        Thread.sleep(1);
        return body;
    }

    /** An answer that takes a while. */
    @PostMapping("/slow")
    public byte[] slow(@RequestBody byte[] body) throws InterruptedException {
        System.out.println("slow begins");
        Thread.sleep(500);
        return body;
    }
}
