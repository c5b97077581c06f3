// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/** The pages name classes that exist. */
class PageNamesTest {
    private static final List<Path> ROOTS = Stream.of("src/main", "src/test", "../native-bindings/src/main", "../bench/src/main")
            .map(root -> Path.of(root, "java/org/gmp4j")).toList();

    /** {@code sched.base/Gate}, also with a member behind it, but no file: {@code resp/Resp.java}. */
    private static final Pattern IN_A_ROOM = Pattern.compile("`([a-z][a-z./]*)/([A-Z]\\w*[a-z]\\w*)(?!\\.java)(?:[.#]\\w+)?`");

    private static final Pattern QUALIFIED = Pattern.compile("`([a-z]+(?:\\.[a-z]+)*)\\.([A-Z]\\w*)");

    private static boolean exists(String room, String name) {
        return ROOTS.stream().anyMatch(root -> Files.exists(root.resolve(room.replace('.', '/')).resolve(name + ".java")));
    }

    @Test
    void classesInRooms() throws IOException {
        List<String> missing = new ArrayList<>();
        int found = 0;
        for (Path folder : List.of(Path.of(""), Path.of("../bench"))) {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path page : (Iterable<Path>) files.filter(f -> f.toString().endsWith(".md"))::iterator) {
                    Matcher name = IN_A_ROOM.matcher(Files.readString(page));
                    while (name.find()) {
                        if (exists(name.group(1), name.group(2))) {
                            found++;
                        } else if (!name.group(1).matches("(java|serviceability)/.*")) { // OpenJDK's tests
                            missing.add(page + ": " + name.group());
                        }
                    }
                }
            }
        }
        assertEquals(List.of(), missing);
        assertTrue(found > 100, found + " names");
    }

    /** The second column of the index has our classes, the first has Go's names. */
    @Test
    void classesOfTheIndex() throws IOException {
        List<String> missing = new ArrayList<>();
        int found = 0;
        for (String line : Files.readAllLines(Path.of("GO-INDEX.md"))) {
            Matcher name = QUALIFIED.matcher(line.startsWith("| ") ? line.substring(line.indexOf('|', 1)) : "");
            while (name.find()) {
                if (exists(name.group(1), name.group(2))) {
                    found++;
                } else if (!name.group(1).startsWith("java")) {
                    missing.add(name.group());
                }
            }
        }
        assertEquals(List.of(), missing);
        assertTrue(found > 100, found + " names");
    }
}
