// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.spi.ToolProvider;
import java.util.zip.ZipEntry;

import org.gmp4j.agent.Agent;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.ElsewhereAgent;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs one command on machines where gmp4j runs and on machines where it does not. The agent's option {@code fallback} says what becomes
 * of the program. The other machines are this one with another system's name, or with {@link ElsewhereAgent} ahead of the agent.
 * {@code .ci/aarch64} gives the command on an emulated machine.
 */
class FallbackTest {
    private static final String GOES_ON = " (the JVM goes on without gmp4j; fallback=fail would end it)";

    @TempDir
    static Path folder;
    private static Path agent;
    private static Path elsewhere;

    @BeforeAll
    static void pack() throws IOException {
        agent = pack("agent.jar", Agent.class); // The other classes are on the class path of those programs that have one.
        elsewhere = pack("elsewhere.jar", ElsewhereAgent.class);
    }

    private static Path pack(String name, Class<?> premain) throws IOException {
        Path file = folder.resolve(name);
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", premain.getName());
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(file), manifest)) {
            String first = premain.getName().replace('.', '/') + ".class";
            jar.putNextEntry(new ZipEntry(first));
            try (InputStream in = premain.getClassLoader().getResourceAsStream(first)) {
                boolean _ = in.transferTo(jar) > 0;
            }
        }
        return file;
    }

    static final class Program {
        private Program() {
        }

        public static void main(String[] args) throws InterruptedException {
            Thread t = Thread.startVirtualThread(() -> System.out.print("goroutine " + Go.inGoroutine()));
            t.join();
            System.out.println(", supported " + Gmp.isSupported());
            if (!Gmp.isSupported()) {
                try (Gmp gmp = Gmp.builder().build()) {
                    System.out.println(gmp + " was built");
                } catch (IllegalStateException e) {
                    System.out.println(e.getMessage().equals(Gmp.unsupported()) ? "refused" : e.getMessage());
                }
            }
        }
    }

    private static Result run(String options, String... flags) {
        List<String> all = new ArrayList<>(List.of("-XX:TieredStopAtLevel=1")); // These JVMs do not live for long.
        all.addAll(List.of(flags));
        all.add("-javaagent:" + agent + "=default" + options);
        return new ChildJvm(Program.class).withoutFlags().with(all.toArray(String[]::new)).run();
    }

    private static void is(int exit, String out, String err, Result r) {
        assertEquals(err, r.err(), r::toString);
        assertEquals(out, r.out(), r::toString);
        assertEquals(exit, r.exit(), r::toString);
    }

    /** Where it cannot run; * stands for the folder of the agent that makes this machine another. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "-XX:+UnlockExperimentalVMOptions -XX:-VMContinuations|gmp4j needs the continuations of the JVM, which are off here: "
                + "start java without -XX:-VMContinuations",
        "-Dos.name=Mac_OS_X|gmp4j runs on Linux on x86_64 and aarch64; this is Mac OS X on amd64",
        "-Dos.name=Windows_11|gmp4j runs on Linux on x86_64 and aarch64; this is Windows 11 on amd64",
        "-javaagent:*=musl|gmp4j needs glibc, and the C library of this JVM is another, perhaps musl: use a JDK for glibc, and in a "
                + "container an image that has it",
        "-javaagent:*=jdk24|gmp4j needs JDK 25, 26 or 27, this is 24.0.2: start the program with one of these"})
    void whereItCannotRun(String line, String sentence) {
        String[] flags = line.replace("*", elsewhere.toString()).split(" ");
        flags[0] = flags[0].replace('_', ' ');
        String out = "goroutine false, supported false\nrefused\n";
        is(0, out, sentence + GOES_ON + "\n", run(",fallback=warn", flags));
        is(0, out, "", run(",fallback=off", flags));
        Result r = run(",fallback=fail", flags);
        assertEquals(sentence, r.err().replaceAll("\\.?\n$", ""), r::toString);
        assertEquals("", r.out(), r::toString);
        assertEquals(2, r.exit(), r::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",fallback=off", ",fallback=fail"})
    void whereItCan(String fallback) {
        is(0, "goroutine true, supported true\n", "", run(fallback));
    }

    @Test
    void otherSources() {
        is(2, "", "gmp4j: fallback is \"maybe\": use warn, off or fail\n", run(",fallback=maybe"));
        assertEquals(2, run("", "-Dgmp.fallback=fail", "-Dos.name=Windows 11").exit());
        assertTrue(run("", "-Dos.name=Windows 11").err().endsWith(GOES_ON + "\n"), "warn is the default");
    }

    /** An older Java cannot read our classes, but the agent's first one. */
    @Test
    void olderJava() throws IOException, InterruptedException {
        Path java = Path.of("/usr/lib/jvm/java-17-openjdk-amd64/bin/java");
        Assumptions.assumeTrue(Files.isExecutable(java), "no JDK 17 here");
        Path source = Files.writeString(folder.resolve("Old.java"),
                "class Old { public static void main(String[] args) { System.out.println(\"ran\"); } }");
        assertEquals(0, ToolProvider.findFirst("javac").orElseThrow()
                .run(System.out, System.err, "-Xlint:-options", "--release", "8", "-d", folder.toString(), source.toString()));
        String sentence = "gmp4j needs JDK 25, 26 or 27, this is 17: start the program with one of these";
        for (String fallback : List.of("", ",fallback=off", ",fallback=fail")) {
            Process p = new ProcessBuilder(java.toString(), "-javaagent:" + agent + "=default" + fallback, "-cp", folder.toString(), "Old")
                    .redirectErrorStream(true).start();
            String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8).replaceFirst("is 17[^:]*:", "is 17:");
            boolean ends = fallback.endsWith("fail");
            assertEquals(ends ? sentence + "\n" : (fallback.endsWith("off") ? "" : sentence + GOES_ON + "\n") + "ran\n", out);
            assertEquals(ends ? 2 : 0, p.waitFor());
        }
    }

    /** Runs a program of the JDK with a variable that starts the agent, where gmp4j cannot run. Returns what it printed. */
    private static List<String> withVariable(String tool, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", tool).toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder b = new ProcessBuilder(command);
        b.environment().put("JAVA_TOOL_OPTIONS", "-javaagent:" + agent + "=default -Dos.name=MacOS");
        Process p = b.redirectErrorStream(true).start();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, p.waitFor(), out);
        return out.lines().filter(l -> !l.startsWith("Picked up ")).toList();
    }

    /** A variable that all Java programs read starts the agent in the JDK's tools too. */
    @Test
    void aToolIsLeftAlone() throws IOException, InterruptedException {
        assertEquals(List.of("javac " + System.getProperty("java.version")), withVariable("javac", "-version"));
    }

    /** Maven and Gradle are known by their main classes; the JDK's compiler starts a program that is given as its source. */
    @Tag("long")
    @Test
    void aBuildToolIsLeftAloneAndASourceFileIsNot() throws IOException, InterruptedException {
        String body = "{ public static void main(String[] args) { System.out.println(\"ran\"); } }";
        Path program = Files.writeString(folder.resolve("Program.java"), "class Program " + body);
        Path maven = Files.writeString(folder.resolve("Launcher.java"),
                "package org.codehaus.plexus.classworlds.launcher;\nclass Launcher " + body);
        Path gradle = Files.writeString(folder.resolve("GradleDaemon.java"),
                "package org.gradle.launcher.daemon.bootstrap;\nclass GradleDaemon " + body);
        assertEquals(List.of(), withVariable("javac", "-d", folder.toString(), maven.toString(), gradle.toString()));
        for (String main : List.of("org.codehaus.plexus.classworlds.launcher.Launcher",
                "org.gradle.launcher.daemon.bootstrap.GradleDaemon")) {
            assertEquals(List.of("ran"), withVariable("java", "-cp", folder.toString(), main));
        }
        List<String> source = withVariable("java", "-cp", System.getProperty("java.class.path"), program.toString());
        assertEquals(List.of("gmp4j runs on Linux on x86_64 and aarch64; this is MacOS on amd64" + GOES_ON, "ran"), source);
    }
}
