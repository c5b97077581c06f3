// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that start virtual threads as the JDK has them, which are goroutines by a flag. Each in a JVM of its own. */
class DefaultModeTest {
    /** Needs preview features, which these tests are compiled without. */
    private static final String STRUCTURED = """
            import java.util.ArrayList;
            import java.util.List;
            import java.util.concurrent.StructuredTaskScope;
            import java.util.concurrent.StructuredTaskScope.Joiner;
            import org.gmp4j.Go;

            class Structured {
                static final ScopedValue<String> WHO = ScopedValue.newInstance();

                public static void main(String[] args) throws Exception {
                    ScopedValue.where(WHO, "main").call(() -> {
                        try (var scope = StructuredTaskScope.open(Joiner.<Boolean>allSuccessfulOrThrow())) {
                            List<StructuredTaskScope.Subtask<Boolean>> forks = new ArrayList<>();
                            for (int i = 0; i < 100; i++) {
                                forks.add(scope.fork(() -> {
                                    Thread.sleep(1);
                                    return Go.inGoroutine() && WHO.get().equals("main");
                                }));
                            }
                            scope.join(); // Its result is of another type in each version.
                            System.out.println(forks.stream().filter(t -> t.get()).count());
                        }
                        return null;
                    });
                }
            }
            """;

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
        new JarOutputStream(Files.newOutputStream(agent), manifest).close(); // The classes are on the class path.
    }

    private static ChildJvm jvm(String options) {
        return new ChildJvm(DefaultProgram.class).withoutFlags().with("-javaagent:" + agent + "=" + options);
    }

    private static void prints(String out, ChildJvm jvm, String... what) {
        Result r = jvm.run(what);
        assertEquals(out, r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
        assertEquals("", r.err(), r::toString);
    }

    @Test
    void threadsAreGoroutinesFromTheFirstOn() {
        prints("""
                first true
                kinds 6 12
                others [its true, its true, its false]
                close [true, close was called of the default Gmp, which runs the virtual threads of this JVM, \
                close was called of the default Gmp, which runs the virtual threads of this JVM, 0]
                """, jvm("default"), "first", "kinds", "others", "close");
    }

    /** With -Xcheck:jni the JVM prints a warning of each call of JNI that breaks a rule. */
    @Test
    void whereNativeCodeIsDeniedOrChecked() {
        prints("first true\nhttp 50 50 0 0\n", jvm("default").with("--illegal-native-access=deny", "-Xcheck:jni"), "first", "http");
    }

    /** Virtual threads that wait in all ways need no class of ours that was not used before the first of them; and none of the API. */
    @ParameterizedTest
    @ValueSource(strings = {"default", "default,pools=batch:match=batch-*"})
    void nothingIsLeftToLoad(String options) {
        Result r = jvm(options).with("-Xlog:class+load=info:stdout:none", "-Xlog:class+init=info:stdout:none")
                .run("first", "waits", "interrupts", "yields");
        List<String> lines = r.out().lines().toList();
        int main = lines.indexOf(lines.stream().filter(l -> l.startsWith("org.gmp4j.DefaultProgram ")).findFirst().orElseThrow());
        List<String> late = lines.subList(main, lines.size()).stream().filter(PrelinkTest::needsMemory)
                .filter(l -> !l.contains("Default") && !l.startsWith("org.gmp4j.Go ")) // Used by the program itself.
                .filter(l -> !l.contains("CompilerThreads")).toList(); // Of a thread of the runtime's, after an overrun.
        assertEquals(List.of(), late);
        assertEquals(List.of(), lines.stream().filter(l -> l.matches("org\\.gmp4j\\.(Chan|Select|LongChan|sync\\.\\w+) .*")).toList());
        assertEquals(0, r.exit(), r::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseG1GC", "-XX:+UseZGC", "-Dgmp.mount=jdk"})
    void theyWaitAsBefore(String flag) {
        prints("waits 357\ninterrupts 100\n", jvm("default").with(flag), "waits", "interrupts");
    }

    @Test
    void yieldsOnOneProcessor() {
        // No slice ends meanwhile: a thread that is also preempted gives the other one two turns.
        prints("yields in turns\n", jvm("default,procs=1,quantum=60s"), "yields");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Dgmp.pollers=gmp", "-Dgmp.pollers=jdk", "-Djdk.pollerMode=1"})
    void sockets(String flag) {
        prints("http 50 50 0 0\n", jvm("default").with(flag), "http");
    }

    @Test
    void structuredConcurrency() throws IOException {
        Path source = Files.writeString(folder.resolve("Structured.java"), STRUCTURED);
        Result r = jvm("default").runSource(source);
        assertEquals("100\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    @Test
    void toolsTellOfOurs() {
        prints("""
                beans [2, true, true, 3, 3, parallelism is 0: use 1 to 4096, parallelism is -1: use 1 to 4096, \
                parallelism is 4097: use 1 to 4096]
                jfr 10 10
                """, jvm("default"), "beans", "jfr");
        prints("jcmd true true\n", jvm("default"), "jcmd");
        prints("queued [5, 8]\n", jvm("default,procs=1,quantum=60s"), "queued");
    }

    @Test
    void uncaughtExceptionsAreTheJdks() {
        Result r = jvm("default").run("uncaught");
        assertEquals("uncaught [second told]\n", r.out(), r::toString);
        assertTrue(r.err().startsWith("""
                Exception in thread "unlucky" java.lang.IllegalStateException: of a thread
                \tat org.gmp4j.DefaultProgram"""), r::toString);
        assertTrue(r.err().contains("\npanic: java.lang.IllegalStateException: of a goroutine\n"), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    @Test
    void theProcessEndsAsBefore() {
        prints("returns \n", jvm("default"), "returns");
        Result r = jvm("default").run("exits");
        assertEquals("worked in the hook\nstarted in the hook\n", r.out(), r::toString);
        assertEquals(7, r.exit(), r::toString);
        r = jvm("default").run("term");
        assertEquals(143, r.exit(), r::toString);
        assertTrue(r.out().contains("hook 0\n"), r::toString);
    }

    /** Options go before properties, these before variables; each of them is enough. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "default|||2 0 10000000 [] 0 0",
        "default,procs=3,spin=latency:50us,quantum=500us,stalled=100ms|||3 50000 500000 [] 100 0",
        "default,debug=schedtrace=1000000,scheddetail=1,stalled=on,affinity=0,0|||2 0 10000000 [{0}, {0}] 1000 1000000",
        "default,procs=3|-Dgmp.default.procs=4||3 0 10000000 [] 0 0",
        "default|-Dgmp.default.procs=4|5|4 0 10000000 [] 0 0",
        "points=on|-Dgmp.default=on|5|5 0 10000000 [] 0 0"})
    void settings(String options, String property, String variable, String seen) {
        ChildJvm jvm = jvm(options);
        if (property != null) {
            jvm = jvm.with(property);
        }
        if (variable != null) {
            jvm = jvm.env("GMP_DEFAULT_PROCS", variable);
        }
        Result r = jvm.run("first", "settings");
        assertEquals("first true\nsettings " + seen + "\n", r.out(), r::toString);
    }

    /** One sentence, before main. What else is bad: {@link DefaultSettingsTest}. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "default,procs=0||gmp.default.procs is \"0\": use a number from 1 to 4096",
        "procs=2||The agent's option \"procs\" is one of the default scheduler: write default,procs=...",
        "points=on|-Dgmp.default=1|gmp.default is \"1\": use on or off"})
    void badSettings(String options, String property, String sentence) {
        refused("gmp4j: " + sentence, property == null ? jvm(options) : jvm(options).with(property));
    }

    @Test
    void badVariable() {
        refused("gmp4j: GMP_DEFAULT is \"ja\": use on or off", jvm("points=on").env("GMP_DEFAULT", "ja"));
    }

    private static void refused(String sentence, ChildJvm jvm) {
        Result r = jvm.run("first");
        assertEquals(sentence + "\n", r.err(), r::toString);
        assertEquals(2, r.exit(), r::toString);
        assertEquals("", r.out(), r::toString);
    }

    /** Without the agent the property takes effect when a scheduler is first asked for. */
    @Test
    void thePropertyWithoutTheAgent() {
        ChildJvm jvm = new ChildJvm(DefaultProgram.class).with("-Dgmp.default=on", "-Dgmp.default.procs=3");
        Result r = jvm.run("first", "others", "kinds", "settings");
        assertEquals("""
                first false
                others [its true, its true, its false]
                kinds 6 12
                settings 3 0 10000000 [] 0 0
                """, r.out(), r::toString);
    }

    /** What was there before stays where it is, and so does what it starts. */
    @Test
    void inTheMiddleOfAProgram() {
        Result r = new ChildJvm(LateDefaultProgram.class).run();
        assertEquals("""
                before false
                after true
                made before false
                old false
                child of old false
                started by old [false, false, false]
                500500 0
                true
                """, r.out(), r::toString);
        assertEquals("", r.err(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
