// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.spi.ToolProvider;

import org.gmp4j.ffi.Shims;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.Scopes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a program is started with: variables, flags, the agent, a jar's manifest; no test file of Go's is like it. */
class LaunchTest {
    /** Needs preview features, which these tests are compiled without. */
    private static final String STRUCTURED = """
            import java.time.Duration;
            import java.util.ArrayList;
            import java.util.List;
            import java.util.concurrent.StructuredTaskScope;
            import java.util.concurrent.StructuredTaskScope.Joiner;
            import org.gmp4j.Gmp;
            import org.gmp4j.Go;

            class Structured {
                static final ScopedValue<String> WHO = ScopedValue.newInstance();

                public static void main(String[] args) {
                    Gmp.main(() -> ScopedValue.where(WHO, "gopher").run(Structured::scopes));
                }

                static void scopes() {
                    long parent = Go.goid();
                    try (var scope = StructuredTaskScope.open(Joiner.<Boolean>allSuccessfulOrThrow())) {
                        List<StructuredTaskScope.Subtask<Boolean>> forks = new ArrayList<>();
                        for (int i = 0; i < 100; i++) {
                            forks.add(scope.fork(() -> {
                                Thread.sleep(1);
                                Go.gosched();
                                return WHO.get().equals("gopher") && Go.goid() > parent && Thread.currentThread().isVirtual();
                            }));
                        }
                        scope.join();
                        System.out.println(forks.stream().filter(s -> s.get()).count());
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                    try (var scope = StructuredTaskScope.open(Joiner.<String>ANY_SUCCESSFUL())) {
                        scope.fork(() -> {
                            Thread.sleep(Duration.ofHours(1));
                            return "slow";
                        });
                        scope.fork(() -> "fast");
                        System.out.println(scope.join());
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                    try (var scope = StructuredTaskScope.open()) {
                        scope.fork(() -> {
                            throw new IllegalStateException("no");
                        });
                        scope.join();
                    } catch (Exception e) { // FailedException; from Java 27 on ExecutionException.
                        System.out.println(e.getCause().getMessage());
                    }
                }
            }
            """;

    /** The programs, by name. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) throws InterruptedException {
            switch (args[0]) {
                case "Procs" -> Gmp.main(() -> System.out.println("procs=" + Go.gomaxprocs(0)));
                case "Trace" -> Gmp.main(() -> {
                    Go.go(() -> Chan.make().recv());
                    Go.sleep(Duration.ofMillis(100));
                });
                case "Build" -> Gmp.builder().build().close();
                case "Ask" -> {
                    Thread t = Thread.startVirtualThread(() -> {
                        try {
                            System.out.println(Go.inGoroutine());
                            Go.gosched();
                        } catch (IllegalStateException e) {
                            System.out.println(e.getMessage());
                        }
                    });
                    t.join();
                }
                default -> throw new AssertionError(args[0]);
            }
            System.out.println("returned");
        }
    }

    private static ChildJvm jvm() {
        return new ChildJvm(Program.class);
    }

    @Test
    void maxProcsFromTheEnvironment() {
        Result r = jvm().env("GMPMAXPROCS", "3").run("Procs");
        assertEquals("procs=3\nreturned\n", r.out(), r::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "x", "4097", "2.5"})
    void badMaxProcs(String value) {
        Result r = jvm().env("GMPMAXPROCS", value).run("Build");
        assertEquals(1, r.exit(), r::toString);
        assertTrue(r.err().contains("GMPMAXPROCS is \"" + value + "\": use a number from 1 to 4096"), r::toString);
    }

    @Test
    void badDebugKey() {
        Result r = jvm().env("GMPDEBUG", "schedtrac=1").run("Build");
        assertEquals(1, r.exit(), r::toString);
        assertTrue(r.err().contains("java.lang.IllegalArgumentException: GMPDEBUG: the key \"schedtrac\" is unknown"),
                r::toString);
    }

    /** In program mode no code can catch it: one sentence, and the end. */
    @ParameterizedTest
    @CsvSource({"GMPMAXPROCS,many,'GMPMAXPROCS is \"many\": use a number from 1 to 4096'",
        "GMPDEBUG,schedtrac=1,'GMPDEBUG: the key \"schedtrac\" is unknown; known are '",
        "GMPDEBUG,schedtrace=x,'GMPDEBUG: schedtrace cannot be \"x\", only a whole number from 0 to '"})
    void badVariableOfAProgram(String name, String value, String sentence) {
        Result r = jvm().env(name, value).run("Procs");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("gmp4j: " + sentence), r::toString);
        assertEquals(r.err().length() - 1, r.err().indexOf('\n'), r::toString);
        assertEquals("", r.out(), r::toString);
    }

    @Test
    void schedtrace() {
        Result r = jvm().env("GMPDEBUG", "schedtrace=10,scheddetail=1").run("Trace");
        assertEquals(0, r.exit(), r::toString);
        List<String> shapes = List.of(
                "SCHED \\d+ms: gomaxprocs=2 idleprocs=\\d threads=\\d+ spinningthreads=\\d needspinning=\\d "
                        + "idlethreads=\\d+ runqueue=\\d+ gcwaiting=(true|false) nmidlelocked=\\d+ stopwait=\\d "
                        + "sysmonwait=(true|false) strays=\\d+",
                "  P[01]: status=[0-4] schedtick=\\d+ syscalltick=\\d+ m=(nil|\\d+) runqsize=\\d+ gfreecnt=\\d+ "
                        + "timerslen=\\d+",
                "  M\\d+: p=(nil|[01]) curg=(nil|\\d+) mallocing=0 throwing=0 preemptoff= locks=\\d+ dying=0 "
                        + "spinning=(true|false) blocked=(true|false) lockedg=(nil|\\d+)",
                "  G\\d+: status=\\d+\\(.*\\) m=(nil|\\d+) lockedm=(nil|\\d+)");
        List<String> lines = r.err().substring(0, r.err().lastIndexOf("SCHED ")).lines().toList(); // Not the last: cut off.
        for (String line : lines) {
            assertTrue(shapes.stream().anyMatch(line::matches), line);
        }
        for (String shape : shapes) {
            assertTrue(lines.stream().anyMatch(line -> line.matches(shape)), shape + r);
        }
    }

    /** Without a flag: one sentence that names them. */
    @ParameterizedTest
    @CsvSource({",Build", ",Procs", "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED,Build",
        "--add-opens=java.base/java.lang=ALL-UNNAMED,Build", "--add-opens=java.base/java.lang=ALL-UNNAMED,Procs"})
    void missingFlags(String flag, String program) {
        ChildJvm jvm = jvm().withoutFlags();
        Result r = (flag == null ? jvm : jvm.with(flag)).run(program);
        assertEquals(1, r.exit(), r::toString);
        assertTrue(r.err().contains("java.lang.IllegalStateException: gmp4j has no access to java.lang.VirtualThread: "
                + "start java with -javaagent:gmp4j-runtime.jar, or with --add-exports=java.base/jdk.internal.vm"),
                r::toString);
        assertFalse(r.err().contains("Caused by"), r::toString);
    }

    /** No goroutine runs in a JVM whose virtual threads are platform threads. */
    @Test
    void withoutContinuations() {
        Result r = jvm().with("-XX:+UnlockExperimentalVMOptions", "-XX:-VMContinuations").run("Build");
        assertEquals(1, r.exit(), r::toString);
        assertTrue(r.err().startsWith("Exception in thread \"main\" java.lang.IllegalStateException: gmp4j needs the continuations "
                + "of the JVM, which are off here: start java without -XX:-VMContinuations\n"), r::toString);
    }

    /** A virtual thread of the JDK's may ask, where nothing opens the JDK to us. */
    @Test
    void noGoroutineWithoutFlags() {
        Result r = jvm().withoutFlags().run("Ask");
        assertEquals("false\nGo.gosched was called outside a goroutine: start one with Gmp.main, Gmp.run or Gmp.go\nreturned\n",
                r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** In modules of their own: the agent is called, and is enough; the flags that are named without it are the right ones. */
    @Test
    void onTheModulePath(@TempDir Path dir) throws Exception {
        Path agent = jar(dir, "Premain-Class", "org.gmp4j.agent.Agent", "Can-Retransform-Classes", "true");
        List<String> modules = modules();
        compile(dir, modules);
        ChildJvm jvm = jvm().withoutFlags().with(modules.toArray(String[]::new)).with("-cp", dir.toString(),
                "--enable-native-access=org.gmp4j.nativebindings,org.gmp4j.runtime");
        Result r = jvm.runMain("Ask");
        String flags = "--add-exports=java.base/jdk.internal.vm=org.gmp4j.runtime --add-opens=java.base/java.lang=org.gmp4j.runtime";
        assertTrue(r.err().contains("start java with -javaagent:gmp4j-runtime.jar, or with " + flags), r::toString);
        r = jvm.with("-javaagent:" + agent + "=default").runMain("Ask");
        assertEquals("module org.gmp4j.runtime true true\n", r.out(), r::toString);
        assertEquals("", r.err(), r::toString);
        r = jvm().withoutFlags().with(modules.toArray(String[]::new)).with(flags.split(" ")).with("-cp", dir.toString())
                .runMain("Ask");
        assertEquals("module org.gmp4j.runtime false true\n", r.out(), r::toString);
    }

    /** The same in an image of a JDK and our modules alone. */
    @Test
    void inAnImage(@TempDir Path dir) throws Exception {
        Path agent = jar(dir, "Premain-Class", "org.gmp4j.agent.Agent", "Can-Retransform-Classes", "true");
        List<String> modules = modules();
        compile(dir, modules);
        Path image = dir.resolve("image");
        tool("jlink", "-p", modules.get(1), "--add-modules", "org.gmp4j.runtime", "--output", image.toString());
        Process p = new ProcessBuilder(image.resolve("bin/java").toString(), "-XX:TieredStopAtLevel=1", "--add-modules",
                "org.gmp4j.runtime", "--enable-native-access=org.gmp4j.nativebindings,org.gmp4j.runtime",
                "-javaagent:" + agent + "=default", "-cp", dir.toString(), "Ask").redirectErrorStream(true).start();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals("module org.gmp4j.runtime true true\n", out);
        assertEquals(0, p.waitFor());
    }

    private static List<String> modules() throws Exception {
        return List.of("-p", place(Gmp.class) + File.pathSeparator + place(Shims.class), "--add-modules", "org.gmp4j.runtime");
    }

    /** A program that is in no package, as ours belong to the module. */
    private static void compile(Path dir, List<String> modules) throws IOException {
        Path source = Files.writeString(dir.resolve("Ask.java"), """
                import org.gmp4j.*;

                class Ask {
                    static boolean thread;

                    public static void main(String[] args) throws Exception {
                        Thread.startVirtualThread(() -> thread = Go.inGoroutine()).join();
                        try (Gmp gmp = Gmp.builder().procs(1).build()) {
                            System.out.println(Gmp.class.getModule() + " " + thread + " " + gmp.call(Go::inGoroutine));
                        }
                    }
                }
                """);
        List<String> args = new ArrayList<>(modules);
        args.addAll(List.of("-d", dir.toString(), source.toString()));
        tool("javac", args.toArray(String[]::new));
    }

    private static void tool(String name, String... args) {
        assertEquals(0, ToolProvider.findFirst(name).orElseThrow().run(System.out, System.err, args), name);
    }

    private static String place(Class<?> of) throws Exception {
        return Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    }

    /** Without the jar of the native bindings. */
    @ParameterizedTest
    @ValueSource(strings = {"default,fallback=fail", "points=on"})
    void missingBindings(String options, @TempDir Path dir) throws Exception {
        Path agent = jar(dir, "Premain-Class", "org.gmp4j.agent.Agent", "Can-Retransform-Classes", "true");
        Result r = jvm().withoutFlags().with("-javaagent:" + agent + "=" + options, "-cp",
                place(Gmp.class) + File.pathSeparator + place(Program.class)).runMain(Program.class.getName(), "Build");
        assertTrue(r.err().matches("(?s)(Exception in thread \"main\" java.lang.IllegalStateException: )?gmp4j finds no class "
                + "org.gmp4j.ffi.\\w+: put the jar gmp4j-native-bindings beside gmp4j-runtime, under the name that Maven gave it, or "
                + "on the class path\n.*"), r::toString);
        assertEquals(options.startsWith("default") ? 2 : 1, r.exit(), r::toString);
        assertEquals("", r.out(), r::toString);
    }

    /** The transformer decides about the classes that it uses itself. A program starts and ends as without patterns. */
    @ParameterizedTest
    @ValueSource(strings = {"exclude=**,include=com.acme.**", "include=**"})
    void patternsThatMatchAll(String options, @TempDir Path dir) throws IOException {
        Path jar = jar(dir, "Premain-Class", "org.gmp4j.agent.Agent", "Can-Retransform-Classes", "true");
        Result r = jvm().withoutFlags().with("-javaagent:" + jar + "=" + options).run("Procs");
        assertEquals("procs=2\nreturned\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** The agent is the only flag a program needs. */
    @Test
    void agentIsEnough(@TempDir Path dir) throws IOException {
        Path jar = jar(dir, "Premain-Class", "org.gmp4j.agent.Agent", "Can-Retransform-Classes", "true");
        Result r = jvm().withoutFlags().with("-javaagent:" + jar).run("Procs");
        assertEquals("procs=2\nreturned\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** An executable jar needs none, by what its manifest opens or by the agent that it names. */
    @ParameterizedTest
    @CsvSource({"Launcher-Agent-Class,org.gmp4j.agent.Agent,Enable-Native-Access,ALL-UNNAMED",
        "Add-Exports,java.base/jdk.internal.vm,Add-Opens,java.base/java.lang"})
    void executableJar(String name1, String value1, String name2, String value2, @TempDir Path dir) throws IOException {
        StringBuilder path = new StringBuilder();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            path.append(Path.of(entry).toUri()).append(' ');
        }
        Path jar = jar(dir, "Main-Class", Program.class.getName(), "Class-Path", path.toString(), name1, value1, name2,
                value2);
        Result r = jvm().withoutFlags().runJar(jar, "Procs");
        assertEquals("procs=2\nreturned\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
        assertEquals(name2.equals("Enable-Native-Access"), r.err().isEmpty(), r::toString);
    }

    /** Structured concurrency, a preview: each fork of a goroutine's is a goroutine. */
    @Test
    void structuredConcurrency(@TempDir Path dir) throws IOException {
        Path jar = jar(dir, "Premain-Class", "org.gmp4j.agent.Agent", "Can-Retransform-Classes", "true");
        Path source = Files.writeString(dir.resolve("Structured.java"), Scopes.ofThisJava(STRUCTURED));
        Result r = jvm().withoutFlags().with("-javaagent:" + jar).runSource(source);
        assertEquals("100\nfast\nno\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** Of a manifest alone: the classes are beside it. */
    private static Path jar(Path dir, String... attributes) throws IOException {
        Path jar = dir.resolve("program.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        for (int i = 0; i < attributes.length; i += 2) {
            manifest.getMainAttributes().putValue(attributes[i], attributes[i + 1]);
        }
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        return jar;
    }
}
