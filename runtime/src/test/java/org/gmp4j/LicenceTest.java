// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

/** Every file that people wrote says its licence. */
class LicenceTest {
    private static final Path ROOT = Path.of("..");
    private static final Set<String> NOT_OURS = Set.of("target", "generated", ".git", ".mvn", ".idea", "node_modules");
    private static final Set<String> KINDS = Set.of(
            "java", "c", "h", "sh", "xml", "css", "properties", "go", "mod", "kt", "py", "rs", "js", "html", "jfc", "machine");

    @Test
    void everySourceFileNamesIt() throws IOException {
        List<Path> sources = new ArrayList<>(List.of(ROOT.resolve("gmp")));
        try (Stream<Path> checks = Files.list(ROOT.resolve(".ci"))) {
            checks.forEach(sources::add);
        }
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) {
                return NOT_OURS.contains(dir.getFileName().toString()) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                String name = file.getFileName().toString();
                if (KINDS.contains(name.substring(name.lastIndexOf('.') + 1))) {
                    sources.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        List<Path> without = new ArrayList<>();
        for (Path file : sources) {
            try (Stream<String> lines = Files.lines(file, StandardCharsets.UTF_8)) {
                if (lines.limit(3).noneMatch(line -> line.contains("SPDX-License-Identifier: Apache-2.0"))) {
                    without.add(file);
                }
            }
        }
        assertEquals(List.of(), without);
        assertTrue(sources.size() > 500, "found " + sources.size());
    }

    /** Jars have the licence inside: what is on the class path is what they are made of. */
    @Test
    void jarsHaveTheText() throws IOException {
        try (var text = Gmp.class.getResourceAsStream("/META-INF/LICENSE")) {
            assertEquals(Files.readString(ROOT.resolve("LICENSE")), new String(text.readAllBytes(), StandardCharsets.UTF_8));
        }
    }
}
