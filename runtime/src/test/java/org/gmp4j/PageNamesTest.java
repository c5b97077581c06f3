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

/** The pages name classes that exist, and have short lines. */
class PageNamesTest {
    private static final int WIDTH = 140; // As for Java.

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

    /** No line is longer than a line of Java, but for rows of tables, code, pictures, and single words such as links. */
    @Test
    void linesAreShort() throws IOException {
        List<String> tooLong = new ArrayList<>();
        int lines = 0;
        List<Path> pages = new ArrayList<>(List.of(Path.of("../README.md")));
        for (String folder : List.of("", "doc/log", "../bench")) {
            try (Stream<Path> files = Files.list(Path.of(folder))) {
                files.filter(f -> f.toString().endsWith(".md")).forEach(pages::add);
            }
        }
        for (Path page : pages) {
            boolean code = false;
            int number = 0;
            for (String line : Files.readAllLines(page)) {
                number++;
                code ^= line.startsWith("```");
                boolean prose = !code && !line.startsWith("|") && !line.startsWith("![") && line.strip().contains(" ");
                if (prose && line.codePointCount(0, line.length()) > WIDTH) {
                    tooLong.add(page + ":" + number);
                }
                lines++;
            }
        }
        assertEquals(List.of(), tooLong);
        assertTrue(lines > 2_000, lines + " lines");
    }
}
