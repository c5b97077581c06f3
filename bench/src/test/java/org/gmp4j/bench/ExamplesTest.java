// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.gmp4j.Gmp;
import org.gmp4j.ffi.NativeException;
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
        List<String> javac = new ArrayList<>(List.of("-Xlint:all,-path,-restricted", "-Werror", "-cp", libraries(),
                "-d", classes.toString()));
        try (Stream<Path> sources = Files.walk(Path.of("examples"))) {
            sources.map(Path::toString).filter(source -> source.endsWith(".java")).forEach(javac::add);
        }
        assertEquals(0, ToolProvider.findFirst("javac").orElseThrow()
                .run(System.out, System.err, javac.toArray(String[]::new)));
    }

    private static String libraries() throws Exception {
        return place(Gmp.class) + ":" + place(NativeException.class);
    }

    private static String place(Class<?> of) throws Exception {
        return Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
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
                "Parked 1000",
                "Spawns 10000",
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

    private static void right(String... words) throws Exception {
        List<String> java = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED",
                "--add-opens=java.base/java.lang=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classes + ":" + libraries()));
        java.addAll(List.of(words));
        Process p = new ProcessBuilder(java)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, p.waitFor(), out);
        assertEquals(List.of(), out.lines().filter(line -> !line.contains("(right)")).toList());
    }
}
