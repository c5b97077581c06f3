// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code c-shims/build.sh} where there is no compiler: it takes the libraries of a released jar. */
class BuildScriptTest {
    private static final byte[] LIBRARY = {1, 2, 3};
    private static final byte[] OTHER = {4, 5};

    @TempDir
    Path dir;

    private Path jar(String name, Map<String, byte[]> entries) throws IOException {
        Path file = dir.resolve(name);
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(file))) {
            for (Map.Entry<String, byte[]> e : entries.entrySet()) {
                out.putNextEntry(new ZipEntry(e.getKey()));
                out.write(e.getValue());
            }
        }
        return file;
    }

    /** Builds with compilers that fail. */
    private Cc.Result build(String jar, Path out) throws IOException, InterruptedException {
        Path bin = Files.createDirectories(dir.resolve("bin"));
        for (String compiler : List.of("cc", "gcc", "clang", "aarch64-linux-gnu-gcc")) {
            Path file = Files.writeString(bin.resolve(compiler), "#!/bin/sh\necho compiled >&2\nexit 9\n");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        return Cc.run(List.of("env", "-u", "CC", "PATH=" + bin + ":" + System.getenv("PATH"),
                "JAVA_HOME=" + System.getProperty("java.home"), "GMP_NATIVE_JAR=" + jar, "bash",
                Cc.INCLUDE.resolve("../build.sh").normalize().toString(), out.toString()));
    }

    @Test
    void theLibrariesOfAJar() throws Exception {
        Path jar = jar("bindings.jar", Map.of("native/linux-x86_64/libgmp4j.so", LIBRARY, "native/linux-aarch64/libgmp4j.so", OTHER,
                "org/gmp4j/A.class", OTHER));
        Path out = dir.resolve("target/native");
        Cc.Result r = build(jar.toString(), out);
        assertEquals(new Cc.Result(0, "took the libraries of " + jar + "\n"), r);
        assertArrayEquals(LIBRARY, Files.readAllBytes(out.resolve("linux-x86_64/libgmp4j.so")));
        assertArrayEquals(OTHER, Files.readAllBytes(out.resolve("linux-aarch64/libgmp4j.so")));
        try (Stream<Path> left = Files.list(out.getParent())) {
            assertEquals(List.of(out), left.toList());
        }
        Path other = jar("x86.jar", Map.of("native/linux-x86_64/libgmp4j.so", LIBRARY));
        assertEquals(new Cc.Result(0, "took the libraries of " + other + "\n"), build(other.toString(), out));
        assertFalse(Files.exists(out.resolve("linux-aarch64/libgmp4j.so")), "it is of another jar");
        assertTrue(build("", out).out().startsWith("compiled\n"), "without the variable it compiles");
    }

    /** The jar's path is seen from where Maven was started, not from the folder of the module. */
    @Test
    void aRelativePath() throws IOException {
        String pom = Files.readString(Cc.INCLUDE.resolve("../../native-bindings/pom.xml").normalize());
        int script = pom.indexOf("c-shims/build.sh</argument>");
        assertTrue(pom.substring(pom.lastIndexOf("<configuration>", script), script)
                .contains("<workingDirectory>${user.dir}</workingDirectory>"), pom);
    }

    @Test
    void whatIsNoSuchJar() throws Exception {
        Path out = dir.resolve("native");
        Path empty = jar("empty.jar", Map.of("native/README", OTHER));
        assertEquals(new Cc.Result(2, "build.sh: " + empty + " has no library of gmp4j; use a jar of gmp4j-native-bindings.\n"),
                build(empty.toString(), out));
        assertEquals(new Cc.Result(2, "build.sh: GMP_NATIVE_JAR is /nowhere.jar, and there is no such file.\n"),
                build("/nowhere.jar", out));
        Path text = Files.writeString(dir.resolve("text"), "no jar");
        Cc.Result r = build(text.toString(), out);
        assertEquals(2, r.exit(), r.out());
        assertTrue(r.out().endsWith("build.sh: cannot read " + text + ".\n"), r.out());
    }
}
