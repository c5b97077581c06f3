// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/** What the javadoc and GO-API.md have to say: of every class, and of every name of Go's. */
class ApiPagesTest {
    private static final Path SOURCES = Path.of("src/main/java/org/gmp4j");
    private static final List<String> PACKAGES = List.of("", "sync", "context", "time", "net", "synctest");
    private static final Pattern PUBLIC =
            Pattern.compile("^public (?:\\w+ |non-sealed )*(?:class|interface|record|enum) (\\w+)", Pattern.MULTILINE);

    /** Go 1.27: what these packages export, types with their methods, but for methods of {@code time.Time} and its like. */
    private static final Map<String, String> GO = Map.of(
            "Go: `sync`",
            "Mutex Lock Unlock TryLock RWMutex RLock RUnlock TryRLock RLocker Locker WaitGroup Add Done Wait Go Once Do OnceFunc "
                    + "OnceValue OnceValues NewCond Cond L Signal Broadcast Pool New Get Put Map Load Store LoadOrStore LoadAndDelete "
                    + "Delete Swap "
                    + "CompareAndSwap CompareAndDelete Range Clear",
            "Go: `time`",
            "Sleep NewTimer Timer C Stop Reset AfterFunc After Tick NewTicker Ticker Now Since Until Time Duration Date Unix UnixMilli "
                    + "UnixMicro Month Weekday Location Local UTC FixedZone LoadLocation LoadLocationFromTZData Layout Parse "
                    + "ParseInLocation ParseDuration ParseError",
            "Go: `context`",
            "Background TODO WithCancel WithCancelCause CancelFunc CancelCauseFunc WithTimeout WithDeadline WithTimeoutCause "
                    + "WithDeadlineCause WithValue Value WithoutCancel AfterFunc Done Err Cause Deadline Canceled DeadlineExceeded",
            "Go: `golang.org/x/sync`",
            "errgroup Group Go TryGo Wait SetLimit WithContext semaphore NewWeighted Weighted Acquire TryAcquire Release "
                    + "singleflight Do DoChan Forget Result Val Err Shared PanicError PanicValue",
            "Go: channels, select", "make chan close len cap range select case default",
            "Go: `testing/synctest`", "Test Wait Sleep");

    /** In our column beside names: variables, Java's words, and its own types. */
    private static final Set<String> OTHER = Set.of("f", "c", "n", "v", "T", "Context", "Error", "d", "ctx", "then", "try", "finally",
            "for", "null", "Ticker", "t",
            "sync", "time", "context", "synctest", "java", "util");

    @Test
    void everyClassSaysWhoMayCallItAndWhatEndsItsWaits() throws IOException {
        List<String> silent = new ArrayList<>();
        int classes = 0;
        for (String p : PACKAGES) {
            Path dir = SOURCES.resolve(p);
            Path info = dir.resolve("package-info.java");
            String ofAll = p.equals("net") ? Files.readString(info) : ""; // What all of its waits have in common.
            for (Path file : sources(dir)) {
                String s = Files.readString(file);
                Matcher m = PUBLIC.matcher(s);
                if (m.find()) {
                    classes++;
                    String doc = (s.substring(s.lastIndexOf("/**", m.start()), m.start()) + ofAll).toLowerCase(Locale.ROOT);
                    for (String word : List.of("thread", "interrupt", "bubble")) {
                        if (!doc.contains(word)) {
                            silent.add(m.group(1) + " says nothing of " + word + "s");
                        }
                    }
                }
            }
        }
        assertEquals(List.of(), silent);
        assertTrue(classes > 40, classes + " classes");
    }

    private static List<Path> sources(Path dir) throws IOException {
        try (Stream<Path> all = Files.list(dir)) {
            return all.filter(f -> f.toString().endsWith(".java")).sorted().toList();
        }
    }

    /** By the heading of a table its rows, a list of columns each. */
    private static Map<String, List<String[]>> tables() throws IOException {
        Map<String, List<String[]>> tables = new TreeMap<>();
        List<String[]> rows = null;
        for (String line : Files.readAllLines(Path.of("GO-API.md"))) {
            String[] columns = line.split(" *\\| *", -1);
            if (!line.startsWith("|")) {
                rows = null;
            } else if (rows == null) {
                rows = new ArrayList<>();
                tables.put(columns[1], rows);
            } else if (!columns[1].startsWith("---")) {
                assertEquals(5, columns.length, line);
                rows.add(columns);
            }
        }
        return tables;
    }

    @Test
    void everyNameOfGoStandsInATable() throws IOException {
        Map<String, List<String[]>> tables = tables();
        List<String> missing = new ArrayList<>();
        GO.forEach((table, names) -> {
            Set<String> words = new HashSet<>();
            for (String[] row : tables.getOrDefault(table, List.of())) {
                words.addAll(words(row[1]));
            }
            for (String name : names.split(" ")) {
                if (!words.contains(name)) {
                    missing.add(table + " " + name);
                }
            }
        });
        assertEquals(List.of(), missing);
    }

    @Test
    void everyNameOfOursExists() throws Exception {
        Set<String> known = new HashSet<>();
        for (String p : PACKAGES) {
            for (Path file : sources(SOURCES.resolve(p))) {
                String name = file.getFileName().toString().replace(".java", "");
                if (!name.equals("package-info")) {
                    addAll(known, Class.forName("org.gmp4j." + (p.isEmpty() ? "" : p + ".") + name, false,
                            ApiPagesTest.class.getClassLoader()));
                }
            }
        }
        List<String> unknown = new ArrayList<>();
        int names = 0;
        for (List<String[]> rows : tables().values()) {
            for (String[] row : rows) {
                assertTrue(!row[2].isBlank() && !row[3].isBlank(), () -> "an empty place: " + String.join("|", row));
                for (String word : words(row[2])) {
                    names++;
                    if (!known.contains(word) && !OTHER.contains(word)) {
                        unknown.add(word + ": " + row[2]);
                    }
                }
            }
        }
        assertEquals(List.of(), unknown);
        assertTrue(names > 100, names + " names");
    }

    private static void addAll(Set<String> known, Class<?> c) {
        if (Modifier.isPublic(c.getModifiers())) {
            known.add(c.getSimpleName());
            Stream.of(c.getMethods()).map(Method::getName).forEach(known::add);
            Stream.of(c.getFields()).map(Field::getName).forEach(known::add);
            Stream.of(c.getDeclaredClasses()).forEach(nested -> addAll(known, nested));
        }
    }

    /** The words in what is set as code. */
    private static Set<String> words(String column) {
        Set<String> words = new HashSet<>();
        Matcher code = Pattern.compile("`([^`]*)`").matcher(column);
        while (code.find()) {
            Matcher word = Pattern.compile("[A-Za-z_]\\w*").matcher(code.group(1));
            while (word.find()) {
                words.add(word.group());
            }
        }
        return words;
    }
}
