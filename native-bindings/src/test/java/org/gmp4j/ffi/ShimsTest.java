package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gmp4j.ffi.gmp.gmp_h;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShimsTest {
    @TempDir
    Path dir;

    /** What the tests below start in a JVM of its own. */
    static final class Main {
        private Main() {}

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
        List<String> command = new ArrayList<>(List.of(
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
                "gmp4j needs a libgmp4j.so with ABI version " + gmp_h.GMP_ABI_VERSION() + ", but " + library
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
        String line = start("-Djava.io.tmpdir=" + dir.resolve("none")).getFirst();
        assertTrue(line.startsWith("gmp4j could not copy /native/linux-"), line);
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
    void theVersionOfThisBuildIsRight() {
        assertDoesNotThrow(() -> Shims.checkAbi(gmp_h.GMP_ABI_VERSION(), "it"));
        assertThrows(IllegalStateException.class, () -> Shims.checkAbi(gmp_h.GMP_ABI_VERSION() + 1, "it"));
        assertTrue(Shims.lookup().find("gmp_futex_wait").isPresent());
    }
}
