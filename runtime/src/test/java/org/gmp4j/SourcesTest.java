// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/** All sources of Java look alike, and are short. */
class SourcesTest {
    private static final int MOST_LINES = 600; // Some 500 are the aim.

    /** All folders of Java that people write. */
    private static final List<String> JAVA = List.of("src/main/java", "../native-bindings/src/main/java", "src/test/java",
            "../native-bindings/src/test/java", "../bench/src", "../bench/examples", "../.ci");

    /** No line of Java is longer than {@code .editorconfig} says, and no source is longer than a reader can hold in mind. */
    @Test
    void sourcesAreShort() throws IOException {
        Matcher width = Pattern.compile("max_line_length = (\\d+)").matcher(Files.readString(Path.of("../.editorconfig")));
        assertTrue(width.find());
        int most = Integer.parseInt(width.group(1));
        List<String> tooLong = new ArrayList<>();
        int files = 0;
        for (String root : JAVA) {
            boolean main = root.endsWith("main/java");
            try (Stream<Path> all = Files.walk(Path.of(root))) {
                for (Path p : (Iterable<Path>) all.filter(p -> p.toString().endsWith(".java"))::iterator) {
                    files++;
                    List<String> lines = Files.readAllLines(p);
                    if (main && lines.size() > MOST_LINES) {
                        tooLong.add(p + " has " + lines.size() + " lines");
                    }
                    for (int i = 0; i < lines.size(); i++) {
                        if (lines.get(i).codePointCount(0, lines.get(i).length()) > most) {
                            tooLong.add(p + ":" + (i + 1));
                        }
                    }
                }
            }
        }
        assertEquals(List.of(), tooLong);
        assertTrue(files > 800, "only " + files);
    }

    /** A javadoc comment of the runtime begins with a noun or a verb of its own, not with a reference to another comment. */
    @Test
    void commentsStandAlone() throws IOException {
        Pattern headless = Pattern.compile("/\\*\\*[\\s*]+(?:The same\\b|As \\{@|Of |By |Under |What |Whoever |Those |Nobody )");
        List<String> found = new ArrayList<>();
        int files = 0;
        try (Stream<Path> all = Files.walk(Path.of("src/main/java"))) {
            for (Path p : (Iterable<Path>) all.filter(p -> p.toString().endsWith(".java"))::iterator) {
                files++;
                String source = Files.readString(p);
                for (Matcher m = headless.matcher(source); m.find();) {
                    found.add(p + ":" + source.substring(0, m.end()).lines().count() + ": " + m.group().replaceFirst("^/[\\s*]+", ""));
                }
            }
        }
        assertEquals(List.of(), found);
        assertTrue(files > 300, "only " + files);
    }

    /** Imports of static members, of the JDK's API and of all else are three groups, each sorted; and braces hold a line break. */
    @Test
    void sourcesLookAlike() throws IOException {
        List<String> otherwise = new ArrayList<>();
        int files = 0;
        for (String root : JAVA) {
            try (Stream<Path> all = Files.walk(Path.of(root))) {
                for (Path p : (Iterable<Path>) all.filter(p -> p.toString().endsWith(".java"))::iterator) {
                    files++;
                    String source = Files.readString(p);
                    if (!imports(source).equals(sorted(imports(source)))) {
                        otherwise.add(p + ": the order of imports");
                    }
                    if (source.contains(") {}\n")) {
                        otherwise.add(p + ": {} at the end of a line");
                    }
                }
            }
        }
        assertEquals(List.of(), otherwise);
        assertTrue(files > 800, "only " + files);
    }

    /** From the first import to the last. */
    private static List<String> imports(String source) {
        List<String> lines = source.lines().takeWhile(l -> l.isBlank() || l.startsWith("import ") || l.startsWith("package ")
                || l.startsWith("/") || l.startsWith(" *")).dropWhile(l -> !l.startsWith("import ")).toList();
        int end = lines.size();
        while (end > 0 && !lines.get(end - 1).startsWith("import ")) {
            end--;
        }
        return lines.subList(0, end);
    }

    private static List<String> sorted(List<String> imports) {
        List<String> sorted = new ArrayList<>();
        for (String group : List.of("import static .*", "import javax?\\..*", "import (?!static |javax?\\.).*")) {
            List<String> of = imports.stream().filter(l -> l.matches(group)).sorted(Comparator.comparing(l -> l.replace(";", ""))).toList();
            if (!of.isEmpty()) {
                sorted.addAll(sorted.isEmpty() ? List.of() : List.of(""));
                sorted.addAll(of);
            }
        }
        return sorted;
    }
}
