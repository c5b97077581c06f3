// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

import org.gmp4j.Gmp;
import org.gmp4j.bench.ChildJava;
import org.gmp4j.bench.library.app.SpringService;
import org.junit.jupiter.api.Assumptions;

/** What starts a program that was not written for goroutines, with the agent's option {@code default} and without. */
final class OneFlag {
    /** Instead of the flag: nothing of ours runs then, and so the JVM may save on compiling. */
    static final List<String> WITHOUT = List.of("-XX:TieredStopAtLevel=1");

    final Path agent;
    final Path folder;

    /** Puts the agent's jar there, alone and under a name of its own. */
    OneFlag(Path folder) throws Exception {
        Path runtime = ChildJava.place(Gmp.class);
        Assumptions.assumeTrue(runtime.toString().endsWith(".jar"), "the runtime is a jar in mvn verify only");
        this.folder = folder;
        agent = Files.copy(Path.of(runtime.toString().replaceFirst("\\.jar$", "-agent.jar")), folder.resolve("one.jar"));
    }

    /** The one flag; {@code debug} as in GMPDEBUG. */
    List<String> flags(String debug) {
        return List.of("-javaagent:" + agent + "=default,debug=" + debug);
    }

    /** The jars of the test's class path that are of these folders of a Maven repository. */
    static List<Path> libraries(String... groups) {
        return Stream.of(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                        .split(File.pathSeparator))
                .filter(p -> Stream.of(groups).anyMatch(g -> p.contains("/repository/" + g + "/")))
                .map(Path::of)
                .toList();
    }

    /** The programs alone, as a jar: their classes, and what Micronaut's processor wrote beside them. */
    Path classes(String name) throws IOException {
        Path jar = folder.resolve(name);
        Path root = ChildJava.place(SpringService.class);
        try (OutputStream file = Files.newOutputStream(jar); JarOutputStream out = new JarOutputStream(file)) {
            for (String below : List.of("org/gmp4j/bench/library/app", "META-INF/micronaut")) {
                try (Stream<Path> all = Files.walk(root.resolve(below))) {
                    for (Path p : (Iterable<Path>) all::iterator) {
                        if (Files.isDirectory(p)) { // Micronaut lists a folder of the jar.
                            out.putNextEntry(new JarEntry(root.relativize(p) + "/"));
                        } else {
                            out.putNextEntry(new JarEntry(root.relativize(p).toString()));
                            Files.copy(p, out);
                        }
                    }
                }
            }
        }
        return jar;
    }

    /** What starts a main class with the programs' classes and these libraries. */
    List<String> program(Class<?> main, String... groups) throws IOException {
        List<String> path = new ArrayList<>(List.of(classes(main.getSimpleName() + ".jar").toString()));
        libraries(groups).forEach(p -> path.add(p.toString()));
        return List.of("-cp", String.join(File.pathSeparator, path), main.getName());
    }

    /** Java itself, with what it is to be given. */
    static List<String> java(List<String> flags, List<String> program) {
        List<String> command = new ArrayList<>(List.of(ChildJava.JAVA,
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(flags);
        command.addAll(program);
        return command;
    }
}
