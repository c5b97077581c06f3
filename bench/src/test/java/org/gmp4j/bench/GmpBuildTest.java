// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./gmp} while it builds, with programs in place of Java, Maven and the C compiler. */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GmpBuildTest {
    private static final String FAILS = """
            [ "$1" = -v ] && { echo "Apache Maven 3.9.9"; exit; }
            echo "[INFO] Building gmp4j 0.1.0-SNAPSHOT        [1/4]"
            echo "[INFO] Building gmp4j runtime 0.1.0-SNAPSHOT        [3/4]"
            echo "[INFO] Building jar: x.jar"
            until grep -q "still building" "$SAID"; do sleep 0.1; done
            echo "osthread.c:12:5: error: unused variable"
            echo "[ERROR] Failed to execute goal exec (c-shims) on project gmp4j-native-bindings: exited with 1 -> [Help 1]"
            echo "[ERROR] "
            echo "[ERROR] Re-run Maven using the -X switch to enable full debug logging."
            exit 1
            """;

    @TempDir
    private Path dir;

    private void program(String name, String body) throws IOException {
        Path file = dir.resolve(name);
        Files.createDirectories(file.getParent());
        Files.setPosixFilePermissions(Files.writeString(file, "#!/bin/sh\n" + body), PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** Starts the build in {@link #dir}, and waits until it has failed. Returns the file with what it said. */
    private Path fails(String mvn, Map<String, String> variables) throws Exception {
        String gmp = Files.readString(Path.of("../gmp"));
        assertTrue(gmp.contains("\nprogress_every=15 "));
        Files.writeString(dir.resolve("gmp"), gmp.replace("\nprogress_every=15 ", "\nprogress_every=0.2 "));
        program("jdk/bin/java", "exit 0\n");
        program("jdk/bin/javac", "exit 0\n");
        Files.writeString(dir.resolve("jdk/release"), "JAVA_VERSION=\"25.0.1\"\n");
        program("bin/cc", "exit 0\n");
        program("bin/mvn", mvn);
        Path said = dir.resolve("said");
        ProcessBuilder b = new ProcessBuilder(List.of("bash", dir.resolve("gmp").toString(), "topo"))
                .directory(Files.createDirectories(dir.resolve("caller")).toFile()).redirectError(said.toFile());
        b.environment().put("PATH", dir.resolve("bin") + ":" + System.getenv("PATH"));
        b.environment().put("GMP_JAVA_HOME", dir.resolve("jdk").toString());
        b.environment().put("SAID", said.toString());
        b.environment().keySet().removeAll(List.of("CC", "GMP_BUILDING", "GMP_NATIVE_JAR"));
        b.environment().putAll(variables);
        assertEquals(1, b.start().waitFor(), () -> text(said));
        return said;
    }

    /** A long build tells that it goes on, and one that fails why. */
    @Test
    void itGoesOnAndFails() throws Exception {
        Path said = fails(FAILS, Map.of());
        List<String> lines = text(said).lines().toList();
        String log = dir.toRealPath() + "/target/gmp/build.log";
        assertEquals("gmp: building (log: " + log + ") ...", lines.getFirst(), lines::toString);
        assertTrue(lines.get(1).matches("gmp: still building, [0-9]+ s: gmp4j runtime \\[3/4]"), lines::toString);
        assertTrue(lines.contains("osthread.c:12:5: error: unused variable"), lines::toString);
        assertEquals("gmp: the build failed; the whole log is in " + log + ".", lines.getLast());
    }

    /** Maven runs in another folder than the one from where the path of the jar is seen. */
    @Test
    void theJarIsSeenFromTheCaller() throws Exception {
        Path _ = fails("[ \"$1\" = -v ] && { echo \"Apache Maven 3.9.9\"; exit; }\necho \"jar: $GMP_NATIVE_JAR\"\nexit 1\n",
                Map.of("GMP_NATIVE_JAR", "a/b.jar"));
        assertEquals("jar: " + dir.toRealPath() + "/caller/a/b.jar\n", text(dir.resolve("target/gmp/build.log")));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
