// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The list of mutants, which takes an hour to run, still fits the sources: {@code .ci/mutants.txt} says what an entry is. */
class MutantListTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @Test
    void eachTextStandsInItsSourceOnceAndEachTestIsThere() throws Exception {
        String out = check(ROOT, 0);
        int entries = Integer.parseInt(out.strip().replaceAll("(?s).*?(\\d+) mutants$", "$1"));
        assertTrue(entries > 190, out);
        List<String> missing = new ArrayList<>();
        for (String line : Files.readAllLines(ROOT.resolve(".ci/mutants.txt"))) {
            if (line.startsWith("test ") && !exists(line.substring(5))) {
                missing.add(line);
            }
        }
        assertEquals(List.of(), missing);
    }

    @Test
    void commentsAndWhiteSpaceDoNotCount(@TempDir Path folder) throws Exception {
        Path source = folder.resolve("A.java");
        Files.createDirectories(folder.resolve(".ci"));
        Files.writeString(folder.resolve(".ci/mutants.txt"), """
                == one
                file A.java
                -        lock(); // As it was.
                -        say("a  // b");
                +        say("a");
                """);
        Files.writeString(source, "void f() {\n  lock( /* why */ );\n  // another\n\n  say(\"a  // b\"); }");
        assertEquals("1 mutants\n", check(folder, 0));
        Files.writeString(source, "lock(); say(\"a // b\");");
        assertTrue(check(folder, 1).startsWith("one: its text does not stand once in A.java"), "a literal keeps its spaces");
        Files.writeString(source, "lock(); say(\"a  // b\"); lock(); say(\"a  // b\");");
        assertTrue(check(folder, 1).startsWith("one: "), "twice");
        Files.writeString(source, "// lock(); say(\"a  // b\");");
        assertTrue(check(folder, 1).startsWith("one: "), "in a comment");
    }

    /** What the tool says of the list in a folder. */
    private static String check(Path folder, int exit) throws Exception {
        Process p = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                ROOT.resolve(".ci/Mutants.java").toString(), "--check").directory(folder.toFile()).redirectErrorStream(true).start();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(exit, p.waitFor(), out);
        return out;
    }

    private static boolean exists(String test) {
        String[] classAndMethod = test.split("#");
        try {
            Class<?> c = Class.forName(classAndMethod[0], false, MutantListTest.class.getClassLoader());
            return Stream.<Class<?>>iterate(c, Objects::nonNull, Class::getSuperclass)
                    .flatMap(d -> Arrays.stream(d.getDeclaredMethods()))
                    .anyMatch(m -> m.getName().equals(classAndMethod[1]));
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
