// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Runs a small program in a JVM of its own and looks at its end (Go's {@code testprog}). */
public final class ChildJvm {
    /** What every JVM that runs the scheduler from the class path needs. */
    public static final List<String> FLAGS = List.of("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED");
    static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    private static final long MINUTES = 2;
    private static final long DUMP_SECONDS = 3;

    /** How it ended. */
    public record Result(int exit, String out, String err) {
    }

    private final List<String> flags = new ArrayList<>(FLAGS);
    private final Map<String, String> environment = new TreeMap<>();
    private final Class<?> program;
    private boolean plain;

    /** A JVM for {@code program}'s main method, its first argument {@link #run}'s. */
    public ChildJvm(Class<?> program) {
        this.program = program;
        environment.put("GMPMAXPROCS", "2");
    }

    /** Adds JVM options. */
    public ChildJvm with(String... options) {
        flags.addAll(Arrays.asList(options));
        return this;
    }

    /**
     * Has the JVM load each class from its file, as programs do. A JVM with an agent or a small heap does so in any case, because such
     * tests depend on what the first use of a class takes.
     */
    public ChildJvm plain() {
        plain = true;
        return this;
    }

    /** Leaves the flags away that open the JDK. */
    public ChildJvm withoutFlags() {
        flags.removeAll(FLAGS);
        return this;
    }

    /** Sets a variable. */
    public ChildJvm env(String name, String value) {
        environment.put(name, value);
        return this;
    }

    /** Runs it to its end. */
    public Result run(String... args) {
        ClassArchive archive = archive();
        if (archive == null) {
            return java(List.of("-cp", System.getProperty("java.class.path"), program.getName()), args);
        }
        return java(List.of("-XX:SharedArchiveFile=" + archive.file(), "-Xlog:cds*=off", "-Xlog:aot*=off", "-cp", archive.classPath(),
                program.getName()), args);
    }

    private ClassArchive archive() {
        if (plain || flags.stream().anyMatch(f -> f.startsWith("-javaagent:") || f.startsWith("-Xmx") || f.equals("--limit-modules"))) {
            return null;
        }
        try {
            return ClassArchive.get();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The same with another class path than ours. */
    public Result runFrom(String classPath, String... args) {
        return java(List.of("-cp", classPath, program.getName()), args);
    }

    /** Runs a main class where the options say what there is to find it on. */
    public Result runMain(String name, String... args) {
        return java(List.of(name), args);
    }

    /** Runs it with the argument {@code name}: it prints nothing and ends with an error that begins with {@code text}. */
    public void fatal(String name, String text) {
        Result r = run(name);
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith(text), r::toString);
        assertEquals("", r.out(), r::toString);
    }

    /** Runs an executable jar instead. */
    public Result runJar(Path jar, String... args) {
        return java(List.of("-jar", jar.toString()), args);
    }

    /** Runs a source file instead, with the preview features of this Java. */
    public Result runSource(Path file, String... args) {
        return java(List.of("-cp", System.getProperty("java.class.path"), "--enable-preview", "--source",
                String.valueOf(Runtime.version().feature()), file.toString()), args);
    }

    private Result java(List<String> what, String... args) {
        List<String> command = new ArrayList<>();
        command.add(JAVA);
        command.addAll(flags);
        if (flags.stream().noneMatch(f -> f.startsWith("-XX:+Use") && f.endsWith("GC"))) {
            command.add("-XX:+UseSerialGC");
        }
        if (flags.stream().noneMatch(f -> f.startsWith("-XX:TieredStopAtLevel="))) {
            command.add("-XX:TieredStopAtLevel=1");
        }
        command.addAll(what);
        command.addAll(Arrays.asList(args));
        try {
            Path out = Files.createTempFile("gmp", ".out");
            Path err = Files.createTempFile("gmp", ".err");
            try {
                ProcessBuilder b = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
                b.environment().remove("JDK_JAVA_OPTIONS");
                b.environment().putAll(environment);
                Process p = b.start();
                boolean ended = p.waitFor(MINUTES, TimeUnit.MINUTES);
                if (!ended) {
                    dump(p);
                    p.destroyForcibly().waitFor();
                }
                Result r = new Result(ended ? p.exitValue() : -1, text(out), text(err));
                if (!ended) {
                    throw new AssertionError("did not end: " + r);
                }
                return r;
            } finally {
                Files.delete(out);
                Files.delete(err);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Has a JVM that hangs write its threads to its output, which the report of the test has then. */
    private static void dump(Process p) throws IOException, InterruptedException {
        int _ = new ProcessBuilder("kill", "-QUIT", String.valueOf(p.pid())).start().waitFor();
        boolean _ = p.waitFor(DUMP_SECONDS, TimeUnit.SECONDS);
    }

    private static String text(Path p) throws IOException {
        return Files.readString(p, StandardCharsets.UTF_8);
    }
}
