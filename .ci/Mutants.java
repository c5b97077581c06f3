// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * Removes one barrier or check at a time and sees that a named test fails: {@code java .ci/Mutants.java [PATTERN]}.
 * {@code java .ci/Mutants.java --check} runs no test: it sees whether each text still stands in its source once.
 * {@code java .ci/Mutants.java --replay [PATTERN]} asks {@code gmp replay} instead of the tests, and prints by which program
 * and strategy it has found the mutant within a minute of CPU time, after how many schedules. Without a pattern it takes the
 * mutants of the files that {@code gmp replay} runs. {@code -Dmutants.strategy=NAME} names another strategy than
 * {@code mixed}; for {@code exhaustive} there are only the small programs, which run the queues, the locks and the loop.
 *
 * <p>The list is {@code mutants.txt} beside this file; PATTERN is a regular expression that picks entries by name. The
 * sources are copied to a temporary directory and built there once; then each mutant compiles the one file that it changes
 * and runs its test on what that gives before everything else on the class path. Each test is run without a mutant first:
 * it has to pass.
 *
 * <p>Exit code 0: each mutant made its test fail. 1: one survived, or no longer applies. 2: bad usage, or no build.
 * It runs on a JDK 25, without a dependency; {@code --check} runs on later ones too.
 */
public final class Mutants {
    private static final int JDK = 25;
    private static final String CHECK = "--check";
    private static final String REPLAY = "--replay";
    private static final String GMP = "org.gmp4j.bench.GmpCommand";
    /** The files of which {@code --replay} takes the mutants. */
    private static final Pattern REPLAYED = Pattern.compile("runtime/src/main/java/org/gmp4j/((queue|lock|wait|sync|netpoll)/.*"
            + "|struct/(GStatus|Schedt).java|timer/(Alarm|RuntimeTimer|TimerHeaps?|OutsideTimers).java"
            + "|sysmon/Takeover.java|chan/(Hchan|Selectgo|SelectLocks).java|LongChan.java"
            + "|sched/(base/|life/|jdk/)?(FindRunnable|Wakep|Threads|Park|Mcall|JdkReady|Newproc|StopTheWorld|Syscall|Gate|Schedule"
            + "|Goexit0|GStack|Inject|Shortage|Checkdead|Closing|InterruptHook|Outside).java)");
    /** A row of {@code gmp replay} for a program that failed: its name, the strategy, the schedules, the time, the reason. */
    private static final Pattern FOUND = Pattern.compile("(?m)^(\\S+) +(\\S+) +(\\d+) +([0-9.]+) s +FAILED: (.*)$");
    /** The files whose mutants an exhaustive search looks for in programs without a scheduler. */
    private static final Pattern SMALL = Pattern.compile("/(queue|lock|struct)/");
    private static final int REPLAY_SEEDS = Integer.getInteger("mutants.seeds", 600);
    /** The groups of programs that are asked for the mutants of files, by a part of the path; the others' mutants are asked of all. */
    private static final Map<String, String> REPLAY_GROUPS = Map.of("/sched/",
            "loop,procs,close,deadlock,net,sync,timer,sysmon", "/timer/", "timer,loop,procs,close,deadlock,net", "/netpoll/", "net,sysmon",
            "/sysmon/", "sysmon", "/sync/", "sync,limit,loop", "/wait/", "sync,limit,chan,loop,net", "/queue/Sema", "sync,limit,loop",
            "/queue/Global", "words,loop,sysmon", "/struct/Sched", "words,loop");
    /** The CPU time for one mutant, and how long it may take on a busy machine. */
    private static final Duration REPLAY_LIMIT = Duration.ofMinutes(1);
    private static final int REPLAY_MINUTES = 10;
    private static final int REPLAY_LOOK_MILLIS = 100;
    private static final String REPLAY_STRATEGY = System.getProperty("mutants.strategy", "mixed");
    private static final boolean REPLAY_ALL = REPLAY_STRATEGY.equals("exhaustive");
    /** The most seconds for one program. */
    private static final int REPLAY_SECONDS = Integer.getInteger("mutants.replay.seconds", REPLAY_ALL ? 60 : 5);
    private static final String RUN = "org.gmp4j.testing.RunTest";
    /** How long a test may take; one that takes longer hangs. */
    private static final int SECONDS = Integer.getInteger("mutants.seconds", 30);
    private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    private static final PrintStream OUT = System.out;

    /** One text and what stands in its place. */
    record Edit(String from, String to) {
    }

    /** One entry of the list. */
    record Mutant(String name, String file, String test, List<String> jvm, String why, String unseen, List<Edit> edits) {
    }

    /** How a run of a test ended. */
    enum End {
        /** The mutant was not noticed. */
        SURVIVED(false),
        /** A test said so. */
        FAILED(true),
        /** The runtime's own checks said so: a throw or a fatal error. */
        THREW(true),
        /** The JVM crashed. */
        CRASHED(true),
        /** The time was up. */
        HUNG(true),
        /** The text is not there, or there more than once. */
        NOT_APPLICABLE(false),
        /** javac or cc refused it. */
        NOT_COMPILED(false),
        /** There is no such test. */
        NO_TEST(false);

        final boolean killed;

        End(boolean killed) {
            this.killed = killed;
        }
    }

    private final Path root;
    private final Path copy;
    private final boolean replays;
    private String classPath;
    private List<String> flags;
    /** The test under way. */
    private volatile Process running;
    /** The CPU time that replay has taken for the last mutant. */
    private Duration spent = Duration.ZERO;

    private Mutants(Path root, Path copy, boolean replays) {
        this.root = root;
        this.copy = copy;
        this.replays = replays;
    }

    public static void main(String[] args) throws Exception {
        Path root = Path.of("").toAbsolutePath();
        Path list = root.resolve(".ci/mutants.txt");
        boolean replays = args.length > 0 && args[0].equals(REPLAY);
        if (args.length > (replays ? 2 : 1) || !Files.exists(list)) {
            System.err.println("usage, in the project's directory: java .ci/Mutants.java [PATTERN | --check | --replay [PATTERN]]");
            System.exit(2);
        }
        if (args.length == 1 && args[0].equals(CHECK)) {
            System.exit(check(root, parse(Files.readAllLines(list))) ? 0 : 1);
        }
        if (Runtime.version().feature() != JDK) {
            System.err.println("this is Java " + Runtime.version() + ": start it with the java of a JDK " + JDK);
            System.exit(2);
        }
        int given = replays ? 1 : 0;
        Pattern pick = Pattern.compile(args.length == given ? "" : args[given]);
        List<Mutant> mutants = parse(Files.readAllLines(list)).stream().filter(m -> pick.matcher(m.name).find())
                .filter(m -> !replays || args.length > given || REPLAYED.matcher(m.file).matches()).toList();
        Path copy = Files.createTempDirectory("mutants");
        Mutants all = new Mutants(root, copy, replays);
        Runtime.getRuntime().addShutdownHook(new Thread(all::cleanUp)); // Also when it is interrupted.
        try {
            boolean ok = replays ? all.replay(mutants) : all.run(mutants);
            System.exit(ok ? 0 : 1);
        } catch (IllegalStateException e) {
            System.err.println(e.getMessage());
            System.exit(2);
        }
    }

    /** Names the mutants that no longer apply, and how many there are. */
    private static boolean check(Path root, List<Mutant> mutants) throws IOException {
        boolean ok = true;
        for (Mutant m : mutants) {
            String source = Files.readString(root.resolve(m.file));
            for (Edit e : m.edits) {
                source = source == null ? null : applied(e, source);
            }
            if (source == null) {
                OUT.println(m.name + ": its text does not stand once in " + m.file);
                ok = false;
            }
        }
        OUT.println(mutants.size() + " mutants");
        return ok;
    }

    private void cleanUp() {
        try {
            Process p = running;
            if (p != null) {
                end(p);
            }
            delete(copy);
        } catch (IOException | java.io.UncheckedIOException e) {
            System.err.println(copy + " is left: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean run(List<Mutant> mutants) throws Exception {
        if (mutants.isEmpty()) {
            throw new IllegalStateException("no mutant has such a name");
        }
        build();
        boolean ok = true;
        Set<String> checked = new LinkedHashSet<>();
        for (Mutant m : mutants) {
            if (checked.add(m.test + m.jvm)) {
                End end = test(m, null);
                if (end != End.SURVIVED) {
                    OUT.printf("%-28s %-14s without any mutant%n", m.test.replaceAll(".*\\.", ""), end);
                    ok = false;
                }
            }
        }
        OUT.printf("%-28s %-14s %4s  %s%n", "mutant", "end", "s", "test");
        int killed = 0;
        int hung = 0;
        for (Mutant m : mutants) {
            long began = System.nanoTime();
            End end = apply(m);
            OUT.printf("%-28s %-14s %4d  %s%n", m.name, end, (System.nanoTime() - began) / 1_000_000_000L,
                    m.test.replaceAll(".*\\.", ""));
            if (end.killed) {
                killed++;
                hung += end == End.HUNG ? 1 : 0;
            } else {
                OUT.println("    " + m.why);
                ok = false;
            }
        }
        OUT.printf("%d of %d noticed, %d of them by a hang%n", killed, mutants.size(), hung);
        return ok;
    }

    /** Asks {@code gmp replay} for each mutant. Returns true: it says which are found, and need not find all. */
    private boolean replay(List<Mutant> mutants) throws Exception {
        if (mutants.isEmpty()) {
            throw new IllegalStateException("no mutant has such a name");
        }
        build();
        OUT.printf("%-28s %4s  %s%n", "mutant", "s", "found by");
        int found = 0;
        int asked = 0;
        for (Mutant m : mutants) {
            if (m.unseen != null) {
                OUT.printf("%-28s    -  not asked: %s%n", m.name, m.unseen);
                continue;
            }
            asked++;
            spent = Duration.ZERO;
            String[] by = {null};
            End end = with(m, out -> replayed(m, out, by));
            found += by[0] == null ? 0 : 1;
            OUT.printf("%-28s %4d  %s%n", m.name, spent.toSeconds(), by[0] == null ? end : by[0]);
        }
        OUT.printf("%d of %d found, %d not asked%n", found, asked, mutants.size() - asked);
        return true;
    }

    /** Asks for a mutant, and sets {@code by} to the program and the strategy that have found it, and why it failed there. */
    private End replayed(Mutant m, Path out, String[] by) throws Exception {
        List<String> command = new ArrayList<>(List.of(JAVA));
        command.addAll(flags);
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classPath, GMP, "replay", "--classes",
                out.toString(), "--first", "--seeds", String.valueOf(REPLAY_SEEDS), "--seconds", String.valueOf(REPLAY_SECONDS)));
        command.addAll(REPLAY_STRATEGY.equals("mixed") ? List.of() : List.of("--strategy", REPLAY_STRATEGY));
        REPLAY_GROUPS.forEach((part, groups) -> {
            if (m.file.contains(part) && !REPLAY_ALL) {
                command.addAll(List.of("--program", groups));
            }
        });
        if (REPLAY_ALL) {
            command.addAll(List.of("--program", SMALL.matcher(m.file).find() ? "ring,words,lock" : "covered"));
        }
        Path log = copy.resolve("replay.log");
        Process p = new ProcessBuilder(command).directory(copy.toFile()).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        running = p;
        long until = System.nanoTime() + TimeUnit.MINUTES.toNanos(REPLAY_MINUTES);
        boolean ended = false;
        while (!ended && by[0] == null && spent.compareTo(REPLAY_LIMIT) < 0 && System.nanoTime() < until) {
            ended = p.waitFor(REPLAY_LOOK_MILLIS, TimeUnit.MILLISECONDS);
            spent = p.info().totalCpuDuration().orElse(spent);
            Matcher row = FOUND.matcher(Files.readString(log));
            if (row.find()) { // The schedule need not be shortened.
                by[0] = "%s %s, %s schedules: %s".formatted(row.group(1), row.group(2), row.group(3), row.group(5));
            }
        }
        if (!ended) {
            end(p);
        }
        return by[0] != null ? End.FAILED : !ended ? End.HUNG : p.exitValue() == 0 ? End.SURVIVED : End.CRASHED;
    }

    // The list

    /**
     * An entry: "== name", then file, test, jvm and why lines, then edits of "-" lines and "+" lines. "#" is a comment. "replay" says
     * why no program of {@code gmp replay} can find it.
     */
    private static List<Mutant> parse(List<String> lines) {
        List<Mutant> all = new ArrayList<>();
        String name = null;
        String file = null;
        String test = null;
        String why = null;
        String unseen = null;
        List<String> jvm = List.of();
        List<Edit> edits = new ArrayList<>();
        StringBuilder from = new StringBuilder();
        StringBuilder to = new StringBuilder();
        List<String> withEnd = new ArrayList<>(lines);
        withEnd.add("== end");
        for (String line : withEnd) {
            boolean minus = line.startsWith("-");
            if ((minus && !to.isEmpty() || line.startsWith("==")) && !from.isEmpty()) {
                edits.add(new Edit(text(from), text(to)));
                from.setLength(0);
                to.setLength(0);
            }
            if (minus) {
                from.append(line.substring(1)).append('\n');
            } else if (line.startsWith("+")) {
                to.append(line.substring(1)).append('\n');
            } else if (line.startsWith("==")) {
                if (name != null) {
                    all.add(new Mutant(name, file, test, jvm, why, unseen, List.copyOf(edits)));
                }
                name = line.substring(2).strip();
                jvm = List.of();
                unseen = null;
                edits.clear();
            } else if (!line.isBlank() && !line.startsWith("#")) {
                String[] words = line.strip().split("\\s+", 2);
                switch (words[0]) {
                    case "file" -> file = words[1];
                    case "test" -> test = words[1];
                    case "jvm" -> jvm = List.of(words[1].split("\\s+"));
                    case "why" -> why = words[1];
                    case "replay" -> unseen = words[1];
                    default -> throw new IllegalStateException("mutants.txt: " + line);
                }
            }
        }
        return all;
    }

    /** Without the last newline. */
    private static String text(StringBuilder b) {
        return b.isEmpty() ? "" : b.substring(0, b.length() - 1);
    }

    // Building

    private void build() throws Exception {
        for (String part : List.of("pom.xml", ".mvn", "mvnw", "native-bindings", "runtime", replays ? "bench" : "bench/pom.xml",
                "c-shims")) {
            copy(root.resolve(part), copy.resolve(part));
        }
        Path path = copy.resolve("classpath");
        Path log = copy.resolve("build.log");
        Process p = new ProcessBuilder(copy.resolve("mvnw").toString(), "-B", "-ntp", "-q", "-pl",
                replays ? "native-bindings,runtime,bench" : "native-bindings,runtime", replays ? "compile" : "test-compile",
                "dependency:build-classpath", "-Dmdep.outputFile=" + path)
                .directory(copy.toFile()).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        if (p.waitFor() != 0 || !Files.exists(path)) {
            throw new IllegalStateException("the build failed:\n" + Files.readString(log));
        }
        classPath = String.join(":", copy.resolve(replays ? "bench/target/classes" : "runtime/target/test-classes").toString(),
                copy.resolve("runtime/target/classes").toString(), copy.resolve("native-bindings/target/classes").toString(),
                Files.readString(path).strip());
        Matcher m = Pattern.compile("<gmp.jvm.flags>(.*?)</gmp.jvm.flags>")
                .matcher(Files.readString(root.resolve("pom.xml")));
        if (!m.find()) {
            throw new IllegalStateException("pom.xml has no gmp.jvm.flags");
        }
        flags = List.of(m.group(1).split(" "));
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes a) {
                return dir.getFileName().toString().equals("target") ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes a) throws IOException {
                Path target = to.resolve(from.relativize(file).toString());
                if (from.equals(file)) {
                    target = to;
                }
                Files.createDirectories(target.getParent());
                Files.copy(file, target, StandardCopyOption.COPY_ATTRIBUTES, StandardCopyOption.REPLACE_EXISTING);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static void delete(Path dir) throws IOException {
        try (Stream<Path> all = Files.walk(dir)) {
            for (Path p : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(p);
            }
        }
    }

    // One mutant

    /** The source with an edit; null when the edit's code is not there, or more than once. */
    private static String applied(Edit e, String source) {
        Code code = Code.of(source);
        String wanted = Code.of(e.from).text;
        int at = code.text.indexOf(wanted);
        if (wanted.isEmpty() || at < 0 || code.text.indexOf(wanted, at + 1) >= 0) {
            return null;
        }
        return source.substring(0, code.offsets[at]) + e.to + source.substring(code.offsets[at + wanted.length() - 1] + 1);
    }

    /**
     * Java or C without comments and white space, so that a better comment or another line break changes no mutant. Literals stay as they
     * are.
     *
     * @param text what is left
     * @param offsets where each character of it stands in the source
     */
    private record Code(String text, int[] offsets) {
        private static final Pattern TOKEN = Pattern.compile(
                "//[^\n]*|/\\*.*?\\*/|\\s+|(\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\\n])*'|.)", Pattern.DOTALL);

        static Code of(String source) {
            StringBuilder text = new StringBuilder();
            int[] offsets = new int[source.length()];
            for (Matcher m = TOKEN.matcher(source); m.find();) {
                for (int i = m.start(1); i >= 0 && i < m.end(1); i++) {
                    offsets[text.length()] = i;
                    text.append(source.charAt(i));
                }
            }
            return new Code(text.toString(), offsets);
        }
    }

    /** Runs something with the classes of a mutant, which are in the directory that it gets. */
    private interface Step {
        End run(Path out) throws Exception;
    }

    private End apply(Mutant m) throws Exception {
        return with(m, out -> test(m, out));
    }

    private End with(Mutant m, Step step) throws Exception {
        Path file = copy.resolve(m.file);
        String original = Files.readString(file);
        String mutated = original;
        for (Edit e : m.edits) {
            mutated = applied(e, mutated);
            if (mutated == null) {
                return End.NOT_APPLICABLE;
            }
        }
        Path out = Files.createTempDirectory(copy, "out");
        try {
            Files.writeString(file, mutated);
            return compile(m, file, out) ? step.run(out) : End.NOT_COMPILED;
        } finally {
            Files.writeString(file, original);
            delete(out);
        }
    }

    /** The one file that changed; what depends on it stays as it is, since no mutant changes a signature or a constant. */
    private boolean compile(Mutant m, Path file, Path out) throws Exception {
        if (!m.file.startsWith("c-shims/")) { // Not in a process of its own, which would compile slowly.
            return ToolProvider.getSystemJavaCompiler().run(null, OUT, OUT, "-nowarn", "-g", "-proc:none",
                    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED",
                    "--add-exports=java.base/jdk.internal.access=ALL-UNNAMED",
                    "--add-exports=java.base/jdk.internal.foreign.abi=ALL-UNNAMED",
                    "--add-exports=java.base/jdk.internal.foreign.abi.x64=ALL-UNNAMED",
                    "--add-exports=java.base/jdk.internal.loader=ALL-UNNAMED",
                    "-cp", classPath, "-d", out.toString(), file.toString()) == 0;
        }
        Process p = new ProcessBuilder("bash", copy.resolve("c-shims/build.sh").toString(), out.resolve("native").toString(), "cc")
                .redirectErrorStream(true).start();
        String said = new String(p.getInputStream().readAllBytes());
        boolean ok = p.waitFor() == 0;
        if (!ok) {
            OUT.print(said);
        }
        return ok;
    }

    /** With the programs that the test started. */
    private static void end(Process p) throws InterruptedException {
        List<ProcessHandle> all = p.descendants().toList();
        p.destroyForcibly().waitFor();
        all.forEach(ProcessHandle::destroyForcibly);
    }

    /** Runs the mutant's test; {@code out} is null without the mutant. */
    private End test(Mutant m, Path out) throws Exception {
        List<String> command = new ArrayList<>(List.of(JAVA));
        command.addAll(flags);
        command.addAll(List.of("-Dgmp.lockrank=true", "-Dgmp.pollers=named", "-XX:-CreateCoredumpOnCrash",
                "-XX:+SuppressFatalErrorMessage"));
        command.addAll(m.jvm);
        command.addAll(List.of("-cp", (out == null ? "" : out + ":") + classPath, RUN, m.test));
        Path log = copy.resolve("test.log");
        Process p = new ProcessBuilder(command).directory(copy.toFile()).redirectErrorStream(true)
                .redirectOutput(log.toFile()).start();
        running = p;
        if (!p.waitFor(SECONDS, TimeUnit.SECONDS)) {
            end(p);
            return End.HUNG;
        }
        int exit = p.exitValue();
        if (out == null && exit != 0) {
            OUT.print(Files.readString(log));
        }
        if (Boolean.getBoolean("mutants.log")) {
            OUT.print(Files.readString(log).lines().limit(20).map(s -> "    | " + s + "\n").reduce("", String::concat));
        }
        return switch (exit) {
            case 0 -> End.SURVIVED;
            case 1 -> End.FAILED;
            case 2 -> End.THREW;
            case 3 -> End.NO_TEST;
            default -> End.CRASHED;
        };
    }
}
