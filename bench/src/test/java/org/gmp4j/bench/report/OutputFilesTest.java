// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

class OutputFilesTest {
    @TempDir
    private Path dir;

    private OutputFiles files;

    @BeforeEach
    void noFiles() {
        CommandSpec spec = CommandSpec.create();
        assertEquals(spec, new CommandLine(spec).getCommandSpec());
        files = new OutputFiles(spec);
    }

    /** A command that is interrupted leaves no empty file. */
    @Test
    void aNewFileIsThereWhenItIsWritten() throws IOException {
        Path link = Files.createSymbolicLink(dir.resolve("link"), dir.resolve("target"));
        files.add("--a", dir.resolve("new"));
        files.add("--b", link);
        files.add("--c", null);
        assertTrue(Files.notExists(dir.resolve("new")) && Files.notExists(link) && Files.isSymbolicLink(link));
        files.write(Map.of("--a", () -> "a", "--b", () -> "b", "--c", () -> "c"));
        assertEquals("a", Files.readString(dir.resolve("new")));
        assertEquals("b", Files.readString(dir.resolve("target")));
    }

    @Test
    void twoNamesOfOneFile() throws IOException {
        files.add("--a", Files.writeString(dir.resolve("a"), "old"));
        files.add("--b", dir.resolve("b"));
        files.add("--c", Path.of("/dev/null"));
        files.add("--d", Path.of("/dev/null"));
        same("--a", Files.createLink(dir.resolve("hard"), dir.resolve("a")));
        same("--b", Files.createSymbolicLink(dir.resolve("soft"), dir.resolve("b")));
        same("--b", Files.createDirectory(dir.resolve("folder")).resolve("../b"));
        assertEquals("old", Files.readString(dir.resolve("a")));
    }

    private void same(String other, Path path) {
        Exception e = assertThrows(ParameterException.class, () -> files.add("--x", path));
        assertEquals(other + " and --x name the same file", e.getMessage());
    }

    /** A full disk takes the other results with it only where they go there too. */
    @Test
    void oneThatFails() throws IOException {
        Path after = Files.writeString(dir.resolve("after"), "old, and longer");
        files.add("--a", Path.of("/dev/full"));
        files.add("--b", after);
        Exception e = assertThrows(IOException.class, () -> files.write(Map.of("--a", () -> "a", "--b", () -> "b")));
        assertEquals("cannot write to /dev/full: No space left on device", e.getMessage());
        assertEquals("b", Files.readString(after));
    }
}
