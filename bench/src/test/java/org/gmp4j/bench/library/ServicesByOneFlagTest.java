// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.gmp4j.bench.library.app.HelidonService;
import org.gmp4j.bench.library.app.MicronautService;
import org.gmp4j.bench.library.app.SpringService;
import org.gmp4j.bench.library.app.VertxService;
import org.gmp4j.weave.Weave;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.loader.tools.Library;
import org.springframework.boot.loader.tools.LibraryScope;
import org.springframework.boot.loader.tools.Repackager;

/**
 * Services of frameworks, unchanged, with the agent's option {@code default} and without: a Spring Boot jar with its libraries inside;
 * the same woven, without the agent; Helidon SE; verticles of Vert.x on virtual threads; and Micronaut, whose handlers leave the event
 * loop. Each answers the same, on goroutines with the flag, and stops on SIGTERM as before: the request under way is answered.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServicesByOneFlagTest {
    @TempDir
    static Path folder;

    private static OneFlag with;

    @BeforeAll
    static void jars() throws Exception {
        with = new OneFlag(folder);
    }

    private enum Service {
        SPRING {
            @Override
            List<String> command() throws Exception {
                Path jar = folder.resolve("service.jar");
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
            List<String> flags() {
                return List.of("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED",
                        "-Dgmp.default=on", "-Dgmp.default.debug=schedtrace=500");
            }

            @Override
            List<String> command() throws Exception {
                List<String> plain = SPRING.command();
                Path woven = folder.resolve("woven.jar");
                Weave.weave(plain.get(1), woven.toString(), null, System.out);
                List<String> command = new ArrayList<>(List.of("-cp", woven + File.pathSeparator + with.agent,
                        "org.springframework.boot.loader.launch.JarLauncher"));
                command.addAll(plain.subList(2, plain.size()));
                return command;
            }
        },
        HELIDON {
            @Override
            List<String> command() throws Exception {
                return with.program(HelidonService.class, "io/helidon");
            }
        },
        VERTX {
            @Override
            List<String> command() throws Exception {
                return with.program(VertxService.class, "io/vertx", "io/netty", "com/fasterxml/jackson/core");
            }
        },
        MICRONAUT {
            @Override
            List<String> command() throws Exception {
                List<String> command = new ArrayList<>(with.program(MicronautService.class, "io/micronaut", "io/netty", "io/projectreactor",
                        "org/reactivestreams", "jakarta/inject", "jakarta/annotation", "com/fasterxml/jackson", "org/slf4j",
                        "ch/qos/logback"));
                command.addAll(List.of("-micronaut.server.port=-1", "-micronaut.lifecycle.graceful-shutdown.enabled=true"));
                return command;
            }
        };

        List<String> flags() {
            return with.flags;
        }

        abstract List<String> command() throws Exception;
    }

    @ParameterizedTest
    @CsvSource({"SPRING, false", "SPRING, true", "WOVEN, true", "HELIDON, false", "HELIDON, true", "VERTX, false", "VERTX, true",
            "MICRONAUT, false", "MICRONAUT, true"})
    void answersAndStops(Service service, boolean flag) throws Exception {
        List<String> flags = flag ? service.flags() : List.of();
        try (RunningService running = new RunningService(OneFlag.java(flags, service.command()))) {
            running.answersAndStops(flag);
        }
    }
}
