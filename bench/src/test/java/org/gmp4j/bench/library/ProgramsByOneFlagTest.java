// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.gmp4j.bench.library.app.GrpcProgram;
import org.gmp4j.bench.library.app.MariaDbProgram;
import org.gmp4j.bench.library.app.RedisProgram;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Programs on virtual threads of libraries, unchanged, with the agent's option {@code default} and without: they print the same. */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ProgramsByOneFlagTest {
    @TempDir
    static Path folder;

    private static OneFlag with;

    @BeforeAll
    static void jars() throws Exception {
        with = new OneFlag(folder);
    }

    @Test
    void grpc() throws Exception {
        List<String> program = with.program(GrpcProgram.class, "io/grpc", "com/google/guava", "io/perfmark", "com/google/errorprone",
                "com/google/code/gson", "com/google/android");
        bothPrint("""
                right 1300
                fails INVALID_ARGUMENT
                late DEADLINE_EXCEEDED
                channel ends true
                server ends true
                """, program);
    }

    /** Jedis, against the server of the examples. */
    @Test
    void redis() throws Exception {
        Process server = new ProcessBuilder(OneFlag.java(
                        List.of("-XX:TieredStopAtLevel=1", "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED",
                                "--add-opens=java.base/java.lang=ALL-UNNAMED"),
                        List.of("-cp", with.agent.toString(), "examples/resp/Resp.java", "0", "socket", "jdk")))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader said = server.inputReader(StandardCharsets.UTF_8)) {
            String port = said.readLine().replaceAll(".* ", "");
            for (int run = 1; run <= 2; run++) {
                List<String> program = new ArrayList<>(with.program(RedisProgram.class, "redis/clients", "org/apache/commons/commons-pool2",
                        "org/slf4j", "com/google/code/gson", "org/json"));
                program.add(port);
                print("right 620, visits " + 600 * run + "\nmessages 50\n", program, run == 2);
            }
        } finally {
            server.destroy();
            server.waitFor();
        }
    }

    /** HikariCP and MariaDB's driver, against a real server. */
    @Test
    void mariaDb() throws Exception {
        try (MariaDb server = MariaDb.start()) {
            List<String> program = new ArrayList<>(with.program(MariaDbProgram.class, "com/zaxxer", "org/mariadb", "org/slf4j"));
            program.add(server.url());
            bothPrint("""
                    right 2000, rows 2000
                    slow 39, served meanwhile 100
                    ended early 39
                    deadlocks 1
                    """, program);
        }
    }

    /** What the guide shows of a program is in one of those that are run here, or in {@link FrameworkService}. */
    @Test
    void theGuideHasTheSame() throws Exception {
        StringBuilder sources = new StringBuilder();
        try (Stream<Path> all = Files.list(Path.of("src/test/java/org/gmp4j/bench/library/app"))) {
            for (Path p : (Iterable<Path>) all::iterator) {
                sources.append(Files.readString(p).replaceAll("\\s+", ""));
            }
        }
        sources.append(Files.readString(Path.of("src/test/java/org/gmp4j/bench/library/FrameworkService.java")));
        String guide = Files.readString(Path.of("../runtime/GUIDE.md"));
        String recipes = guide.substring(guide.indexOf("\n### Recipes"), guide.indexOf("\n### Starting faster"));
        Matcher code = Pattern.compile("`([^`]+)` makes").matcher(recipes);
        int found = 0;
        for (; code.find(); found++) {
            String what = code.group(1).replaceAll("\\s+", "");
            assertTrue(sources.indexOf(what) >= 0, code.group(1));
        }
        assertEquals(4, found);
    }

    private static void bothPrint(String lines, List<String> program) throws Exception {
        print(lines, program, false);
        print(lines, program, true);
    }

    private static void print(String lines, List<String> program, boolean flag) throws Exception {
        List<String> flags = new ArrayList<>(List.of("-Dslf4j.internal.verbosity=ERROR"));
        flags.addAll(flag ? List.of("-javaagent:" + with.agent + "=default") : OneFlag.WITHOUT);
        Path out = Files.createTempFile(folder, "out", ".txt");
        Process p = new ProcessBuilder(OneFlag.java(flags, program))
                .redirectOutput(out.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            assertTrue(p.waitFor(1, TimeUnit.MINUTES), () -> "does not end: " + program);
            assertEquals(lines + "work ran on: virtual true, goroutine " + flag + "\n", Files.readString(out));
            assertEquals(0, p.exitValue());
        } finally {
            p.destroyForcibly();
        }
    }
}
