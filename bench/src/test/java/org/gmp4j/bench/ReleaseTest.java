// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What {@code .ci/release} checks: each rule of {@code .ci/Staged.java} is broken once in a folder with the POMs of today, and noticed.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReleaseTest {
    private static final Path ROOT = Path.of("..");
    private static final String VERSION = "0.9.1";
    private static final String BINDINGS = "org/gmp4j/gmp4j-native-bindings/0.9.1/gmp4j-native-bindings-0.9.1";
    private static final String RUNTIME = "org/gmp4j/gmp4j-runtime/0.9.1/gmp4j-runtime-0.9.1";
    private static final String PARENT = "org/gmp4j/gmp4j/0.9.1/gmp4j-0.9.1";
    /** The smallest packet with the tag of a signature, and its checksum. */
    private static final String SIGNATURE = "-----BEGIN PGP SIGNATURE-----\nVersion: 1\n\nwgEE\n=%s\n-----END PGP SIGNATURE-----\n";

    @TempDir
    private static Path classes;
    private static URLClassLoader loader;
    private static Method problems;
    private static String sum;

    @TempDir
    private Path staged;

    @BeforeAll
    static void compile() throws Exception {
        assertEquals(0, ToolProvider.findFirst("javac").orElseThrow()
                .run(System.out, System.err, "-Xlint:all", "-Werror", "-cp", classes.toString(), "-d", classes.toString(),
                        ROOT.resolve(".ci/Staged.java").toString()));
        loader = new URLClassLoader(new URL[] {classes.toUri().toURL()}, null);
        Class<?> checker = loader.loadClass("Staged");
        problems = checker.getMethod("problems", Path.class, String.class, String.class);
        Method crc24 = checker.getDeclaredMethod("crc24", byte[].class);
        crc24.setAccessible(true);
        // The check value of CRC-24/OPENPGP in catalogues of such sums.
        assertEquals(0x21cf02, (int) crc24.invoke(null, (Object) "123456789".getBytes(StandardCharsets.US_ASCII)));
        int crc = (int) crc24.invoke(null, (Object) Base64.getDecoder().decode("wgEE"));
        sum = Base64.getEncoder().encodeToString(new byte[] {(byte) (crc >> 16), (byte) (crc >> 8), (byte) crc});
    }

    @AfterAll
    static void close() throws IOException {
        loader.close();
    }

    private List<?> problems(String version, String way) throws Exception {
        return (List<?>) problems.invoke(null, staged, version, way);
    }

    @Test
    void aReleaseOfTodaysPomsKeepsAllRules() throws Exception {
        stage();
        assertEquals(List.of(), problems(VERSION, ""));
    }

    @Test
    void withoutSignaturesOnlyWhenAsked() throws Exception {
        stage();
        try (Stream<Path> files = Files.walk(staged)) {
            for (Path signature : files.filter(f -> f.toString().endsWith(".asc")).toList()) {
                Files.delete(signature);
            }
        }
        assertEquals(List.of(), problems(VERSION, "--unsigned"));
        assertEquals(12, problems(VERSION, "--dry-run").size());
    }

    @FunctionalInterface
    private interface Damage {
        void to(Path staged) throws Exception;
    }

    /** Each damage to a good folder, and the sentence about it. */
    private final Map<String, Damage> damages = Map.ofEntries(
            Map.entry(RUNTIME + ".jar: has no checksum .md5", delete(RUNTIME + ".jar.md5")),
            Map.entry(RUNTIME + ".jar: has no checksum .sha1", delete(RUNTIME + ".jar.sha1")),
            Map.entry(RUNTIME + ".jar.sha256: not the SHA-256 of gmp4j-runtime-0.9.1.jar",
                    folder -> Files.writeString(folder.resolve(RUNTIME + ".jar.sha256"), "00")),
            Map.entry(BINDINGS + ".pom.md5: not the MD5 of gmp4j-native-bindings-0.9.1.pom",
                    folder -> Files.writeString(folder.resolve(BINDINGS + ".pom.md5"), "d41d8cd98f00b204e9800998ecf8427e")),
            Map.entry(BINDINGS + ".zip.md5: the file that it is the checksum of is not there",
                    folder -> Files.writeString(folder.resolve(BINDINGS + ".zip.md5"), "d41d8cd98f00b204e9800998ecf8427e")),
            Map.entry(PARENT + ".pom: has no signature", delete(PARENT + ".pom.asc")),
            Map.entry(PARENT + ".pom.asc: not an armored signature",
                    folder -> Files.writeString(folder.resolve(PARENT + ".pom.asc"), "me")),
            Map.entry(PARENT + ".pom.asc: a damaged signature",
                    folder -> Files.writeString(folder.resolve(PARENT + ".pom.asc"), String.format(SIGNATURE, "AAAA"))),
            Map.entry(RUNTIME + "-sources.jar: is not there", delete(RUNTIME + "-sources.jar")),
            Map.entry(BINDINGS + "-javadoc.jar: is not there", delete(BINDINGS + "-javadoc.jar")),
            Map.entry(RUNTIME + "-agent.jar: is not there", delete(RUNTIME + "-agent.jar")),
            Map.entry(RUNTIME + "-cyclonedx.json: is not there", delete(RUNTIME + "-cyclonedx.json")),
            Map.entry(RUNTIME + "-cyclonedx.json: not the SBOM of this artifact and version",
                    folder -> put(folder.resolve(RUNTIME + "-cyclonedx.json"), sbom("gmp4j-runtime", "0.9.0"))),
            Map.entry(RUNTIME + ".jar: its manifest says version 0.9.0",
                    folder -> put(folder.resolve(RUNTIME + ".jar"), jar("0.9.0", "META-INF/LICENSE", "org/gmp4j/Go.class"))),
            Map.entry(RUNTIME + ".jar: has no licence in it",
                    folder -> put(folder.resolve(RUNTIME + ".jar"), jar(VERSION, "org/gmp4j/Go.class"))),
            Map.entry(RUNTIME + "-sources.jar: lacks [org/gmp4j/Chan.java]",
                    folder -> put(folder.resolve(RUNTIME + ".jar"), jar(VERSION, "META-INF/LICENSE", "org/gmp4j/Chan$1.class"))),
            Map.entry(RUNTIME + "-javadoc.jar: has no index.html",
                    folder -> put(folder.resolve(RUNTIME + "-javadoc.jar"), jar(VERSION, "a"))),
            Map.entry(BINDINGS + ".jar: has no native library for x86-64", folder -> put(folder.resolve(BINDINGS + ".jar"),
                    jar(VERSION, "META-INF/LICENSE", "native/linux-aarch64/libgmp4j.so"))),
            Map.entry(BINDINGS + ".jar: has no native library for aarch64: the cross compiler aarch64-linux-gnu-gcc makes it",
                    folder -> put(folder.resolve(BINDINGS + ".jar"), jar(VERSION, "META-INF/LICENSE", "native/linux-x86_64/libgmp4j.so"))),
            Map.entry("org/gmp4j/gmp4j-bench/0.9.1/gmp4j-bench-0.9.1.pom: not an artifact of this release",
                    folder -> put(folder.resolve("org/gmp4j/gmp4j-bench/0.9.1/gmp4j-bench-0.9.1.pom"), new byte[0])),
            Map.entry("org/gmp4j/gmp4j-runtime/0.9.1/notes.txt: not named after its artifact and version",
                    folder -> put(folder.resolve("org/gmp4j/gmp4j-runtime/0.9.1/notes.txt"), new byte[0])),
            Map.entry(PARENT + ".pom: has no scm/connection", edit(PARENT, "<connection>[^<]*</connection>", "")),
            Map.entry(RUNTIME + ".pom: has no url", edit(PARENT, "\n  <url>[^<]*</url>", "")),
            Map.entry(RUNTIME + ".pom: has no licenses/license/name", edit(PARENT, "(?s)<licenses>.*</licenses>", "")),
            Map.entry(RUNTIME + ".pom: has no developers/developer/name", edit(PARENT, "(?s)<developers>.*</developers>", "")),
            Map.entry(RUNTIME + ".pom: has no name", edit(RUNTIME, "\n  <name>[^<]*</name>", "")),
            Map.entry(RUNTIME + ".pom: has no description", edit(RUNTIME, "\n  <description>[^<]*</description>", "")),
            Map.entry(RUNTIME + ".pom: names a snapshot", edit(RUNTIME, "<version>\\$\\{jspecify.version}", "<version>1-SNAPSHOT")),
            Map.entry(RUNTIME + ".pom: has repositories", edit(RUNTIME, "\n  <name>", "\n  <repositories></repositories><name>")),
            Map.entry(RUNTIME + ".pom: parent/version is 0.9.0, not 0.9.1", edit(RUNTIME, "<version>0\\.9\\.1", "<version>0.9.0")),
            Map.entry(PARENT + ".pom: version is 0.9.0, not 0.9.1", edit(PARENT, "\n  <version>0\\.9\\.1", "\n  <version>0.9.0")));

    @Test
    void eachRuleIsChecked() throws Exception {
        stage();
        for (Map.Entry<String, Damage> damage : damages.entrySet()) {
            damage.getValue().to(staged);
            List<?> found = problems(VERSION, "");
            assertTrue(found.contains(damage.getKey()), () -> "expected " + damage.getKey() + "; found " + found);
            stage();
        }
        assertTrue(problems("0.9.2", "").contains("org/gmp4j/gmp4j/0.9.2: the artifact is not there"));
        assertTrue(problems("0.9.2-SNAPSHOT", "").contains("0.9.2-SNAPSHOT: a release has no version of a snapshot"));
    }

    private static Damage delete(String file) {
        return folder -> Files.delete(folder.resolve(file));
    }

    private static Damage edit(String pom, String pattern, String replacement) {
        return folder -> {
            String text = Files.readString(folder.resolve(pom + ".pom"));
            String edited = text.replaceFirst(pattern, replacement);
            assertTrue(!edited.equals(text), () -> pom + " has no " + pattern);
            put(folder.resolve(pom + ".pom"), edited.getBytes(StandardCharsets.UTF_8));
        };
    }

    // ---- a good folder

    private void stage() throws Exception {
        try (Stream<Path> files = Files.walk(staged)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.delete(file);
            }
        }
        put(staged.resolve(PARENT + ".pom"), pom("pom.xml"));
        put(staged.resolve(BINDINGS + ".pom"), pom("native-bindings/pom.xml"));
        put(staged.resolve(RUNTIME + ".pom"), pom("runtime/pom.xml"));
        String[] libraries = {"META-INF/LICENSE", "native/linux-x86_64/libgmp4j.so", "native/linux-aarch64/libgmp4j.so"};
        put(staged.resolve(BINDINGS + ".jar"), jar(VERSION, libraries));
        put(staged.resolve(RUNTIME + ".jar"), jar(VERSION, "META-INF/LICENSE", "org/gmp4j/Go.class", "org/gmp4j/Go$1.class"));
        put(staged.resolve(RUNTIME + "-agent.jar"), jar(VERSION, libraries));
        for (String base : List.of(BINDINGS, RUNTIME)) {
            put(staged.resolve(base + "-sources.jar"), jar(VERSION, "org/gmp4j/Go.java"));
            put(staged.resolve(base + "-javadoc.jar"), jar(VERSION, "index.html"));
        }
        put(staged.resolve(BINDINGS + "-cyclonedx.json"), sbom("gmp4j-native-bindings", VERSION));
        put(staged.resolve(RUNTIME + "-cyclonedx.json"), sbom("gmp4j-runtime", VERSION));
    }

    /** A POM of the sources, with the version that {@code .ci/release} gives it. */
    private static byte[] pom(String file) throws IOException {
        return Files.readString(ROOT.resolve(file)).replaceAll("<version>[^<]*-SNAPSHOT</version>", "<version>" + VERSION + "</version>")
                .getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] sbom(String artifact, String version) {
        return ("{\"purl\": \"pkg:maven/org.gmp4j/" + artifact + "@" + version + "?type=jar\"}").getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] jar(String version, String... entries) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, version);
        manifest.getMainAttributes().putValue("Premain-Class", "org.gmp4j.agent.Agent");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JarOutputStream jar = new JarOutputStream(bytes, manifest)) {
            for (String entry : entries) {
                jar.putNextEntry(new ZipEntry(entry));
            }
        }
        return bytes.toByteArray();
    }

    /** Writes a file with all that belongs beside it. */
    private static void put(Path file, byte[] bytes) throws Exception {
        Files.createDirectories(file.getParent());
        Files.write(file, bytes);
        for (String[] kind : new String[][] {{"md5", "MD5"}, {"sha1", "SHA-1"}, {"sha256", "SHA-256"}}) {
            Files.writeString(Path.of(file + "." + kind[0]), HexFormat.of().formatHex(MessageDigest.getInstance(kind[1]).digest(bytes)));
        }
        Files.writeString(Path.of(file + ".asc"), String.format(SIGNATURE, sum));
    }

    // ---- the scripts

    private record Ended(int exit, String out) {
    }

    private static Ended script(Map<String, String> environment, String... command) throws Exception {
        ProcessBuilder b = new ProcessBuilder(command).directory(ROOT.toFile()).redirectErrorStream(true);
        b.environment().keySet().removeAll(List.of("MAVEN_GPG_KEY", "CENTRAL_USERNAME", "CENTRAL_PASSWORD"));
        b.environment().putAll(environment);
        Process p = b.start();
        p.getOutputStream().close();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(p.waitFor(), out);
    }

    @Test
    void releaseNeedsAVersionAndAKey() throws Exception {
        for (String[] line : new String[][] {{"0.9.1", "x"}, {"--unsigned", "0.9.1"}, {"--unsigned", "0.9.1-SNAPSHOT", "x"},
            {"--nope", "0.9.1", "x"}, {"--unsigned", "v1", "x"}, {"--unsigned", "0.9.1", "runtime"}}) {
            String[] command = new String[line.length + 1];
            command[0] = ".ci/release";
            System.arraycopy(line, 0, command, 1, line.length);
            Ended e = script(Map.of("JAVA_HOME", System.getProperty("java.home")), command);
            assertEquals(2, e.exit(), e::toString);
            assertTrue(e.out().contains("; usage: .ci/release"), e::toString);
        }
    }

    @Test
    void publishUploadsABundleToTheServersApi() throws Exception {
        assumeTrue(Stream.of(System.getenv("PATH").split(":")).anyMatch(d -> Files.isExecutable(Path.of(d, "curl"))), "needs curl");
        Path bundle = Files.writeString(staged.resolve("bundle.zip"), "the bundle").toAbsolutePath();
        CompletableFuture<String> request = new CompletableFuture<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/api/v1/publisher/upload", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.ISO_8859_1);
            request.complete(exchange.getRequestMethod() + " " + exchange.getRequestURI().getQuery() + " "
                    + exchange.getRequestHeaders().getFirst("Authorization") + " " + body.contains("the bundle"));
            byte[] answer = "28570f16".getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(body.contains("name=\"bundle\"") ? 201 : 400, answer.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(answer);
            }
        });
        server.start();
        try {
            String url = "http://127.0.0.1:" + server.getAddress().getPort();
            Map<String, String> token = Map.of("CENTRAL_URL", url, "CENTRAL_USERNAME", "me", "CENTRAL_PASSWORD", "secret");
            assertEquals(new Ended(0, "uploaded as 28570f16\n"), script(token, ".ci/publish", bundle.toString()));
            assertEquals("POST publishingType=USER_MANAGED Bearer bWU6c2VjcmV0 true", request.join());
            assertEquals(1, script(Map.of("CENTRAL_URL", url + "/none", "CENTRAL_USERNAME", "me", "CENTRAL_PASSWORD", "secret"),
                    ".ci/publish", bundle.toString()).exit());
            assertEquals(2, script(Map.of("CENTRAL_URL", url), ".ci/publish", bundle.toString()).exit());
        } finally {
            server.stop(0);
        }
    }
}
