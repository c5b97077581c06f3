// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;

import org.gmp4j.ffi.gmp.gmp_h;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShimsTest {
    @TempDir
    Path dir;

    /** What the tests below start in a JVM of its own. */
    static final class Main {
        private Main() {
        }

        public static void main(String[] args) {
            // Twice: a failure must not turn into a NoClassDefFoundError.
            for (int i = 0; i < 2; i++) {
                try {
                    Shims.load();
                    System.out.println("loaded " + Futex.wake(Memory.map(4096), 1));
                } catch (IllegalStateException e) {
                    System.out.println(e.getMessage());
                }
            }
        }
    }

    private static List<String> start(String... options) throws Exception {
        return lines(List.of(), options);
    }

    /** Behind a shell command in a namespace of mounts. */
    private static List<String> startIn(String mounts, String... options) throws Exception {
        return lines(List.of("unshare", "--mount", "sh", "-c", mounts + " && exec \"$@\"", "sh"), options);
    }

    private static List<String> lines(List<String> before, String... options) throws Exception {
        List<String> command = new ArrayList<>(before);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))));
        command.addAll(Arrays.asList(options));
        command.add(Main.class.getName());
        Cc.Result r = Cc.run(command);
        assertEquals(0, r.exit(), r.out());
        List<String> lines = r.out()
                .lines()
                .filter(line -> !line.startsWith("WARNING"))
                .map(line -> line.replaceAll("gmp4j-[0-9]+", "gmp4j-N"))
                .toList();
        assertEquals(2, lines.size(), r.out());
        assertEquals(lines.get(0), lines.get(1));
        return lines;
    }

    @Test
    void theLibraryOfTheJarLeavesNoFileBehind() throws Exception {
        assertEquals("loaded 0", start("-Djava.io.tmpdir=" + dir).getFirst());
        try (var files = Files.list(dir)) {
            assertEquals(List.of(), files.toList());
        }
    }

    /** As {@code File.toURL} makes them; with a host; and of classes that come from inside of the jar. */
    @Test
    @SuppressWarnings("deprecation") // The URLs are those of the deprecated ways.
    void whereOnlyTheClassLoaderReadsTheJar() throws Exception {
        Path jar = dir.resolve("a jar.jar");
        String resource = Shims.resource(System.getProperty("os.name"), System.getProperty("os.arch"));
        jar(jar, resource, "");
        loadBy(new URL("file:" + jar));
        loadBy(new URL("file://localhost" + jar.toUri().getRawPath()));
        jar(jar, resource, "inner/");
        loadBy(jar.toUri().toURL());
    }

    private void jar(Path jar, String resource, String folder) throws Exception {
        Path classes = Path.of(Shims.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (var out = new JarOutputStream(Files.newOutputStream(jar)); var all = Files.walk(classes.resolve("org"))) {
            for (Path file : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
                entry(out, classes.relativize(file).toString(), Files.readAllBytes(file));
            }
            try (var in = Shims.class.getResourceAsStream(resource)) {
                entry(out, folder + resource.substring(1), in.readAllBytes());
            }
        }
    }

    private static void entry(JarOutputStream out, String name, byte[] content) throws Exception {
        out.putNextEntry(new ZipEntry(name));
        out.write(content);
    }

    /** Has a copy of the class, whose loader knows the resources of an inner folder too, load the library. */
    private static void loadBy(URL url) throws Exception {
        try (var loader = new URLClassLoader(new URL[] {url}, ClassLoader.getPlatformClassLoader()) {
            @Override
            public URL getResource(String name) {
                URL found = super.getResource(name);
                return found != null ? found : super.getResource("inner/" + name);
            }
        }) {
            Class<?> copy = loader.loadClass(Shims.class.getName());
            copy.getMethod("load").invoke(null);
        }
    }

    @Test
    void aLibraryByPath() throws Exception {
        Path copy = dir.resolve("copy.so");
        try (var in = Shims.class.getResourceAsStream(
                Shims.resource(System.getProperty("os.name"), System.getProperty("os.arch")))) {
            Files.copy(in, copy);
        }
        assertEquals("loaded 0", start("-Dgmp.shims=" + copy).getFirst());
    }

    @Test
    void anotherAbiVersion() throws Exception {
        Path library = Cc.library(dir, "int gmp_abi_version(void) { return 999; }\n");
        assertEquals(
                "gmp4j needs a libgmp4j.so with ABI version " + gmp_h.GMP_ABI_VERSION + ", but " + library
                        + " has version 999: rebuild both from the same sources.",
                start("-Dgmp.shims=" + library).getFirst());
    }

    @Test
    void noSuchLibrary() throws Exception {
        String line = start("-Dgmp.shims=" + dir.resolve("none.so")).getFirst();
        assertTrue(line.startsWith("gmp4j could not load -Dgmp.shims=" + dir.resolve("none.so") + ": "), line);
    }

    @Test
    void aLibraryThatIsNotOurs() throws Exception {
        Path library = Cc.library(dir, "int something_else(void) { return 0; }\n");
        assertEquals(
                "gmp4j could not load -Dgmp.shims=" + library + ": it has no function gmp_abi_version.",
                start("-Dgmp.shims=" + library).getFirst());
    }

    @Test
    void noPlaceForTheCopy() throws Exception {
        Path none = dir.resolve("none");
        assertEquals("loaded 0", start("-Djava.io.tmpdir=" + none).getFirst()); // In the next folder.
    }

    /** In a namespace of its own where nothing in the folders can be executed, or nothing written. */
    @Test
    void foldersThatExecuteNothing() throws Exception {
        String tmp = dir.toAbsolutePath().toString();
        String noexec = "mount -t tmpfs -o noexec tmpfs " + tmp;
        Assumptions.assumeTrue(Cc.run(List.of("unshare", "--mount", "sh", "-c", noexec)).exit() == 0, "needs to mount");
        assertEquals("loaded 0", startIn(noexec, "-Djava.io.tmpdir=" + tmp).getFirst());
        String line = startIn(noexec + " && mount -t tmpfs -o noexec tmpfs /var/tmp", "-Djava.io.tmpdir=" + tmp,
                "-Duser.home=" + tmp, "-Duser.dir=" + tmp).getFirst();
        assertTrue(line.matches("gmp4j could not load /native/linux-\\w+/libgmp4j.so of its jar by way of a copy \\(.*"
                + "failed to map segment from shared object.*\\): set java.io.tmpdir to a folder that can be written to and "
                + "executed from, or name a library with -Dgmp.shims=PATH\\."), line);
    }

    @Test
    void otherSystems() {
        assertEquals("/native/linux-x86_64/libgmp4j.so", Shims.resource("Linux", "amd64"));
        assertEquals("/native/linux-aarch64/libgmp4j.so", Shims.resource("Linux", "aarch64"));
        for (String[] system :
                new String[][] {{"Windows 11", "amd64"}, {"Linux", "riscv64"}, {"Mac OS X", "aarch64"}}) {
            assertEquals(
                    "gmp4j runs on Linux on x86_64 and aarch64; this is " + system[0] + " on " + system[1] + ".",
                    assertThrows(IllegalStateException.class, () -> Shims.resource(system[0], system[1]))
                            .getMessage());
        }
    }

    @Test
    void anotherCLibrary() {
        assertDoesNotThrow(() -> Shims.requireGlibc(true));
        assertEquals(
                "gmp4j needs glibc, and the C library of this JVM is another, perhaps musl: use a JDK for glibc, and in a container an "
                        + "image that has it.",
                assertThrows(IllegalStateException.class, () -> Shims.requireGlibc(false)).getMessage());
    }

    @Test
    void theVersionOfThisBuildIsRight() {
        assertDoesNotThrow(() -> Shims.checkAbi(gmp_h.GMP_ABI_VERSION, "it"));
        assertThrows(IllegalStateException.class, () -> Shims.checkAbi(gmp_h.GMP_ABI_VERSION + 1, "it"));
        assertTrue(Shims.lookup().find("gmp_futex_wait").isPresent());
    }
}
