// SPDX-License-Identifier: Apache-2.0

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;

import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/**
 * Checks a folder in the layout of a Maven repository against the rules of Maven Central and our own:
 * {@code java .ci/Staged.java [--dry-run|--unsigned] FOLDER VERSION}.
 *
 * <p>Maven Central's rules: each POM has all required elements, each jar has its sources and its javadoc, each file has valid checksums and
 * a signature, nothing depends on a snapshot. Our own: only the artifacts that are meant for users are there, each jar has the licence
 * and the version in it, the jar of sources has the source of each class, an SBOM lists what the jar is made of, and the native library is
 * there.
 *
 * <p>It checks the form of signatures. Whether they fit the files is a question to gpg, which .ci/release asks.
 *
 * <p>Exit code 0: all rules are kept. 1: each line on stderr names a rule that is not. 2: bad usage.
 */
public final class Staged {
    private static final String GROUP = "org.gmp4j";
    private static final Set<String> POMS = Set.of("gmp4j");
    private static final Set<String> JARS = Set.of("gmp4j-native-bindings", "gmp4j-runtime");
    /** Maven Central requires the first two, and checks the others where they are. */
    private static final Map<String, String> CHECKSUMS =
            new TreeMap<>(Map.of("md5", "MD5", "sha1", "SHA-1", "sha256", "SHA-256", "sha512", "SHA-512"));

    private final Path root;
    private final String version;
    private final boolean signed;
    private final boolean complete;
    private final List<String> problems = new ArrayList<>();

    private Staged(Path root, String version, String way) {
        this.root = root;
        this.version = version;
        this.signed = !way.equals("--unsigned");
        this.complete = way.isEmpty();
    }

    public static void main(String[] args) throws IOException {
        String way = args.length == 3 ? args[0] : "";
        if (args.length < 2 || args.length > 3 || !Set.of("", "--dry-run", "--unsigned").contains(way)) {
            System.err.println("usage: java .ci/Staged.java [--dry-run|--unsigned] FOLDER VERSION");
            System.exit(2);
        }
        Path folder = Path.of(args[args.length - 2]);
        List<String> problems = problems(folder, args[args.length - 1], way);
        problems.forEach(System.err::println);
        if (problems.isEmpty()) {
            try (Stream<Path> files = Files.walk(folder)) {
                System.out.println("staged as Maven Central wants it: " + files.filter(Staged::isArtifact).count() + " files"
                        + (way.equals("--unsigned") ? ", without signatures" : ""));
            }
        }
        System.exit(problems.isEmpty() ? 0 : 1);
    }

    /** Returns one sentence for each rule that the folder does not keep; {@code way} is empty, or an option of {@link #main}. */
    public static List<String> problems(Path folder, String version, String way) throws IOException {
        Staged staged = new Staged(folder, version, way);
        staged.check();
        return staged.problems;
    }

    private void problem(Object where, String what) {
        String file = where instanceof Path path && path.startsWith(root) ? root.relativize(path).toString() : where.toString();
        problems.add(file + ": " + what);
    }

    private void check() throws IOException {
        if (version.endsWith("-SNAPSHOT")) {
            problem(version, "a release has no version of a snapshot");
        }
        Path group = root.resolve(GROUP.replace('.', '/'));
        Set<String> artifacts = new TreeSet<>(POMS);
        artifacts.addAll(JARS);
        Set<Path> expected = new TreeSet<>();
        for (String artifact : artifacts) {
            Path folder = group.resolve(artifact).resolve(version);
            if (Files.isDirectory(folder)) {
                expected.add(folder);
                artifact(folder, artifact, POMS.contains(artifact));
            } else {
                problem(folder, "the artifact is not there");
            }
        }
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                if (expected.contains(file.getParent())) {
                    file(file);
                } else {
                    problem(file, "not an artifact of this release");
                }
            }
        }
    }

    // ---- files

    private static boolean isArtifact(Path file) {
        String name = file.getFileName().toString();
        return Files.isRegularFile(file) && !name.endsWith(".asc") && !CHECKSUMS.containsKey(extension(name));
    }

    private static String extension(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private void file(Path file) throws IOException {
        String name = file.getFileName().toString();
        if (CHECKSUMS.containsKey(extension(name))) {
            checksum(file, CHECKSUMS.get(extension(name)));
            return;
        }
        if (name.endsWith(".asc")) {
            signature(file);
            return;
        }
        for (String required : List.of("md5", "sha1")) {
            if (!Files.exists(file.resolveSibling(name + "." + required))) {
                problem(file, "has no checksum ." + required);
            }
        }
        if (signed && !Files.exists(file.resolveSibling(name + ".asc"))) {
            problem(file, "has no signature");
        }
    }

    private void checksum(Path file, String algorithm) throws IOException {
        String name = file.getFileName().toString();
        Path of = file.resolveSibling(name.substring(0, name.lastIndexOf('.')));
        if (!Files.exists(of)) {
            problem(file, "the file that it is the checksum of is not there");
            return;
        }
        try {
            String sum = HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(Files.readAllBytes(of)));
            if (!Files.readString(file).strip().equals(sum)) {
                problem(file, "not the " + algorithm + " of " + of.getFileName());
            }
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    /** An armored OpenPGP signature: base64 between two lines, and a checksum of 24 bits. */
    private void signature(Path file) throws IOException {
        Matcher armor = Pattern.compile("-----BEGIN PGP SIGNATURE-----\n(?:[^\n]+: [^\n]*\n)*\n([A-Za-z0-9+/=\n]+?)\n=([A-Za-z0-9+/]{4})\n"
                + "-----END PGP SIGNATURE-----").matcher(Files.readString(file, StandardCharsets.ISO_8859_1).replace("\r", "").strip());
        if (!armor.matches()) {
            problem(file, "not an armored signature");
            return;
        }
        byte[] packet = Base64.getMimeDecoder().decode(armor.group(1));
        byte[] sum = Base64.getDecoder().decode(armor.group(2));
        if (crc24(packet) != ((sum[0] & 0xff) << 16 | (sum[1] & 0xff) << 8 | sum[2] & 0xff)) {
            problem(file, "a damaged signature");
        } else if ((packet[0] & 0x80) == 0 || ((packet[0] & 0x40) != 0 ? packet[0] & 0x3f : packet[0] >> 2 & 0xf) != 2) {
            problem(file, "armored, but not a signature");
        }
    }

    /** The checksum of RFC 9580, section 6.1.1. */
    static int crc24(byte[] bytes) {
        int crc = 0xb704ce;
        for (byte b : bytes) {
            crc ^= (b & 0xff) << 16;
            for (int bit = 0; bit < 8; bit++) {
                crc <<= 1;
                if ((crc & 0x1000000) != 0) {
                    crc ^= 0x1864cfb;
                }
            }
        }
        return crc & 0xffffff;
    }

    // ---- artifacts

    private void artifact(Path folder, String artifact, boolean isPom) throws IOException {
        String base = artifact + "-" + version;
        Path pom = folder.resolve(base + ".pom");
        if (!Files.exists(pom)) {
            problem(folder, "there is no POM");
        } else {
            pom(pom, artifact, isPom);
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                if (!file.getFileName().toString().startsWith(base + ".") && !file.getFileName().toString().startsWith(base + "-")) {
                    problem(file, "not named after its artifact and version");
                }
            }
        }
        if (!isPom) {
            for (String classifier : List.of("", "-sources", "-javadoc")) {
                if (!Files.exists(folder.resolve(base + classifier + ".jar"))) {
                    problem(folder.resolve(base + classifier + ".jar"), "is not there");
                    return;
                }
            }
            jars(folder, base);
            sbom(folder.resolve(base + "-cyclonedx.json"), artifact);
        }
    }

    private void jars(Path folder, String base) throws IOException {
        Set<String> classes = entries(folder.resolve(base + ".jar"));
        manifest(folder.resolve(base + ".jar"));
        Set<String> sources = entries(folder.resolve(base + "-sources.jar"));
        Set<String> without = classes.stream()
                .filter(name -> name.endsWith(".class"))
                .map(name -> name.replaceFirst("(\\$[^/]*)?\\.class$", ".java"))
                .filter(name -> !sources.contains(name))
                .collect(Collectors.toCollection(TreeSet::new));
        if (!without.isEmpty()) {
            problem(folder.resolve(base + "-sources.jar"), "lacks " + without);
        }
        if (!entries(folder.resolve(base + "-javadoc.jar")).contains("index.html")) {
            problem(folder.resolve(base + "-javadoc.jar"), "has no index.html");
        }
        if (base.startsWith("gmp4j-native-bindings-")) {
            nativeLibrary(folder.resolve(base + ".jar"), classes);
        }
        if (base.startsWith("gmp4j-runtime-")) {
            Path agent = folder.resolve(base + "-agent.jar");
            if (!Files.exists(agent)) {
                problem(agent, "is not there");
                return;
            }
            manifest(agent);
            nativeLibrary(agent, entries(agent));
            try (JarFile jar = new JarFile(agent.toFile())) {
                if (jar.getManifest().getMainAttributes().getValue("Premain-Class") == null) {
                    problem(agent, "is no agent");
                }
            }
        }
    }

    private void nativeLibrary(Path file, Set<String> entries) {
        if (!entries.contains("native/linux-x86_64/libgmp4j.so")) {
            problem(file, "has no native library for x86-64");
        }
        if (complete && !entries.contains("native/linux-aarch64/libgmp4j.so")) {
            problem(file, "has no native library for aarch64: the cross compiler aarch64-linux-gnu-gcc makes it");
        }
    }

    private static Set<String> entries(Path file) throws IOException {
        try (JarFile jar = new JarFile(file.toFile())) {
            return jar.stream().map(entry -> entry.getName()).collect(Collectors.toSet());
        }
    }

    private void manifest(Path file) throws IOException {
        try (JarFile jar = new JarFile(file.toFile())) {
            String stated = jar.getManifest() == null ? null
                    : jar.getManifest().getMainAttributes().getValue("Implementation-Version");
            if (!version.equals(stated)) {
                problem(file, "its manifest says version " + stated);
            }
            if (jar.getEntry("META-INF/LICENSE") == null) {
                problem(file, "has no licence in it");
            }
        }
    }

    private void sbom(Path file, String artifact) throws IOException {
        if (!Files.exists(file)) {
            problem(file, "is not there");
        } else if (!Files.readString(file).contains("\"pkg:maven/" + GROUP + "/" + artifact + "@" + version)) {
            problem(file, "not the SBOM of this artifact and version");
        }
    }

    // ---- POMs

    private void pom(Path file, String artifact, boolean isPom) throws IOException {
        Element pom = parsed(file);
        Element parent = null;
        if (isPom) {
            expect(file, pom, GROUP, "groupId");
            expect(file, pom, version, "version");
            expect(file, pom, "pom", "packaging");
        } else {
            expect(file, pom, "gmp4j", "parent", "artifactId");
            expect(file, pom, version, "parent", "version");
            Path above = root.resolve(GROUP.replace('.', '/')).resolve("gmp4j/" + version + "/gmp4j-" + version + ".pom");
            parent = Files.exists(above) ? parsed(above) : null;
        }
        expect(file, pom, "4.0.0", "modelVersion");
        expect(file, pom, artifact, "artifactId");
        own(file, pom, "name");
        own(file, pom, "description");
        // A child inherits these.
        for (String element : List.of("url", "licenses/license/name", "licenses/license/url", "developers/developer/name",
                "developers/developer/url", "scm/url", "scm/connection", "scm/developerConnection")) {
            String[] path = element.split("/");
            if (text(pom, path) == null && (parent == null || text(parent, path) == null)) {
                problem(file, "has no " + element);
            }
        }
        String whole = Files.readString(file).replaceAll("(?s)<!--.*?-->", "");
        if (whole.contains("-SNAPSHOT")) {
            problem(file, "names a snapshot");
        }
        for (String unwanted : List.of("repositories", "pluginRepositories", "systemPath")) {
            if (whole.contains("<" + unwanted + ">")) {
                problem(file, "has " + unwanted);
            }
        }
    }

    private void expect(Path file, Element pom, String value, String... path) {
        String text = text(pom, path);
        if (!value.equals(text)) {
            problem(file, String.join("/", path) + " is " + text + ", not " + value);
        }
    }

    private void own(Path file, Element pom, String name) {
        if (text(pom, name) == null) {
            problem(file, "has no " + name);
        }
    }

    private static String text(Element of, String... path) {
        Element at = of;
        for (String name : path) {
            Element next = null;
            for (Node node = at.getFirstChild(); node != null && next == null; node = node.getNextSibling()) {
                next = node instanceof Element element && element.getTagName().equals(name) ? element : null;
            }
            if (next == null) {
                return null;
            }
            at = next;
        }
        String text = at.getTextContent().strip();
        return text.isEmpty() ? null : text;
    }

    private static Element parsed(Path file) throws IOException {
        try {
            return DocumentBuilderFactory.newInstance().newDocumentBuilder()
                    .parse(new ByteArrayInputStream(Files.readAllBytes(file))).getDocumentElement();
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }
}
