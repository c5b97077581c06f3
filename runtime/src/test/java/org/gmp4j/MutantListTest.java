// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/** The list of mutants, which takes an hour to run, still fits the sources: {@code .ci/mutants.txt} says what an entry is. */
class MutantListTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @Test
    void eachTextStandsInItsSourceOnceAndEachTestIsThere() throws IOException {
        String name = "";
        String source = "";
        StringBuilder text = new StringBuilder();
        List<String> wrong = new ArrayList<>();
        int entries = 0;
        List<String> lines = new ArrayList<>(Files.readAllLines(ROOT.resolve(".ci/mutants.txt")));
        lines.add("");
        for (String line : lines) {
            if (line.startsWith("-")) {
                text.append(text.isEmpty() ? "" : "\n").append(line, 1, line.length());
                continue;
            }
            if (!text.isEmpty()) {
                int times = source.split(Pattern.quote(text.toString()), -1).length - 1;
                if (times != 1) {
                    wrong.add(name + ": its text stands there " + times + " times:\n" + text + "\n");
                }
                text.setLength(0);
            }
            if (line.startsWith("== ")) {
                name = line.substring(3);
                entries++;
            } else if (line.startsWith("file ")) {
                source = Files.readString(ROOT.resolve(line.substring(5)));
            } else if (line.startsWith("test ") && !exists(line.substring(5))) {
                wrong.add(name + ": there is no " + line);
            }
        }
        assertEquals(List.of(), wrong);
        assertTrue(entries > 190, "entries: " + entries);
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
