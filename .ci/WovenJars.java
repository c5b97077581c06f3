// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.agent.Points;
import org.gmp4j.weave.Weave;

/**
 * Weaves five large jars of Maven Central and has them do their work, with the flags alone, in a goroutine on one P beside another:
 * every class links with all verification as it does without points, the output is the same, and points are reached. Too heavy for
 * the suite: some 160 MB to fetch, five minutes. {@code ./gmp run .ci/WovenJars.java [FOLDER]}; exit code 1 when something differs.
 */
class WovenJars {
    private static final String[] FLAGS = {"--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED", "-Xverify:all",
            "--sun-misc-unsafe-memory-access=allow", "-Xlog:disable", "-Xlog:all=error:stderr"};
    private static final String SOURCE = ".ci/WovenJars.java";

    /** A tool: what it is, the jars it needs beside, its main class and what it is to do; {@code OUT} is a folder for its files. */
    private record Tool(String artifact, String main, String[] arguments, String name, String program) {
    }

    private static final List<Tool> TOOLS = List.of(
            new Tool("org.jetbrains.kotlin:kotlin-compiler-embeddable:2.2.20", "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
                    new String[] {"-no-reflect", "-no-stdlib", "-cp", "LIB/kotlin-stdlib-2.2.20.jar", "-d", "OUT", "PROGRAM"}, "a.kt", """
                    sealed interface Shape
                    data class Circle(val r: Double) : Shape
                    data class Rect(val w: Double, val h: Double) : Shape
                    fun area(s: Shape) = when (s) { is Circle -> Math.PI * s.r * s.r; is Rect -> s.w * s.h }
                    inline fun <reified T> List<*>.only(): List<T> = filterIsInstance<T>()
                    fun primes(n: Int) = generateSequence(2) { it + 1 }.filter { p -> (2 until p).none { p % it == 0 } }.take(n).toList()
                    fun main() { println(listOf(Circle(1.0), Rect(2.0, 3.0)).only<Rect>().map { area(it) }); println(primes(20)) }
                    """),
            new Tool("org.apache.groovy:groovy:5.0.2", "groovy.ui.GroovyMain", new String[] {"PROGRAM"}, "a.groovy", """
                    def sieve(int n) { def c = (2..n).toList(); def p = []; while (c) { p << c[0]; c = c.findAll { it % p[-1] != 0 } }; p }
                    println sieve(20000).size()
                    println((1..200000).collect { it * it }.findAll { it % 7 == 3 }.sum())
                    def names = (1..300).collectMany { i -> (1..i).collect { "$i.$it" } }
                    println(names.groupBy { it.size() }.collectEntries { k, v -> [k, v.size()] })
                    """),
            new Tool("org.eclipse.jdt:ecj:3.43.0", "org.eclipse.jdt.internal.compiler.batch.Main",
                    new String[] {"-24", "-nowarn", "-proc:none", "-d", "OUT", "native-bindings/src/generated/java"}, "none", ""),
            new Tool("org.python:jython-standalone:2.7.4", "org.python.util.jython", new String[] {"PROGRAM"}, "a.py", """
                    import json, re
                    def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
                    print fib(24), sorted(set(re.findall('[a-z]+', json.dumps({'b': [1, 2], 'a': {'c': 'd'}}))))
                    print sum(i * i for i in xrange(1000000)) % 1000003
                    """),
            new Tool("org.jruby:jruby-complete:10.0.2.0", "org.jruby.Main", new String[] {"PROGRAM"}, "a.rb", """
                    require 'set'
                    def hanoi(n) = n.zero? ? 0 : 2 * hanoi(n - 1) + 1
                    puts hanoi(20), (1..400_000).lazy.select(&:even?).map { |x| x * 3 }.reject { |x| x % 5 == 0 }.first(50_000).sum
                    puts (1..2000).each_cons(3).map(&:sum).to_set.size, "abc".succ * 3, 30.downto(1).inject(:*)
                    """));

    private static Path folder;
    private static Path lib;

    public static void main(String[] args) throws Exception {
        switch (args.length == 0 ? "" : args[0]) {
            case "inside" -> inside(args);
            case "link" -> link(Path.of(args[1]), args);
            default -> {
                folder = args.length == 0 ? Files.createTempDirectory("woven") : Files.createDirectories(Path.of(args[0]));
                boolean same = true;
                for (Tool t : TOOLS) {
                    same &= check(t);
                }
                System.exit(same ? 0 : 1);
            }
        }
    }

    /** The tool's main, in a goroutine on one P; another wants a turn every millisecond. */
    private static void inside(String[] args) {
        Gmp.main(() -> {
            AtomicLong turns = new AtomicLong();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                Points.Counters c = Points.counters();
                System.err.println("turns " + turns + " linked " + c.linked() + " reached " + c.reached());
            }));
            Go.go(() -> {
                while (true) {
                    Go.sleep(Duration.ofMillis(1));
                    turns.incrementAndGet();
                }
            });
            try {
                Class.forName(args[1]).getMethod("main", String[].class).invoke(null,
                        (Object) List.of(args).subList(2, args.length).toArray(String[]::new));
            } catch (InvocationTargetException e) {
                throw new IllegalStateException(e.getCause());
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** Links every class of a jar, in a loader of its own, and prints what fails and how. */
    private static void link(Path jar, String[] args) throws IOException {
        List<URL> path = new ArrayList<>();
        for (int i = 1; i < args.length; i++) {
            path.add(Path.of(args[i]).toUri().toURL());
        }
        Map<String, String> failed = new TreeMap<>();
        int n = 0;
        try (JarFile file = new JarFile(jar.toFile()); URLClassLoader loader = new URLClassLoader(path.toArray(URL[]::new))) {
            for (Enumeration<JarEntry> all = file.entries(); all.hasMoreElements();) {
                String name = all.nextElement().getName();
                if (name.endsWith(".class") && !name.startsWith("META-INF/") && !name.endsWith("-info.class")) {
                    n++;
                    try {
                        Class.forName(name.substring(0, name.length() - 6).replace('/', '.'), false, loader).getDeclaredConstructors();
                    } catch (LinkageError | ClassNotFoundException | SecurityException e) {
                        // Which of several classes that are not there is missed first is not the same in every run.
                        failed.put(name, e instanceof NoClassDefFoundError ? "lacks a class" : String.valueOf(e).lines().findFirst().get());
                    }
                }
            }
        }
        System.out.println(n + " classes, of which do not link: " + failed.size());
        failed.forEach((name, why) -> System.out.println(name + " " + why));
    }

    private static boolean check(Tool t) throws Exception {
        String[] parts = t.artifact.split(":");
        lib = folder.resolve(parts[1]);
        Path jar = lib.resolve(parts[1] + "-" + parts[2] + ".jar");
        if (!Files.exists(jar)) {
            fetch(t, parts);
        }
        Path woven = folder.resolve(jar.getFileName().toString().replace(".jar", "-woven.jar"));
        Path twice = folder.resolve("twice.jar");
        long start = System.nanoTime();
        Weave.weave(jar.toString(), woven.toString(), null, System.out);
        System.out.println("woven in " + (System.nanoTime() - start) / 1_000_000 + " ms; bytes: " + Files.size(jar) + " -> "
                + Files.size(woven));
        Weave.weave(woven.toString(), twice.toString(), null, new java.io.PrintStream(java.io.OutputStream.nullOutputStream()));
        boolean same = same("weaving twice", Files.mismatch(woven, twice) == -1, "", "");
        String[] plainLink = run(jar, false, "link", jar.toString());
        String[] wovenLink = run(woven, false, "link", woven.toString());
        same &= same("every class links as before (" + plainLink[0].lines().findFirst().orElse("?") + ")",
                plainLink[0].equals(wovenLink[0]), plainLink[0], wovenLink[0]);
        String[] before = work(t, jar, "plain");
        String[] after = work(t, woven, "woven");
        same &= same("output, " + before[0].length() + " characters", before[0].equals(after[0]), before[0], after[0]);
        System.out.println("without points: " + before[1].strip().lines().reduce("", (a, b) -> b));
        System.out.println("with points:    " + after[1].strip().lines().reduce("", (a, b) -> b) + "\n");
        return same & same("points are reached", after[1].matches("(?s).* reached [1-9].*"), after[1], "");
    }

    private static boolean same(String what, boolean ok, String before, String after) {
        System.out.println((ok ? "the same: " : "DIFFERENT: ") + what);
        if (!ok) {
            System.out.println("--- before\n" + before + "\n--- after\n" + after);
        }
        return ok;
    }

    private static void fetch(Tool t, String[] parts) throws Exception {
        Path pom = Files.writeString(folder.resolve("pom.xml"), """
                <project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version>
                <dependencies><dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency></dependencies>
                </project>""".formatted((Object[]) parts));
        int exit = new ProcessBuilder("./mvnw", "-B", "-q", "-ntp", "-f", pom.toString(),
                "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:copy-dependencies", "-DoutputDirectory=" + lib.toAbsolutePath())
                .inheritIO().start().waitFor();
        if (exit != 0) {
            throw new IOException("cannot fetch " + t.artifact);
        }
    }

    /** What the tool prints, with the digests of the files that it writes; and what it says on stderr. */
    private static String[] work(Tool t, Path jar, String name) throws Exception {
        Path out = Files.createDirectories(folder.resolve(name + "-" + t.artifact.split(":")[1]));
        Path program = Files.writeString(folder.resolve(t.name), t.program);
        List<String> arguments = new ArrayList<>(List.of("inside", t.main));
        for (String a : t.arguments) {
            arguments.add(a.replace("LIB", lib.toString()).replace("OUT", out.toString()).replace("PROGRAM", program.toString()));
        }
        String[] result = run(jar, true, arguments.toArray(String[]::new));
        StringBuilder files = new StringBuilder(result[0]);
        try (Stream<Path> all = Files.walk(out)) {
            for (Path p : (Iterable<Path>) all.filter(Files::isRegularFile).sorted()::iterator) {
                files.append(out.relativize(p)).append(' ').append(digest(p)).append('\n');
            }
        }
        result[0] = files.toString();
        return result;
    }

    private static String digest(Path p) throws Exception {
        try (InputStream in = Files.newInputStream(p)) {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(in.readAllBytes()), 0, 8);
        }
    }

    private static String[] run(Path jar, boolean onPath, String... arguments) throws Exception {
        List<String> beside = new ArrayList<>();
        try (Stream<Path> all = Files.list(lib)) {
            all.filter(p -> !jar.getFileName().toString().startsWith(p.getFileName().toString().replace(".jar", ""))).sorted()
                    .forEach(p -> beside.add(p.toString()));
        }
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of(FLAGS));
        String ours = System.getProperty("java.class.path");
        String separator = File.pathSeparator;
        command.addAll(List.of("-cp", onPath ? jar + separator + String.join(separator, beside) + separator + ours : ours, SOURCE));
        command.addAll(List.of(arguments));
        if (!onPath) {
            command.addAll(beside);
        }
        Path out = Files.createTempFile("woven", ".out");
        Path err = Files.createTempFile("woven", ".err");
        ProcessBuilder b = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        b.environment().put("GMPMAXPROCS", "1");
        int exit = b.start().waitFor();
        String[] result = {Files.readString(out) + "exit " + exit + "\n", Files.readString(err)};
        Files.delete(out);
        Files.delete(err);
        return result;
    }
}
