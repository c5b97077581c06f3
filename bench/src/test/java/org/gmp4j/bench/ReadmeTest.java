// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.gmp4j.Gmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The README's programs compile and do what it says. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReadmeTest {
    private static final Path README = Path.of("../README.md");

    /** The java block that declares {@code name}, as a file in {@code dir}. */
    private static Path program(String name, Path dir) throws Exception {
        Matcher block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(README));
        while (block.find()) {
            if (block.group(1).contains("public class " + name + " ")) {
                return Files.writeString(dir.resolve(name + ".java"), block.group(1));
            }
        }
        throw new AssertionError("no program " + name + " in " + README);
    }

    /** With the one flag when the runtime is a jar already (mvn verify), with the explicit flags before that (mvn test). */
    private static Process java(Path program, String... args) throws Exception {
        String runtime = ChildJava.place(Gmp.class).toString();
        List<String> command = new ArrayList<>(List.of(ChildJava.JAVA));
        if (runtime.endsWith(".jar")) {
            command.add("-javaagent:" + runtime);
        } else {
            command.add("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED");
            command.add("--add-opens=java.base/java.lang=ALL-UNNAMED");
        }
        command.addAll(List.of("-cp", ChildJava.runtime(), program.toString()));
        command.addAll(List.of(args));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** The overview of the API begins with the same program. */
    @Test
    void overview(@TempDir Path dir) throws Exception {
        Matcher code = Pattern.compile("<pre>\\{@code\n(.*?)}</pre>", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../runtime/doc/overview.html")));
        assertTrue(code.find());
        assertEquals(Files.readString(program("Hello", dir)), code.group(1));
    }

    /** What the pages link to is there, and the front page stays one. */
    @Test
    void links() throws Exception {
        List<Path> pages = new ArrayList<>(List.of(README));
        for (Path folder : List.of(Path.of("../runtime"), Path.of("../bench"))) {
            try (Stream<Path> files = Files.list(folder)) {
                files.filter(f -> f.toString().endsWith(".md")).forEach(pages::add);
            }
        }
        int links = 0;
        for (Path page : pages) {
            Matcher link = Pattern.compile("\\]\\(([^)#:]+)(#[^)]*)?\\)").matcher(Files.readString(page));
            while (link.find()) {
                assertTrue(Files.exists(page.resolveSibling(link.group(1))), page + " links to " + link.group(1));
                links++;
            }
        }
        assertTrue(links > 10, "links found: " + links);
        assertTrue(Files.readAllLines(README).size() <= 165, "the front page is for what everybody wants to know");
    }

    @Test
    void service(@TempDir Path dir) throws Exception {
        Process service = java(program("Service", dir), "0");
        try (BufferedReader out = service.inputReader(StandardCharsets.UTF_8);
                HttpClient client = HttpClient.newHttpClient()) {
            String listening = out.readLine();
            URI uri = URI.create(listening.substring(listening.indexOf("http:")));
            HttpResponse<String> answer = client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
            assertEquals(200, answer.statusCode());
            assertTrue(answer.body().matches("hello from goroutine \\d+\n"), answer.body());
            service.destroy(); // SIGTERM: the shutdown hook closes the scheduler.
            assertTrue(service.waitFor(30, TimeUnit.SECONDS), "does not stop");
        } finally {
            service.destroyForcibly();
        }
    }

    @Test
    void firstProgram(@TempDir Path dir) throws Exception {
        Process hello = java(program("Hello", dir));
        List<String> lines = new ArrayList<>(hello.inputReader(StandardCharsets.UTF_8).readAllLines());
        assertEquals(0, hello.waitFor());
        lines.replaceAll(line -> line.replaceAll("goroutine \\d+$", "goroutine N"));
        lines.sort(null);
        assertEquals(
                List.of("hello from G, goroutine N", "hello from M, goroutine N", "hello from P, goroutine N"), lines);
    }
}
