// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * The workflows of {@code .github}: each command is executed in a copy of the scripts, where Maven, Java and other programs that take long
 * or need the network are replaced by ones that only note that they were called.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkflowsTest {
    private static final Path ROOT = Path.of("..");
    /** Scripts that look at what the replaced programs should have made, and end with exit code 1. */
    private static final Set<String> LOOK_AT_RESULTS = Set.of(".ci/outside", ".ci/agents", ".ci/kotlin", ".ci/aarch64");

    /** One command of a workflow, with the variables of its step. */
    record Command(String workflow, String line, Map<String, String> environment) {
        String script() {
            String[] words = line.split(" ");
            return words[0].equals("java") ? words[1] : words[0];
        }

        @Override
        public String toString() {
            return workflow + ": " + line;
        }
    }

    @TempDir
    private static Path dir;
    private static Path project;

    // ---- reading

    private static Map<?, ?> map(Object o) {
        return o == null ? Map.of() : (Map<?, ?>) o;
    }

    private static List<?> list(Object o) {
        return o == null ? List.of() : (List<?>) o;
    }

    private static Map<String, Map<?, ?>> workflows() throws IOException {
        Map<String, Map<?, ?>> all = new LinkedHashMap<>();
        try (Stream<Path> files = Files.list(ROOT.resolve(".github/workflows"))) {
            for (Path file : files.sorted().toList()) {
                Yaml yaml = new Yaml(new SafeConstructor(new LoaderOptions()));
                all.put(file.getFileName().toString(), map(yaml.load(Files.readString(file))));
            }
        }
        return all;
    }

    static List<Command> commands() throws IOException {
        List<Command> commands = new ArrayList<>();
        for (Map.Entry<String, Map<?, ?>> workflow : workflows().entrySet()) {
            for (Object job : map(workflow.getValue().get("jobs")).values()) {
                for (Object step : list(map(job).get("steps"))) {
                    if (map(step).get("run") instanceof String line) {
                        Map<String, String> environment = new LinkedHashMap<>();
                        map(map(step).get("env")).forEach((k, v) -> environment.put((String) k, (String) v));
                        commands.add(new Command(workflow.getKey(), line, environment));
                    }
                }
            }
        }
        return commands;
    }

    // ---- the files

    @Test
    void jobsHaveALimitOfTimeAndLeastRights() throws IOException {
        List<String> found = new ArrayList<>();
        Map<String, Map<?, ?>> all = workflows();
        assertEquals(Set.of("build.yml", "nightly.yml", "release.yml"), all.keySet());
        all.forEach((file, workflow) -> {
            if (!(workflow.get(Boolean.TRUE) instanceof Map)) { // YAML 1.1 reads "on" as a boolean.
                found.add(file + " has no occasion");
            }
            if (!Map.of("contents", "read").equals(workflow.get("permissions"))) {
                found.add(file + " may more than read");
            }
            map(workflow.get("jobs")).forEach((name, job) -> {
                if (!(map(job).get("timeout-minutes") instanceof Integer)) {
                    found.add(file + ": " + name + " has no limit of time");
                }
                if (!((String) map(job).get("runs-on")).matches("ubuntu-\\d\\d\\.04(-arm)?")) {
                    found.add(file + ": " + name + " names no version of its machine");
                }
                for (Object step : list(map(job).get("steps"))) {
                    if (map(step).get("uses") instanceof String action && !action.matches("[a-z-]+/[a-z-]+@v\\d+\\.\\d+\\.\\d+")) {
                        found.add(file + ": " + action + " has no version");
                    }
                }
            });
        });
        assertEquals(List.of(), found);
    }

    /** Secrets and other values reach a script by variables: in the command itself they would be code. */
    @Test
    void commandsAreSimple() throws IOException {
        List<String> found = new ArrayList<>();
        List<Command> commands = commands();
        for (Command c : commands) {
            if (!c.line().matches("[-A-Za-z0-9_./=\"$ ]+") || !Files.isExecutable(ROOT.resolve(c.script())) && !c.line().startsWith("java ")
                    || !Files.isRegularFile(ROOT.resolve(c.script()))) {
                found.add(c.toString());
            }
        }
        assertEquals(List.of(), found);
        assertTrue(commands.size() > 12, commands::toString);
    }

    /** A workflow runs each script that searches for faults. Scripts that only other scripts call are left out. */
    @Test
    void eachScriptIsRun() throws IOException {
        Set<String> run = new TreeSet<>(Set.of(".ci/errorprone", ".ci/reproducible")); // by gmp test, and by .ci/run
        run.add(".ci/nightly"); // which itself runs a workflow's commands
        for (Command c : commands()) {
            run.add(c.script());
        }
        try (Stream<Path> files = Files.list(ROOT.resolve(".ci"))) {
            for (Path file : files.filter(Files::isExecutable).toList()) {
                assertTrue(run.contains(".ci/" + file.getFileName()), () -> "no workflow runs " + file);
            }
        }
    }

    // ---- running

    @BeforeAll
    static void replacePrograms() throws IOException {
        project = Files.createDirectories(dir.resolve("project"));
        for (String folder : List.of(".ci", ".github/workflows")) {
            Files.createDirectories(project.resolve(folder));
            try (Stream<Path> files = Files.list(ROOT.resolve(folder))) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    Files.copy(file, project.resolve(folder).resolve(file.getFileName().toString()));
                }
            }
        }
        for (String file : List.of("pom.xml", "README.md", "runtime/pom.xml", "runtime/GUIDE.md", "native-bindings/pom.xml",
                "bench/pom.xml", "c-shims/build.sh")) {
            Files.createDirectories(project.resolve(file).getParent());
            Files.copy(ROOT.resolve(file), project.resolve(file));
        }
        // "Builds" beside itself.
        program(project.resolve("gmp"), "lib=$(dirname \"$0\")/target/gmp/lib; mkdir -p \"$lib\"; for jar in lib/gmp4j-runtime-1.jar "
                + "lib/gmp4j-native-bindings-1.jar gmp4j-agent.jar; do echo jar >\"$lib/../$jar\"; done");
        for (String name : List.of("bin", "jdk/bin", "tested/bin")) {
            Files.createDirectories(dir.resolve(name));
        }
        program(dir.resolve("bin/mvn"), "echo '[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1'");
        program(dir.resolve("bin/gpg"), "echo key");
        for (String name : List.of("java", "apt-get", "sudo", "curl", "gpgconf", "aarch64-linux-gnu-gcc")) {
            program(dir.resolve("bin/" + name), "");
        }
        program(dir.resolve("bin/dpkg"), "exit 1"); // There is no package to unpack.
        for (String name : List.of("java", "javac", "jar", "jlink")) {
            program(dir.resolve("jdk/bin/" + name), "");
        }
        program(dir.resolve("jdk/bin/jar"), "echo zip >\"$4\""); // --create --no-manifest --file NAME
        program(dir.resolve("tested/bin/java"), "echo '    java.vendor = Acme'; echo '    java.runtime.version = 27+36'");
    }

    private static void program(Path file, String body) throws IOException {
        Files.writeString(file, "#!/usr/bin/env bash\necho \"${0##*/} $*\" >>\"$CALLS\"\n" + body + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private record Ended(int exit, String out, List<String> calls) {
    }

    private static Ended execute(Command c) throws Exception {
        Path calls = dir.resolve("calls");
        Files.writeString(calls, "");
        ProcessBuilder b = new ProcessBuilder("bash", "-e", "-c", c.line()).directory(project.toFile()).redirectErrorStream(true);
        b.environment().keySet().removeIf(name -> name.matches("(GMP|MAVEN|CENTRAL|JAVA|JDK|TEST).*"));
        b.environment().put("PATH", dir.resolve("bin") + ":/usr/bin:/bin");
        b.environment().put("JAVA_HOME", dir.resolve("jdk").toString());
        b.environment().put("CALLS", calls.toString());
        b.environment().put("GITHUB_REF_NAME", "v0.9.1");
        // The values of expressions: the JDK that is tested, and any secret.
        c.environment().forEach((name, value) -> b.environment().put(name,
                value.startsWith("${{ steps.") ? dir.resolve("tested").toString() : value.startsWith("${{ secrets.") ? "secret" : value));
        Process p = b.start();
        p.getOutputStream().close();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(p.waitFor(), out, Files.readAllLines(calls));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void eachCommandIsAccepted(Command c) throws Exception {
        Path release = project.resolve("target/release");
        Files.createDirectories(release.getParent());
        Files.deleteIfExists(release); // An empty folder, of a release before.
        if (c.script().equals(".ci/publish")) {
            Files.writeString(project.resolve("target/release.zip"), "zip");
        }
        Ended e = execute(c);
        assertTrue(e.exit() == 0 || e.exit() == 1 && LOOK_AT_RESULTS.contains(c.script()), e::toString);
        assertTrue(!e.calls().isEmpty(), e::toString);
        if (c.script().equals("./gmp")) {
            String[] words = c.line().split(" ");
            String[] arguments = Stream.of(words).skip(1).filter(word -> !word.startsWith("-D")).toArray(String[]::new); // Maven's
            assertEquals("test", arguments[0]);
            GmpCommand.commandLine().parseArgs(arguments);
        }
        if (c.script().equals(".ci/jdks")) {
            assertTrue(e.out().contains("| Acme | 27+36 | 2 | 0 | 1 |"), e::toString);
        }
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void aMistakeWouldBeNoticed(String line) throws Exception {
        Ended e = execute(new Command("none", line, Map.of()));
        assertNotEquals(0, e.exit(), e::toString);
        assertTrue(e.exit() != 1 && e.calls().isEmpty(), e::toString);
    }

    /** {@code .ci/nightly} runs the commands of its workflow here, and says which failed. */
    @Test
    void nightlyRunsItsWorkflow() throws Exception {
        Ended e = execute(new Command("none", ".ci/nightly replay", Map.of()));
        assertEquals(0, e.exit(), e::toString);
        assertTrue(e.out().contains("| .ci/replay | passed | 0 |"), e::toString);
        assertTrue(!e.calls().isEmpty(), e::toString);
        e = execute(new Command("none", ".ci/nightly jdks", Map.of("TESTED", "/nope")));
        assertEquals(1, e.exit(), e::toString);
        assertTrue(e.out().contains("| .ci/jdks \"$TESTED\" | exit code 2, target/nightly/0.log | 0 |"), e::toString);
    }

    static List<String> wrong() {
        return List.of(".ci/nope", ".ci/release --nope 0.9.1 target/x", ".ci/release 0.9.1 target/x", ".ci/jdks", ".ci/jdks /nope",
                ".ci/publish target/nope.zip", ".ci/packages", ".ci/packages --yes", ".ci/nightly nope");
    }
}
