// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds what peers in other languages need, and builds their programs on demand. */
public final class Toolchains {
    /** WaitGroup.Go came with it. */
    private static final int LEAST_GO = 25;

    private static final Pattern GO_VERSION = Pattern.compile("go version go1\\.(\\d+)(\\S*)");
    private static final Pattern KOTLIN_JAR =
            Pattern.compile("(kotlin-stdlib|kotlinx-coroutines-core-jvm)-([0-9].*)\\.jar");
    private static final long MOST_MINUTES = 10;

    private final Map<String, String> environment;

    /**
     * A peer's program, built.
     *
     * @param version of its language
     * @param command how to start it
     * @param environment more variables for it
     */
    public record Program(String version, List<String> command, Map<String, String> environment) {
    }

    /** What is missing, in a sentence without its end. */
    public static final class MissingException extends Exception {
        private static final long serialVersionUID = 1;

        /** Makes an exception with this sentence. */
        public MissingException(String sentence) {
            super(sentence);
        }
    }

    /** Searches by these variables of the environment: GMP_GO, GOROOT, PATH. */
    public Toolchains(Map<String, String> environment) {
        this.environment = Map.copyOf(environment);
    }

    // ---- Go

    /** Builds the peer in Go. */
    Program go() throws MissingException, IOException, InterruptedException {
        return go("bench/peers/go", "peers");
    }

    /**
     * Builds the Go program in a folder of this repository.
     *
     * @throws MissingException if there is no Go that is new enough, or it does not build
     */
    public Program go(String folder, String name) throws MissingException, IOException, InterruptedException {
        for (Path candidate : goCandidates()) {
            if (Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                Matcher version = GO_VERSION.matcher(output(List.of(candidate.toString(), "version")));
                if (version.find() && Integer.parseInt(version.group(1)) >= LEAST_GO) {
                    return buildGo(folder, name, candidate, "go1." + version.group(1) + version.group(2));
                }
            }
        }
        throw new MissingException(
                "Go 1." + LEAST_GO + " or newer was not found: install it, or set GMP_GO to its go command");
    }

    private List<Path> goCandidates() {
        List<Path> candidates = new ArrayList<>();
        if (environment.containsKey("GMP_GO")) {
            candidates.add(Path.of(environment.get("GMP_GO")));
        }
        if (environment.containsKey("GOROOT")) {
            candidates.add(Path.of(environment.get("GOROOT"), "bin", "go"));
        }
        for (String dir : environment.getOrDefault("PATH", "").split(File.pathSeparator)) {
            candidates.add(Path.of(dir, "go"));
        }
        return candidates;
    }

    /** Builds a program of Go's from its files, not as a module, so that the version in go.mod does not matter. */
    private static Program buildGo(String folder, String name, Path go, String version)
            throws MissingException, IOException, InterruptedException {
        Path target = Files.createDirectories(root().resolve("target/peers/go"));
        Path program = target.resolve(name);
        List<String> command = new ArrayList<>(List.of(go.toAbsolutePath().toString(), "build", "-o", program.toString()));
        sources(root().resolve(folder), ".go").forEach(f -> command.add(f.toString()));
        build("Go", command, target, target.resolve(name + ".log"), Map.of("GOTOOLCHAIN", "local"));
        return new Program(version, List.of(program.toString()), Map.of());
    }

    // ---- Kotlin

    /** Builds the peer in Kotlin. */
    Program kotlin() throws MissingException, IOException, InterruptedException {
        Path project = root().resolve("bench/peers/kotlin");
        Path lib = project.resolve("target/lib");
        List<Path> sources = new ArrayList<>(sources(project, ".kt"));
        sources.add(project.resolve("pom.xml"));
        FileTime newest = FileTime.fromMillis(0);
        for (Path source : sources) {
            FileTime time = Files.getLastModifiedTime(source);
            newest = time.compareTo(newest) > 0 ? time : newest;
        }
        Path stamp = project.resolve("target/stamp");
        if (Files.notExists(stamp) || Files.getLastModifiedTime(stamp).compareTo(newest) < 0) {
            Files.createDirectories(stamp.getParent());
            List<String> command = List.of(root().resolve("mvnw").toString(), "-B", "-q", "-ntp", "-f",
                    project.resolve("pom.xml").toString(), "package");
            build("Kotlin", command, root(), project.resolve("target/build.log"),
                    Map.of("JAVA_HOME", System.getProperty("java.home")));
            Files.writeString(stamp, "");
            Files.setLastModifiedTime(stamp, newest);
        }
        String path = project.resolve("target/classes") + File.pathSeparator + lib + File.separator + "*";
        return new Program(versions(lib), List.of("-cp", path, "PeersKt"), Map.of());
    }

    /** Returns the versions in the names of the jars. */
    private static String versions(Path lib) throws IOException {
        String stdlib = "";
        String coroutines = "";
        for (Path jar : sources(lib, ".jar")) {
            Matcher m = KOTLIN_JAR.matcher(jar.getFileName().toString());
            if (m.matches() && m.group(1).equals("kotlin-stdlib")) {
                stdlib = m.group(2);
            } else if (m.matches()) {
                coroutines = m.group(2);
            }
        }
        return "Kotlin " + stdlib + ", kotlinx-coroutines " + coroutines;
    }

    // ---- both

    /** Returns the folder that contains bench/peers. */
    public static Path root() throws MissingException {
        try {
            Path here = Path.of(Toolchains.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            for (Path p = here; p != null; p = p.getParent()) {
                if (Files.exists(p.resolve("bench/peers/go/main.go"))) {
                    return p;
                }
            }
            throw new MissingException("its source, bench/peers, was not found above " + here);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<Path> sources(Path dir, String end) throws IOException {
        try (Stream<Path> files = Files.list(dir)) {
            return files.filter(f -> f.toString().endsWith(end)).sorted().toList();
        }
    }

    private static void build(String language, List<String> command, Path dir, Path log, Map<String, String> more)
            throws MissingException, IOException, InterruptedException {
        ProcessBuilder b = new ProcessBuilder(command).directory(dir.toFile());
        b.redirectErrorStream(true).redirectOutput(log.toFile());
        b.environment().putAll(more);
        Process p = b.start();
        try {
            if (!p.waitFor(MOST_MINUTES, TimeUnit.MINUTES) || p.exitValue() != 0) {
                throw new MissingException("its program did not build with " + language + ": see " + log);
            }
        } finally {
            p.destroyForcibly();
        }
    }

    /** Returns the output of a command; nothing where the kernel cannot run it. */
    private static String output(List<String> command) throws IOException, InterruptedException {
        Process p;
        try {
            p = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            return "";
        }
        String text = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int _ = p.waitFor();
        return text;
    }
}
