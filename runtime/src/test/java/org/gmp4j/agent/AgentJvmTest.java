// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;

import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.VirtualMachine;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The agent in JVMs of its own. */
class AgentJvmTest {
    @TempDir
    static Path folder;
    private static Path agent;

    private record Result(int exit, String out) {
    }

    /** A jar like the runtime's, of what has been compiled. */
    @BeforeAll
    static void pack() throws IOException {
        agent = folder.resolve("agent.jar");
        jar(agent, "Premain-Class", "Agent-Class");
    }

    private static void jar(Path file, String... names) throws IOException {
        Manifest manifest = new Manifest();
        Attributes main = manifest.getMainAttributes();
        main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        main.putValue("Can-Retransform-Classes", "true");
        for (String name : names) {
            main.putValue(name, name.equals("Main-Class") ? AgentProgram.class.getName() : Agent.class.getName());
        }
        try (OutputStream out = Files.newOutputStream(file); JarOutputStream jar = new JarOutputStream(out, manifest)) {
            add(jar, Agent.class);
            if (List.of(names).contains("Main-Class")) {
                add(jar, AgentProgram.class);
            }
        }
    }

    private static void add(JarOutputStream jar, Class<?> like) throws IOException {
        Path root = Path.of(like.getProtectionDomain().getCodeSource().getLocation().getPath());
        for (String room : new String[] {"agent", "classfile"}) {
            Path dir = root.resolve("org/gmp4j/" + room);
            if (Files.exists(dir)) { // Not of the tests.
                add(jar, root, dir);
            }
        }
    }

    private static void add(JarOutputStream jar, Path root, Path dir) throws IOException {
        try (Stream<Path> files = Files.walk(dir)) {
            for (Path p : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                jar.putNextEntry(new JarEntry(root.relativize(p).toString()));
                Files.copy(p, jar);
            }
        }
    }

    private static Result java(List<String> flags, String... what) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(flags);
        command.addAll(List.of(what));
        Path log = Files.createTempFile(folder, "out", ".txt");
        Process p = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            assertTrue(p.waitFor(60, TimeUnit.SECONDS), () -> "hangs: " + command);
        } finally {
            p.destroyForcibly();
        }
        return new Result(p.exitValue(), Files.readString(log, StandardCharsets.UTF_8));
    }

    private static Result program(String options, String... what) throws Exception {
        String classes = AgentProgram.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        List<String> flags = new ArrayList<>(List.of("-javaagent:" + agent + options));
        for (String w : what) {
            if (w.startsWith("-")) {
                flags.add(w);
            }
        }
        flags.addAll(List.of("-cp", classes, AgentProgram.class.getName()));
        return java(flags, Stream.of(what).filter(w -> !w.startsWith("-")).toArray(String[]::new));
    }

    private static void ok(Result r, String... what) {
        assertEquals(0, r.exit, r.out);
        for (String w : what) {
            assertTrue(r.out.contains(w + " ok\n"), r.out);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bootstrap", "platform", "childFirst", "osgi", "module", "own", "proxy", "overflow", "nameless",
            "javax"})
    void everyLoaderSeesThePoints(String loader) throws Exception {
        ok(program("", loader), loader);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseZGC", "-Xint", "-XX:TieredStopAtLevel=1",
            "-XX:-TieredCompilation", "-XX:+UseCompactObjectHeaders"})
    void everyKindOfJvm(String flag) throws Exception {
        ok(program("", flag, "own", "bootstrap"), "own", "bootstrap");
    }

    @Test
    void theRegularExpressionsOfTheJdkOnRequest() throws Exception {
        ok(program("=include=java.util.regex.**", "regex"), "regex");
        assertTrue(program("", "-Dgmp.points.include=java.util.regex.**", "counters", "regex").out.contains("regex ok"));
    }

    @Test
    void exceptThoseExcluded() throws Exception {
        assertTrue(program("", "counters").out.matches("(?s).*Counters\\[classes=[1-9].*"));
        assertTrue(program("=exclude=**", "counters").out.contains("Counters[classes=0,"));
        assertTrue(program("=exclude=org.gmp4j.agent.AgentProgram*", "counters").out.contains("Counters[classes=0,"));
        assertTrue(program("=points=off", "counters").out.contains("Counters[classes=0,"));
        assertTrue(program("", "-Dgmp.points=off", "counters").out.contains("Counters[classes=0,"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "=include=com..acme|gmp4j: \"com..acme\" is no pattern of class names; write com.acme.Parser, com.acme.* or com.acme.**.",
            "=points=maybe|gmp4j: gmp.points is demand, load, eager or off, not \"maybe\".",
            "=verbose=1|gmp4j: The agent knows no option \"verbose\"; it knows default, procs, spin, quantum, affinity, steal, realtime, "
                    + "hugepages, nodequeues, stalled, debug, compilers, pools, points, include, exclude, fallback."})
    void badOptionsEndTheProgram(String options, String message) throws Exception {
        Result r = program(options, "own");
        assertEquals(2, r.exit, r.out);
        assertEquals(message + "\n", r.out);
    }

    @Test
    void badPropertyEndsTheProgram() throws Exception {
        Result r = program("", "-Dgmp.points.exclude=a/b", "own");
        assertEquals(2, r.exit, r.out);
        assertTrue(r.out.startsWith("gmp4j: \"a/b\" is no pattern of class names;"), r.out);
        assertFalse(r.out.contains("Exception"), r.out);
    }

    /** Whatever the runtime throws as it starts. */
    @Test
    void anErrorIsASentence() throws Exception {
        byte[] broken = ClassFile.of().build(ClassDesc.of("org.gmp4j.AgentRuntime"), c -> c
                .withMethodBody("<clinit>", ConstantDescs.MTD_void, ClassFile.ACC_STATIC, code -> code.aconst_null().athrow()));
        Path dir = Files.createDirectories(folder.resolve("broken/org/gmp4j"));
        Files.write(dir.resolve("AgentRuntime.class"), broken);
        Result r = java(List.of("-javaagent:" + agent + "=default,fallback=fail", "-cp", folder.resolve("broken").toString()), "None");
        assertEquals(2, r.exit, r.out);
        assertTrue(r.out.startsWith("gmp4j cannot start in this JVM: java.lang.NullPointerException: "), r.out);
        assertEquals(1, r.out.lines().count(), r.out);
    }

    /** What was loaded before gets its points then. */
    @Test
    void attachedLater() throws Exception {
        String classes = AgentProgram.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        Path log = folder.resolve("attached.txt");
        Process p = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+EnableDynamicAgentLoading", "-cp", classes + ":" + agent, AgentProgram.class.getName(), "wait", "own",
                "counters").redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            while (!Files.readString(log).contains("waiting")) {
                Thread.sleep(10);
            }
            VirtualMachine jvm = VirtualMachine.attach(String.valueOf(p.pid()));
            assertThrows(AgentInitializationException.class, () -> jvm.loadAgent(agent.toString(), "points=maybe"));
            jvm.loadAgent(agent.toString());
            jvm.detach();
            p.getOutputStream().close();
            assertTrue(p.waitFor(60, TimeUnit.SECONDS));
        } finally {
            p.destroyForcibly();
        }
        ok(new Result(p.exitValue(), Files.readString(log)), "wait", "own", "counters");
    }

    @Test
    void executableJarsNeedNoFlag() throws Exception {
        Path jar = folder.resolve("program.jar");
        jar(jar, "Main-Class", "Launcher-Agent-Class");
        ok(java(List.of("-jar", jar.toString()), "bootstrap", "module"), "bootstrap", "module");
        Result r = java(List.of("-Dgmp.points=maybe", "-jar", jar.toString()), "own");
        assertEquals(2, r.exit, r.out);
    }
}
