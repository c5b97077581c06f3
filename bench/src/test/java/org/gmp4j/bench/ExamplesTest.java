// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples compile, and each of their results is right, with less to do than they have by default. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ExamplesTest {
    @TempDir
    private static Path classes;

    /** All at once: a source file that java itself compiles first takes a second longer. */
    @BeforeAll
    static void compile() throws Exception {
        List<String> javac = new ArrayList<>(List.of("-Xlint:all,-path,-restricted", "-Werror"));
        try (Stream<Path> sources = Files.walk(Path.of("examples"))) {
            sources.map(Path::toString).filter(source -> source.endsWith(".java")
                    && !source.startsWith("examples/spring/")).forEach(javac::add); // Spring's is compiled by ShopTest.
        }
        ChildJava.compile(classes, javac);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Tokens 1000 5",
                "Sieve 100",
                "Philosophers 5 1000",
                "Pipeline 5000 1000",
                "RateLimiter 200 2000",
                "Skynet 1000",
                "Parked 1000 20",
                "Spawns 10000",
                "Start",
                "Start jdk",
                "Outside 1",
                "Young 2",
                "Young sleep 1",
                "Leaks 1000",
                "Tenants 0.1",
                "Profiled 1 target",
                "byexample.GoByExample",
                "byexample.JavaPrograms",
                "resp.Resp"
            })
    void example(String command) throws Exception {
        right(command.split(" "));
    }

    /** The one with a C library: built as it says itself, with the system's compiler, and warnings are errors. */
    @Test
    void sensor(@TempDir Path dir) throws Exception {
        Path library = dir.resolve("libsensor.so");
        Process cc = new ProcessBuilder(
                        Objects.requireNonNullElse(System.getenv("CC"), "cc"),
                        "-std=c11",
                        "-O2",
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        "-shared",
                        "-fPIC",
                        "-pthread",
                        "-I",
                        "../c-shims/include",
                        "-o",
                        library.toString(),
                        "../c-shims/examples/sensor.c")
                .inheritIO()
                .start();
        assertEquals(0, cc.waitFor());
        right("Sensor", library.toString(), "20000");
    }

    /**
     * The one in Kotlin, where its compiler and library are in Maven's local repository: {@code gmp peers} and {@code .ci/kotlin} put them
     * there.
     */
    @Test
    void kotlin(@TempDir Path dir) throws Exception {
        Path jetbrains = Path.of(System.getProperty("user.home"), ".m2/repository/org/jetbrains");
        String stdlib = newest(jetbrains, "kotlin/kotlin-stdlib");
        String coroutines = newest(jetbrains, "kotlinx/kotlinx-coroutines-core-jvm");
        List<String> compiler = new ArrayList<>(List.of(newest(jetbrains, "kotlin/kotlin-compiler-embeddable"), stdlib, coroutines));
        for (String part : List.of("kotlin/kotlin-script-runtime", "kotlin/kotlin-reflect", "kotlin/kotlin-daemon-embeddable",
                "annotations")) {
            compiler.add(newest(jetbrains, part));
        }
        assumeFalse(compiler.contains(""), "no Kotlin compiler in " + jetbrains);
        String path = stdlib + ":" + coroutines + ":" + ChildJava.runtime();
        Process kotlinc = new ProcessBuilder(
                        ChildJava.JAVA,
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        String.join(":", compiler),
                        "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
                        "-no-stdlib",
                        "-no-reflect",
                        "-jvm-target",
                        "17",
                        "-cp",
                        path,
                        "-d",
                        dir.toString(),
                        "examples/byexample/Coroutines.kt")
                .redirectErrorStream(true)
                .start();
        String said = new String(kotlinc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, kotlinc.waitFor(), said);
        right("-cp", dir + ":" + path, "byexample.CoroutinesKt"); // The last class path counts.
    }

    /** The newest jar of an artifact; empty where there is none. */
    private static String newest(Path jetbrains, String artifact) throws Exception {
        Path versions = jetbrains.resolve(artifact);
        if (!Files.isDirectory(versions)) {
            return "";
        }
        try (Stream<Path> jars = Files.walk(versions)) {
            return jars.filter(p -> p.toString().endsWith(".jar") && !p.toString().endsWith("-sources.jar"))
                    .max(Comparator.comparing(p -> Runtime.Version.parse(version(p))))
                    .map(Path::toString)
                    .orElse("");
        }
    }

    private static String version(Path jar) {
        return jar.getParent().getFileName().toString().replaceAll("-.*", "").replaceAll("(\\.0)+$", "");
    }

    private static void right(String... words) throws Exception {
        Process p = new ProcessBuilder(ChildJava.command(classes + ":" + ChildJava.runtime(), words))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, p.waitFor(), out);
        assertEquals(List.of(), out.lines().filter(line -> !line.contains("(right)")).toList());
    }
}
