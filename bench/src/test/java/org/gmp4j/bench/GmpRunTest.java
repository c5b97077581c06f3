// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.gmp4j.Gmp;
import org.gmp4j.ffi.NativeException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ./gmp run} itself, and what a program of its starts with. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GmpRunTest {
    private static final String FROM_CACHE = " source: shared objects file";
    private static final String PROGRAM = """
            import java.lang.management.ManagementFactory;
            import org.gmp4j.Gmp;
            import org.gmp4j.Go;

            public class Tiny {
                public static void main(String[] args) {
                    Gmp.main(() -> System.out.println(args.length + " " + Go.inGoroutine() + " " + cache()));
                }

                static boolean cache() {
                    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream().anyMatch(a -> a.startsWith("-XX:AOTCache="));
                }
            }
            """;

    @TempDir
    private static Path dir;

    private record Ended(int exit, List<String> out, String err) {
    }

    /** The tests of a build that {@code ./gmp} did not start would have it build beneath them. */
    @BeforeAll
    static void compile() throws Exception {
        assumeTrue(System.getenv("GMP_BUILDING") != null, "not started by ./gmp test");
        Path source = Files.writeString(dir.resolve("Tiny.java"), PROGRAM);
        ChildJava.compile(dir, List.of(source.toString()));
    }

    private static Ended run(String... args) throws Exception {
        return run(Map.of(), args);
    }

    private static Ended run(Map<String, String> environment, String... args) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of("../gmp").toRealPath().toString(), "run"));
        command.addAll(List.of(args));
        File err = dir.resolve("stderr").toFile();
        ProcessBuilder gmp = new ProcessBuilder(command).directory(dir.toFile()).redirectError(err);
        gmp.environment().putAll(environment);
        Process p = gmp.start();
        List<String> out = p.inputReader(StandardCharsets.UTF_8).readAllLines();
        return new Ended(p.waitFor(), out, Files.readString(err.toPath()));
    }

    private static boolean cached(Ended e, String name) {
        return e.out.stream().anyMatch(line -> line.contains(" " + name + FROM_CACHE));
    }

    @Test
    void classStartsFromACache() throws Exception {
        Ended e = run("-Xlog:class+load", "Tiny", "a", "b");
        assertEquals("2 true true", e.out.stream().filter(line -> !line.startsWith("[")).reduce("", String::concat), e::toString);
        assertTrue(cached(e, "org.gmp4j.sched.Schedule"), e::toString);
        assertEquals(new Ended(0, List.of("0 true true"), ""), run("Tiny")); // There is a cache now, of which it says nothing.
    }

    @Test
    void sourceStartsFromACache() throws Exception {
        Ended e = run("-Xlog:class+load", "-Dany=thing", "Tiny.java", "a");
        assertTrue(e.out.contains("1 true true"), e::toString);
        assertTrue(cached(e, "org.gmp4j.sched.Schedule"), e::toString);
        assertTrue(cached(e, "com.sun.tools.javac.main.JavaCompiler"), e::toString);
        assertEquals(new Ended(0, List.of("0 true true"), ""), run("Tiny.java"));
    }

    /** A JVM that refuses a cache starts slower than without. */
    @ParameterizedTest
    @ValueSource(strings = {"--add-opens=java.base/java.util=ALL-UNNAMED", "-XX:+UseZGC", "-Xmx40g", "-Djdk.module.validation=true",
        "-Dcom.sun.management.jmxremote.port=0 -Dcom.sun.management.jmxremote.authenticate=false -Dcom.sun.management.jmxremote.ssl=false"})
    void noCacheWhereAnOptionMayNotFit(String options) throws Exception {
        List<String> args = new ArrayList<>(List.of(options.split(" ")));
        args.add("Tiny");
        assertEquals(new Ended(0, List.of("0 true false"), ""), run(args.toArray(String[]::new)));
    }

    @Test
    void noCacheWhereAVariableMayNotFit() throws Exception {
        Ended e = run(Map.of("_JAVA_OPTIONS", "-XX:+UseSerialGC"), "Tiny");
        assertEquals(List.of("0 true false"), e.out, e::toString);
    }

    /** In the C locale Java would have no letter for a µ. */
    @Test
    void microsecondsInAnyLocale() throws Exception {
        ProcessBuilder gmp = new ProcessBuilder(Path.of("../gmp").toRealPath().toString(), "simulate", "--help").redirectErrorStream(true);
        gmp.environment().put("LC_ALL", "C");
        String help = new String(gmp.start().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(help.contains(" 20 µs"), help);
    }

    @Test
    void ownCache() throws Exception {
        Path cache = dir.resolve("own.aot");
        assertEquals(0, run("-XX:AOTCacheOutput=" + cache, "-cp", dir.resolve("none.jar").toString(), "org.gmp4j.Hello").exit);
        Ended e = run("-XX:AOTCache=" + cache, "-Xlog:class+load", "org.gmp4j.Hello");
        assertEquals(0, e.exit, e::toString);
        assertTrue(cached(e, "org.gmp4j.Hello"), e::toString);
    }

    /** What the runtime's jar itself runs. */
    @Test
    void hello() throws Exception {
        Path jar = ChildJava.place(Gmp.class).toRealPath();
        Path bindings = ChildJava.place(NativeException.class).toRealPath();
        assumeTrue(jar.toString().endsWith(".jar"), "there is no jar yet");
        Path beside = Files.copy(jar, dir.resolve(jar.getFileName()));
        Process p = java(beside);
        assertEquals("", out(p));
        assertEquals(2, p.waitFor()); // The bindings are missing.
        Files.copy(bindings, dir.resolve(bindings.getFileName()));
        p = java(beside);
        assertTrue(out(p).startsWith("gmp4j works here: 1000 goroutines ran on "));
        assertEquals(0, p.waitFor());
    }

    private static Process java(Path jar) throws Exception {
        return new ProcessBuilder(ChildJava.JAVA, "-jar", jar.toString())
                .redirectError(dir.resolve("stderr").toFile())
                .start();
    }

    private static String out(Process p) throws Exception {
        return new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
}
