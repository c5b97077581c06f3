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
        Files.createDirectories(folder.resolve(".ci"));
        StringBuilder list = new StringBuilder();
        for (String file : List.of("As", "Spaces", "Twice", "Comment")) {
            list.append("""
                    == %1$s
                    file %1$s.java
                    -        lock(); // As it was.
                    -        say("a  // b");
                    +        say("a");

                    """.formatted(file));
        }
        Files.writeString(folder.resolve(".ci/mutants.txt"), list);
        String text = "void f() {\n  lock( /* why */ );\n  // another\n\n  say(\"a  // b\"); }";
        Files.writeString(folder.resolve("As.java"), text);
        Files.writeString(folder.resolve("Spaces.java"), text.replace("a  //", "a //")); // A literal keeps its spaces.
        Files.writeString(folder.resolve("Twice.java"), text + text);
        Files.writeString(folder.resolve("Comment.java"), "// lock(); say(\"a  // b\");");
        assertEquals("""
                Spaces: its text does not stand once in Spaces.java
                Twice: its text does not stand once in Twice.java
                Comment: its text does not stand once in Comment.java
                4 mutants
                """, check(folder, 1));
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
