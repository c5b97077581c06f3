// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.gmp4j.Gmp;
import org.gmp4j.ffi.Shims;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A program whose jar was woven, in JVMs that are started in all the ways there are. */
class WovenProgramTest {
    private static final String PROGRAM = """
            package com.acme;

            public class Program {
                interface Sum {
                    default long to(long n) {
                        long s = 0;
                        for (long i = 0; i < n; i++) {
                            s += i;
                        }
                        return s;
                    }
                }

                static int depth(int n) {
                    return n == 0 ? 0 : 1 + depth(n - 1);
                }

                public static void main(String[] args) throws Exception {
                    System.out.println(new Sum() { }.to(1000) + " " + depth(50));
                    switch (args[0]) {
                        case "plain" -> { }
                        case "points" -> Points.main(args);
                        case "left" -> System.out.println(Class.forName("org.gmp4j.agent.Points").getMethod("counters").invoke(null));
                        case "default" -> Thread.ofVirtual().start(() -> System.out.println(org.gmp4j.Go.inGoroutine())).join();
                        default -> throw new AssertionError(args[0]);
                    }
                }
            }
            """;
    private static final String POINTS = """
            package com.acme;

            import java.time.Duration;
            import org.gmp4j.*;

            class Points {
                private static volatile boolean stop;

                public static void main(String[] args) {
                    Gmp.main(() -> {
                        Go.go(() -> {
                            long n = 0;
                            while (!stop) {
                                n++;
                            }
                        });
                        while (org.gmp4j.agent.Points.counters().reached() == 0) {
                            Go.sleep(Duration.ofMillis(1));
                        }
                        stop = true;
                        System.out.println("reached");
                    });
                }
            }
            """;
    private static final String FLAGS_ALONE = "499500 50\n";

    @TempDir
    static Path folder;
    private static Path plain;
    private static Path woven;

    @BeforeAll
    static void weave() throws IOException {
        plain = folder.resolve("plain.jar");
        woven = folder.resolve("woven.jar");
        Path sources = Files.createDirectories(folder.resolve("com/acme"));
        Path classes = folder.resolve("classes");
        tool("javac", "-d", classes.toString(), "-cp", System.getProperty("java.class.path"),
                Files.writeString(sources.resolve("Program.java"), PROGRAM).toString(),
                Files.writeString(sources.resolve("Points.java"), POINTS).toString());
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Automatic-Module-Name", "com.acme");
        pack(manifest, plain, woven);
    }

    private static void pack(Manifest manifest, Path jar, Path as) throws IOException {
        try (OutputStream file = Files.newOutputStream(folder.resolve("manifest"))) {
            manifest.write(file);
        }
        tool("jar", "--create", "--file=" + jar, "--manifest=" + folder.resolve("manifest"), "-C",
                folder.resolve("classes").toString(), ".");
        Weave.weave(jar.toString(), as.toString(), null, new PrintStream(OutputStream.nullOutputStream()));
    }

    private static String uri(Class<?> of) {
        return of.getProtectionDomain().getCodeSource().getLocation().toString();
    }

    private static void tool(String name, String... arguments) {
        assertEquals(0, ToolProvider.findFirst(name).orElseThrow().run(System.out, System.err, arguments), name);
    }

    private static Result run(ChildJvm jvm, boolean runtime, String what) {
        String path = woven + (runtime ? File.pathSeparator + System.getProperty("java.class.path") : "");
        return jvm.with("-cp", path, "-Xverify:all", "-Xlog:disable", "-Xlog:all=error:stderr").env("GMPMAXPROCS", "1")
                .runMain("com.acme.Program", what);
    }

    private static void prints(String out, Result r) {
        assertEquals(out, r.out(), r::toString);
        assertEquals("", r.err(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    private static ChildJvm jvm() {
        return new ChildJvm(WovenProgramTest.class);
    }

    /** Those of a class, of an interface and of a method that calls itself, before any scheduler; then with one. */
    @Test
    void flagsAloneGivePoints() {
        prints(FLAGS_ALONE + "reached\n", run(jvm(), true, "points"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseSerialGC", "-Dgmp.points=eager"})
    void compiledByC2(String option) {
        prints(FLAGS_ALONE + "reached\n", run(jvm().with("-XX:TieredStopAtLevel=4", option), true, "points"));
    }

    @Test
    void itsManifestGivesThemWithoutAFlag() throws IOException {
        Manifest manifest = new Manifest();
        Attributes all = manifest.getMainAttributes();
        all.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        all.put(Attributes.Name.MAIN_CLASS, "com.acme.Program");
        all.put(Attributes.Name.CLASS_PATH, uri(Gmp.class) + " " + uri(Shims.class));
        all.putValue("Add-Exports", "java.base/jdk.internal.vm");
        all.putValue("Add-Opens", "java.base/java.lang");
        all.putValue("Enable-Native-Access", "ALL-UNNAMED");
        Path jar = folder.resolve("executable-woven.jar");
        pack(manifest, folder.resolve("executable.jar"), jar);
        prints(FLAGS_ALONE + "reached\n", jvm().withoutFlags().env("GMPMAXPROCS", "1").runJar(jar, "points"));
    }

    /** With neither a runtime nor flags it does what it did. */
    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false"})
    void pointsAreNothingWithoutARuntimeOrAccess(boolean runtime, boolean flags) {
        prints(FLAGS_ALONE, run(flags ? jvm() : jvm().withoutFlags(), runtime, "plain"));
    }

    @Test
    void theyCanBeHadOff() {
        Result r = run(jvm().with("-Dgmp.points=off"), true, "left");
        assertTrue(r.out().contains(" linked=0, "), r::toString);
        assertTrue(run(jvm(), true, "left").out().contains(" linked=2, "), "linked: the loop and the recursion");
    }

    /** The agent leaves a woven class alone, and what it says of points holds. */
    @Test
    void theAgentKnowsThem() throws IOException {
        Path agent = folder.resolve("agent.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", "org.gmp4j.agent.Agent");
        new JarOutputStream(Files.newOutputStream(agent), manifest).close(); // The classes are on the class path.
        prints(FLAGS_ALONE + "reached\n", run(jvm().withoutFlags().with("--enable-native-access=ALL-UNNAMED", "-javaagent:" + agent), true,
                "points"));
        String counters = run(jvm().with("-javaagent:" + agent), true, "left").out();
        assertTrue(counters.contains("classes=0, ") && counters.contains("HAS_POINTS=2") && counters.contains(" linked=2, "), counters);
        counters = run(jvm().with("-javaagent:" + agent + "=points=off"), true, "left").out();
        assertTrue(counters.contains(" linked=0, "), counters);
    }

    /** Its loader sees the runtime, though its module does not read it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void onTheModulePath(boolean runtime) {
        String path = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("reactive-streams-tck")) // Two of its jars have the same package, which modules may not.
                .collect(Collectors.joining(File.pathSeparator));
        ChildJvm jvm = jvm().withoutFlags().with("-p", woven + File.pathSeparator + path, "-Xverify:all",
                "--enable-native-access=ALL-UNNAMED", "-Xlog:disable");
        if (runtime) {
            jvm.with("--add-modules=org.gmp4j.runtime", "--add-opens=java.base/java.lang=org.gmp4j.runtime",
                    "--add-exports=org.gmp4j.runtime/org.gmp4j.agent=com.acme");
        }
        Result r = jvm.runMain("--module=com.acme/com.acme.Program", runtime ? "left" : "plain");
        assertTrue(r.out().startsWith(FLAGS_ALONE), r::toString);
        assertEquals(runtime, r.out().contains(" linked=2, "), r::toString);
    }

    /** Without an agent no other code would read the property in a program that asks for no scheduler. */
    @Test
    void allVirtualThreads() {
        prints(FLAGS_ALONE + "true\n", run(jvm().with("-Dgmp.default=on"), true, "default"));
        prints(FLAGS_ALONE + "false\n", run(jvm(), true, "default"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "gmp.points=maybe|gmp4j: gmp.points is demand, load, eager or off, not \"maybe\".",
            "gmp.default=perhaps|gmp4j: gmp.default is \"perhaps\": "})
    void aBadSettingIsOneSentence(String property, String sentence) {
        Result r = run(jvm().with("-D" + property), true, "plain");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith(sentence) && r.err().lines().count() == 1, r::toString);
        assertEquals("", r.out(), r::toString);
    }

    /** By the runtime jar's main class, as a build does it. */
    @Test
    void byTheMainClass() throws IOException {
        Path out = folder.resolve("again.jar");
        Result r = new ChildJvm(Weave.class).withoutFlags().run(plain.toString(), out.toString());
        prints(out + ": 4 points in 4 methods of 3 classes\n", r);
        assertEquals(-1, Files.mismatch(woven, out));
        r = new ChildJvm(Weave.class).withoutFlags().run(plain.toString(), out.toString(), "exclude=com.acme.Points");
        prints(out + ": 2 points in 2 methods of 2 classes\n", r);
        for (List<String> bad : List.of(List.of("x"), List.of(plain.toString(), plain.toString()), List.of("x", "y", "points=eager"))) {
            r = new ChildJvm(Weave.class).withoutFlags().run(bad.toArray(String[]::new));
            assertEquals(2, r.exit(), r::toString);
            assertTrue(r.err().startsWith("gmp4j: ") && r.err().lines().count() == 1, r::toString);
        }
    }
}
