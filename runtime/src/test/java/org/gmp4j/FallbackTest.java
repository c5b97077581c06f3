// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
import java.util.zip.ZipEntry;

import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The agent in a JVM where gmp4j cannot run: the option {@code fallback} says what becomes of the program. */
class FallbackTest {
    private static final String GOES_ON = " (the JVM goes on without gmp4j; fallback=fail would end it)";

    @TempDir
    static Path folder;
    private static Path agent;

    @BeforeAll
    static void pack() throws IOException {
        agent = folder.resolve("agent.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", "org.gmp4j.agent.Agent");
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(agent), manifest)) {
            String first = "org/gmp4j/agent/Agent.class"; // The other classes are on the class path of those programs that have one.
            jar.putNextEntry(new ZipEntry(first));
            try (InputStream in = FallbackTest.class.getClassLoader().getResourceAsStream(first)) {
                boolean _ = in.transferTo(jar) > 0;
            }
        }
    }

    static final class Program {
        private Program() {
        }

        public static void main(String[] args) throws InterruptedException {
            Thread t = Thread.startVirtualThread(() -> System.out.print("goroutine " + Go.inGoroutine()));
            t.join();
            System.out.println(", supported " + Gmp.isSupported());
        }
    }

    private static Result run(String options, String... flags) {
        List<String> all = new ArrayList<>(List.of("-javaagent:" + agent + "=default" + options));
        all.addAll(List.of(flags));
        return new ChildJvm(Program.class).withoutFlags().with(all.toArray(String[]::new)).run();
    }

    private static void is(int exit, String out, String err, Result r) {
        assertEquals(err, r.err(), r::toString);
        assertEquals(out, r.out(), r::toString);
        assertEquals(exit, r.exit(), r::toString);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "-XX:+UnlockExperimentalVMOptions -XX:-VMContinuations|gmp4j needs the continuations of the JVM, which are off here: "
                + "start java without -XX:-VMContinuations",
        "-Dos.name=MacOS|gmp4j runs on Linux on x86_64 and aarch64; this is MacOS on amd64",
        "-Dos.name=Windows|gmp4j runs on Linux on x86_64 and aarch64; this is Windows on amd64"})
    void whereItCannotRun(String flags, String sentence) {
        is(0, "goroutine false, supported false\n", sentence + GOES_ON + "\n", run("", flags.split(" ")));
        is(0, "goroutine false, supported false\n", "", run(",fallback=off", flags.split(" ")));
        Result r = run("", ("-Dgmp.fallback=fail " + flags).split(" "));
        assertEquals(sentence, r.err().replaceAll("\\.?\n$", ""), r::toString);
        assertEquals(2, r.exit(), r::toString);
    }

    @Test
    void whereItCan() {
        is(0, "goroutine true, supported true\n", "", run(""));
        is(2, "", "gmp4j: fallback is \"maybe\": use warn, off or fail\n", run(",fallback=maybe"));
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
