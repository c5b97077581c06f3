// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.gmp4j.bench.ChildJava;
import org.gmp4j.bench.CommandLineRun;
import org.gmp4j.bench.GmpCommand;
import org.gmp4j.bench.Json;
import org.gmp4j.bench.measure.JavaCommand;
import org.gmp4j.ffi.NativeException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code gmp try} refuses what it cannot measure, measures a small service, and says in one sentence why another cannot be measured. */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TryCommandTest {
    @TempDir
    private Path dir;

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "--rate=0; --rate is above 0 and at most 1000000",
        "--rate=NaN; --rate is above 0 and at most 1000000",
        "--rate=10; --rate and --seconds make less than 100 requests, too few for a percentile",
        "--path=hello; --path begins with / and has neither blanks nor letters beyond ASCII",
        "--path=/a b; --path begins with / and has neither blanks nor letters beyond ASCII",
        "--header=Accept; --header is a name, a colon and a value, not 'Accept'",
        "--connections=0; --connections is from 1 to 10000",
        "--seconds=0.5; --seconds is from 1 to 86400",
        "--warmup=7; --warmup is 0, or from --seconds, which are 8, to 86400",
        "--saturate=-1; --saturate is from 0 to 86400",
        "--turns=0; --turns is from 1 to 1000",
        "--port=65536; --port is from 1 to 65535",
        "--server-cpus=0-; --server-cpus is a list of CPUs as 0-3,8, of ",
        "--client-cpus=99999; --client-cpus is a list of CPUs as 0-3,8, of ",
        "--with=short; --with is a name, = and flags of the JVM, as short=-Dgmp.default.quantum=1ms, not 'short'",
        "--jdk-with=jdk=-Xint; two variants have the name jdk",
        "--json=/; --json: cannot write to /: it is a directory",
        "--ports=1; Unknown option: '--ports=1'"
    })
    void badUsage(String option, String sentence) {
        CommandLineRun run = CommandLineRun.of("try", option, "java", "X");
        assertEquals("", run.out());
        assertTrue(run.err().startsWith("gmp: " + sentence), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        assertEquals(2, run.code());
    }

    @Test
    void noCommand() {
        CommandLineRun run = CommandLineRun.of("try", "--rate=500");
        assertEquals("gmp: the command that starts the service is missing; 'gmp try --help' tells more.\n", run.err());
        assertEquals(2, run.code());
    }

    private List<String> service(String what) throws Exception {
        String path = ChildJava.place(TinyService.class) + File.pathSeparator + ChildJava.place(NativeException.class); // For the agent.
        return List.of("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", path, TinyService.class.getName(), what,
                pids().toString());
    }

    private Path pids() {
        return dir.resolve("pids");
    }

    private CommandLineRun attempt(List<String> service, String... options) {
        List<String> line = new ArrayList<>(List.of("try", "--rate=200", "--seconds=1", "--connections=4", "--turns=1"));
        line.addAll(List.of(options));
        line.add("--");
        line.addAll(service);
        return CommandLineRun.of(line.toArray(String[]::new));
    }

    @AfterEach
    void noProcessIsLeft() throws Exception {
        if (Files.exists(pids())) {
            for (String pid : Files.readAllLines(pids())) {
                assertFalse(ProcessHandle.of(Long.parseLong(pid)).isPresent(), "the service is left");
            }
        }
    }

    @Test
    void allOutputs() throws Exception {
        assumeTrue(JavaCommand.runtime().endsWith(".jar"), "the runtime is a jar in mvn verify only");
        Path json = dir.resolve("t.json");
        Path html = dir.resolve("t.html");
        Path markdown = dir.resolve("t.md");
        CommandLineRun run = attempt(service("answer"), "--path=/a?b=c", "--header=X-A: b", "--warmup=1", "--saturate=0.1",
                "--json=" + json, "--html=" + html, "--markdown=" + markdown);
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().contains("\nAll answers: status 200, 5 bytes.\n"), run.out());
        assertTrue(run.out().contains("\nNo verdict: "), run.out());
        Map<?, ?> all = (Map<?, ?>) Json.parse(Files.readString(json));
        List<?> turns = (List<?>) all.get("turns");
        assertEquals(2, turns.size());
        for (Object o : turns) {
            Map<?, ?> turn = (Map<?, ?>) o;
            assertTrue((Double) turn.get("answer_ns") > 0, turn.toString());
            assertTrue((Double) turn.get("start_cpu_ns") > 0, turn.toString());
            assertTrue((Double) turn.get("young_p50_ns") > 0, turn.toString());
            assertTrue((Double) turn.get("warm_p50_ns") > 0, turn.toString());
            assertTrue((Double) turn.get("full_answers_per_second") > 0, turn.toString());
            assertTrue((Double) turn.get("peak_memory_bytes") > 1 << 20, turn.toString());
            assertTrue((Double) turn.get("threads") > 5, turn.toString());
            assertEquals(0.0, turn.get("without_answer"), turn.toString());
        }
        assertTrue(Files.readString(html).contains("Latency by time since the port answered"));
        assertTrue(Files.readString(markdown).contains("| first 1 s | gmp4j |"));
    }

    private static void failed(CommandLineRun run, String sentence, String line) {
        assertEquals("", run.out());
        String said = run.err().substring(run.err().indexOf("\n") + 1); // what it is about to do
        assertTrue(said.matches("gmp: " + sentence + "\\. Its log ends with:\n(  .*\n)*"), run.err());
        assertTrue(said.contains("\n  " + line + "\n"), run.err());
        assertEquals(1, run.code());
    }

    @Test
    void endsAtOnce() throws Exception {
        failed(attempt(service("end")), "the service, started with jdk, ended with exit code 3 before it listened on a port",
                "no configuration");
    }

    @Test
    void endsUnderTheLoad() throws Exception {
        failed(attempt(service("quit")), "the service, started with jdk, ended with exit code 7 under the load", "out of paper");
    }

    /** By a script, whose child listens and has to be ended too. */
    @Test
    void answersErrors() throws Exception {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "\"$@\"; true", "sh", ChildJava.JAVA));
        command.addAll(service("error").subList(1, service("error").size()));
        failed(attempt(command, "--path=/x"), "the service, started with jdk, answers GET /x with 500: [0-9]+ of [0-9]+ requests",
                "tiny service: error");
    }

    /** A command that takes the flag away would compare the JDK's scheduler with itself. */
    @Test
    void withoutEffect() throws Exception {
        List<String> command = new ArrayList<>(List.of("env", "-u", "JAVA_TOOL_OPTIONS", ChildJava.JAVA));
        command.addAll(service("answer").subList(1, service("answer").size()));
        CommandLineRun run = attempt(command, "--warmup=0");
        assertTrue(run.err().contains("gmp: the service, started with gmp4j, has no thread of this scheduler: the flag had no effect."),
                run.err());
        assertEquals(1, run.code());
    }

    /** And so would one that has it already. */
    @Test
    void oursAlready() throws Exception {
        assumeTrue(JavaCommand.runtime().endsWith(".jar"), "the runtime is a jar in mvn verify only");
        CommandLineRun run = attempt(Variant.GMP4J.command(service("answer")), "--warmup=0");
        assertTrue(run.err().contains("gmp: the service, started with jdk, has threads of this scheduler without our flag: "), run.err());
        assertEquals(1, run.code());
    }

    @Test
    void noSuchProgram() {
        CommandLineRun run = attempt(List.of("/no/such/program"));
        assertTrue(run.err().contains("\ngmp: Cannot run program \"/no/such/program\""), run.err());
        assertEquals(1, run.code());
    }

    /** By a signal: SIGTERM, since a shell may have had SIGINT ignored, and then the JVM does not listen to it. */
    @Test
    void endedItself() throws Exception {
        List<String> arguments = new ArrayList<>(List.of("try", "--warmup=0", "--seconds=60", "--"));
        arguments.addAll(service("answer"));
        Process command = new ProcessBuilder(JavaCommand.of(List.of("-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + dir),
                GmpCommand.class, arguments))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        while (command.isAlive() && (!Files.exists(pids()) || Files.size(pids()) == 0)) {
            Thread.sleep(10);
        }
        assertTrue(command.isAlive());
        command.destroy();
        assertTrue(command.waitFor(1, TimeUnit.MINUTES), "does not end");
        try (Stream<Path> files = Files.list(dir)) {
            assertEquals(List.of(), files.filter(f -> f.toString().endsWith(".log")).toList());
        }
    }
}
