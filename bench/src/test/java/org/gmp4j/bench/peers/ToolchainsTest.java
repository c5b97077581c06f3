// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ToolchainsTest {
    @Test
    void withoutGoItSaysWhatToInstall() {
        missing(Map.of());
        missing(Map.of("PATH", "/no/such/dir", "GOROOT", "/nor/this", "GMP_GO", "/nor/that"));
    }

    @Test
    void anOldGoIsNone(@TempDir Path dir) throws Exception {
        Path go = Files.writeString(dir.resolve("go"), "#!/bin/sh\necho go version go1.19.8 linux/amd64\n");
        Files.setPosixFilePermissions(go, PosixFilePermissions.fromString("rwx------"));
        missing(Map.of("GMP_GO", go.toString()));
        missing(Map.of("PATH", dir.toString()));
    }

    /** A folder of that name, which is executable too; a script for which the kernel finds no interpreter. */
    @Test
    void whatCannotBeRunIsNone(@TempDir Path dir) throws Exception {
        Files.createDirectory(dir.resolve("go"));
        Path script = Files.writeString(dir.resolve("script"), "#!/no/such/shell\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
        missing(Map.of("GMP_GO", script.toString(), "PATH", dir.toString()));
    }

    private static void missing(Map<String, String> environment) {
        Exception e = assertThrows(Toolchains.MissingException.class, () -> new Toolchains(environment).go());
        assertTrue(e.getMessage().contains("GMP_GO") && e.getMessage().contains("1.25"), e.getMessage());
    }
}
