// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.gmp4j.bench.library.app.HelidonService;
import org.gmp4j.bench.library.app.JettyService;
import org.gmp4j.bench.library.app.MicronautService;
import org.gmp4j.bench.library.app.SpringService;
import org.gmp4j.bench.library.app.VertxService;
import org.gmp4j.weave.Weave;
import org.springframework.boot.loader.tools.Library;
import org.springframework.boot.loader.tools.LibraryScope;
import org.springframework.boot.loader.tools.Repackager;

/**
 * Services of frameworks, unchanged: a Spring Boot jar with its libraries inside; the same woven, without the agent; Helidon SE; Jetty;
 * verticles of Vert.x on virtual threads; and Micronaut, whose handlers leave the event loop.
 */
enum FrameworkService {
    SPRING {
        @Override
        List<String> command(OneFlag with) throws Exception {
            Path jar = with.folder.resolve("service.jar");
            if (!Files.exists(jar)) {
                Repackager repackager = new Repackager(with.classes("spring.jar").toFile());
                repackager.setMainClass(SpringService.class.getName());
                repackager.repackage(jar.toFile(), callback -> {
                    for (Path p : OneFlag.libraries("org/springframework", "org/apache/tomcat", "org/apache/logging", "tools/jackson",
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
        List<String> flags(OneFlag with, String debug) {
            return List.of("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED",
                    "-Dgmp.default=on", "-Dgmp.default.debug=" + debug);
        }

        @Override
        List<String> command(OneFlag with) throws Exception {
            List<String> plain = SPRING.command(with);
            Path woven = with.folder.resolve("woven.jar");
            Weave.weave(plain.get(1), woven.toString(), null, System.out);
            List<String> command = new ArrayList<>(List.of("-cp", woven + File.pathSeparator + with.agent,
                    "org.springframework.boot.loader.launch.JarLauncher"));
            command.addAll(plain.subList(2, plain.size()));
            return command;
        }
    },
    HELIDON {
        @Override
        List<String> command(OneFlag with) throws Exception {
            return with.program(HelidonService.class, "io/helidon");
        }
    },
    /** Answers with one text, for figures. */
    JETTY {
        @Override
        List<String> command(OneFlag with) throws Exception {
            return with.program(JettyService.class, "org/eclipse/jetty", "org/slf4j");
        }
    },
    VERTX {
        @Override
        List<String> command(OneFlag with) throws Exception {
            return with.program(VertxService.class, "io/vertx", "io/netty", "com/fasterxml/jackson/core");
        }
    },
    MICRONAUT {
        @Override
        List<String> command(OneFlag with) throws Exception {
            List<String> command = new ArrayList<>(with.program(MicronautService.class, "io/micronaut", "io/netty", "io/projectreactor",
                    "org/reactivestreams", "jakarta/inject", "jakarta/annotation", "com/fasterxml/jackson", "org/slf4j",
                    "ch/qos/logback"));
            command.addAll(List.of("-micronaut.server.port=-1", "-micronaut.lifecycle.graceful-shutdown.enabled=true"));
            return command;
        }
    };

    /** What makes its virtual threads goroutines; {@code debug} as in GMPDEBUG. */
    List<String> flags(OneFlag with, String debug) {
        return with.flags(debug);
    }

    /** What stands behind the JVM's own options. */
    abstract List<String> command(OneFlag with) throws Exception;
}
