// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.weave;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.ModuleAttribute;
import java.lang.classfile.attribute.ModuleHashInfo;
import java.lang.classfile.attribute.ModuleHashesAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.constant.ModuleDesc;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What weaving does to a jar, and what it leaves. */
class WeaveTest {
    private static final Instant TIME = Instant.parse("2020-02-02T02:02:02Z");
    private static final byte[] TEXT = "a text ".repeat(100).getBytes(StandardCharsets.UTF_8);
    private static final byte[] LOOP = classFile("com.acme.Loop");

    @TempDir
    Path folder;
    private Path in;
    private Path out;

    @BeforeEach
    void names() {
        in = folder.resolve("in.jar");
        out = folder.resolve("out.jar");
    }

    /** A class with one loop. */
    private static byte[] classFile(String name) {
        return ClassFile.of().build(ClassDesc.of(name), c -> c.withMethodBody("loop", MethodTypeDesc.ofDescriptor("()V"),
                ClassFile.ACC_STATIC, code -> code.goto_(code.startLabel())));
    }

    /** A zip file of entries, which are added in order; {@code stored} ones are not compressed. */
    private static final class Jar {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final ZipOutputStream zip = new ZipOutputStream(bytes);

        Jar add(String name, byte[] content) throws IOException {
            return add(name, content, ZipEntry.DEFLATED);
        }

        Jar add(String name, byte[] content, int method) throws IOException {
            ZipEntry e = new ZipEntry(name);
            e.setMethod(method);
            e.setLastModifiedTime(FileTime.from(TIME.plusSeconds(2L * bytes.size())));
            e.setComment("of " + name);
            if (method == ZipEntry.STORED) {
                CRC32 crc = new CRC32();
                crc.update(content);
                e.setCrc(crc.getValue());
                e.setSize(content.length);
            }
            zip.putNextEntry(e);
            zip.write(content);
            zip.closeEntry();
            return this;
        }

        byte[] end() throws IOException {
            zip.setComment("the whole");
            zip.close();
            return bytes.toByteArray();
        }
    }

    private String weave(byte[] jar) throws IOException {
        Files.write(in, jar);
        return weave(in, out);
    }

    private static String weave(Path from, Path to) {
        ByteArrayOutputStream report = new ByteArrayOutputStream();
        Weave.weave(from.toString(), to.toString(), null, new PrintStream(report, true, StandardCharsets.UTF_8));
        return report.toString(StandardCharsets.UTF_8);
    }

    private static boolean hasPoints(byte[] classFile) {
        return new String(classFile, StandardCharsets.ISO_8859_1).contains("java/lang/invoke/GmpPoint");
    }

    private static List<String> describe(Path jar) throws IOException {
        List<String> lines = new ArrayList<>();
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            lines.add(zip.getComment());
            zip.stream().forEach(e -> lines.add(e.getName() + " " + e.getMethod() + " " + e.getLastModifiedTime() + " " + e.getComment()
                    + " " + Arrays.toString(e.getExtra())));
        }
        return lines;
    }

    private static byte[] content(Path jar, String name) throws IOException {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            return zip.getInputStream(zip.getEntry(name)).readAllBytes();
        }
    }

    private static byte[] springLike() throws IOException {
        byte[] library = new Jar().add("com/acme/lib/Loop.class", classFile("com.acme.lib.Loop")).add("t", TEXT).end();
        return new Jar().add("META-INF/", new byte[0], ZipEntry.STORED)
                .add("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\n\r\n".getBytes())
                .add("com/acme/Loop.class", LOOP).add("text", TEXT, ZipEntry.STORED)
                .add("BOOT-INF/classes/com/acme/A.class", classFile("com.acme.A"))
                .add("META-INF/versions/21/com/acme/Loop.class", LOOP).add("BOOT-INF/lib/l.jar", library, ZipEntry.STORED)
                .add("BOOT-INF/lib/deep.jar", new Jar().add("l.jar", library).end(), ZipEntry.STORED).add("last", TEXT).end();
    }

    @Test
    void orderTimesAndAllElseStay() throws IOException {
        String report = weave(springLike());
        assertEquals(out + ": 5 points in 5 methods of 5 classes; jars inside: 3\n", report);
        assertEquals(describe(in), describe(out));
        for (String name : List.of("text", "last", "META-INF/MANIFEST.MF")) {
            assertArrayEquals(content(in, name), content(out, name), name);
        }
        for (String name : List.of("com/acme/Loop.class", "BOOT-INF/classes/com/acme/A.class",
                "META-INF/versions/21/com/acme/Loop.class")) {
            assertTrue(hasPoints(content(out, name)), name);
        }
        Path inside = Files.write(folder.resolve("l.jar"), content(out, "BOOT-INF/lib/l.jar"));
        assertTrue(hasPoints(content(inside, "com/acme/lib/Loop.class")));
        assertArrayEquals(TEXT, content(inside, "t"));
        try (ZipInputStream fromFront = new ZipInputStream(Files.newInputStream(out))) { // By the entries' own headers.
            int n = 0;
            while (fromFront.getNextEntry() != null) {
                n += fromFront.readAllBytes().length;
            }
            assertTrue(n > 0);
        }
    }

    @Test
    void twiceIsOnce() throws IOException {
        weave(springLike());
        Path twice = folder.resolve("twice.jar");
        assertEquals(twice + ": 0 points in 0 methods of 0 classes; jars inside: 3\nClasses that had points already: 5.\n",
                weave(out, twice));
        assertEquals(-1, Files.mismatch(out, twice));
        assertNotEquals(-1, Files.mismatch(in, out));
    }

    /** The start script of an executable jar; and offsets that count from its beginning, or from behind it. */
    @Test
    void whatStandsBeforeItStays() throws IOException {
        byte[] script = "#!/bin/bash\nexec java -jar \"$0\"\n".getBytes(StandardCharsets.US_ASCII);
        byte[] jar = springLike();
        byte[] both = Arrays.copyOf(script, script.length + jar.length);
        System.arraycopy(jar, 0, both, script.length, jar.length);
        weave(both);
        assertArrayEquals(script, Arrays.copyOf(Files.readAllBytes(out), script.length));
        assertEquals(describe(in), describe(out));
        assertTrue(hasPoints(content(out, "com/acme/Loop.class")));
    }

    @Test
    void moreEntriesThanAShortCounts() throws IOException {
        Jar jar = new Jar();
        for (int i = 0; i < 66_000; i++) {
            jar.add("e" + i, new byte[0], ZipEntry.STORED);
        }
        weave(jar.add("com/acme/Loop.class", LOOP).end());
        try (ZipFile zip = new ZipFile(out.toFile())) {
            assertEquals(66_001, zip.size());
        }
        assertTrue(hasPoints(content(out, "com/acme/Loop.class")));
    }

    @Test
    void signaturesAreDroppedAndSaid() throws IOException {
        String main = "Manifest-Version: 1.0\r\nMain-Class: com.acme.Loop\r\n\r\n";
        String manifest = main + "Name: com/acme/Loop.class\r\nSHA-256-Digest: eG9pbmcg\r\n ZmFyIGF3YXk=\r\n\r\n"
                + "Name: com/acme/\r\nSealed: true\r\nSHA-256-Digest: AAAA\r\nX-Of: us\r\n \r\n\r\n"
                + "Name: text\r\nsha1-digest: AAAA\r\nSHA-256-Digest-en: AAAA\r\n";
        byte[] signed = new Jar().add("META-INF/MANIFEST.MF", manifest.getBytes(StandardCharsets.UTF_8)).add("META-INF/ACME.SF", TEXT)
                .add("META-INF/acme.rsa", TEXT).add("META-INF/SIG-X", TEXT).add("com/acme/Loop.class", LOOP)
                .add("META-INF/x/a.SF", TEXT).end();
        String report = weave(signed);
        assertTrue(report.endsWith("\nin.jar was signed (ACME): its signatures would not hold and were dropped.\n"), report);
        assertEquals(main + "Name: com/acme/\r\nSealed: true\r\nX-Of: us\r\n \r\n\r\n",
                new String(content(out, "META-INF/MANIFEST.MF"), StandardCharsets.UTF_8));
        try (ZipFile zip = new ZipFile(out.toFile())) {
            assertEquals(List.of("META-INF/MANIFEST.MF", "com/acme/Loop.class", "META-INF/x/a.SF"),
                    zip.stream().map(ZipEntry::getName).toList());
        }
    }

    /** Nothing in it was to be woven. */
    @Test
    void whatNeedsNoChangeKeepsItsSignature() throws IOException {
        String report = weave(new Jar().add("META-INF/A.SF", TEXT).add("bad.jar", "PK\3\4 no jar".getBytes(StandardCharsets.ISO_8859_1))
                .add("old.class", new byte[] {(byte) 0xCA, (byte) 0xFE, (byte) 0xBA, (byte) 0xBE, 0, 0, 0, 50})
                .add("new.class", new byte[] {(byte) 0xCA, (byte) 0xFE, (byte) 0xBA, (byte) 0xBE, 0, 0, 3, 0}).add("none.class", TEXT)
                .add("org/gmp4j/Ours.class", classFile("org.gmp4j.Ours")).end());
        assertEquals(out + """
                : 0 points in 0 methods of 0 classes; jars inside: 1
                Classes that are older than Java 7 and stay without points: 1.
                Classes that have a format that is not known, and stay as they are: 1.
                in.jar!/bad.jar is no whole jar (it has no directory at its end) and stays as it is.
                """, report);
        assertEquals(-1, Files.mismatch(in, out));
    }

    @Test
    void hashesOfModulesAreDroppedAndSaid() throws IOException {
        ModuleAttribute module = ModuleAttribute.of(ModuleDesc.of("com.acme"), m -> m.requires(ModuleDesc.of("java.base"), 0, null));
        byte[] info = ClassFile.of().buildModule(module, c -> c.with(ModuleHashesAttribute.of("SHA-256",
                List.of(ModuleHashInfo.of(ModuleDesc.of("com.acme.more"), new byte[32])))));
        String report = weave(new Jar().add("module-info.class", info).add("com/acme/Loop.class", LOOP).end());
        assertTrue(report.endsWith("\nin.jar named hashes of other modules (module-info.class): they were dropped.\n"), report);
        assertTrue(ClassFile.of().parse(content(out, "module-info.class")).elementStream()
                .noneMatch(ModuleHashesAttribute.class::isInstance));
    }

    @Test
    void theFileHasTheModeOfTheOther() throws IOException {
        Files.write(in, springLike());
        Files.setPosixFilePermissions(in, PosixFilePermissions.fromString("rwxr-x--x"));
        weave(in, out);
        assertEquals("rwxr-x--x", PosixFilePermissions.toString(Files.getPosixFilePermissions(out)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", value = {
            "none.jar|out.jar|-|There is no file F/none.jar.",
            ".|out.jar|-|F/. is a folder, not a jar.",
            "in.jar|.|-|F/. is a folder; name the jar to be written.",
            "in.jar|in.jar|-|F/in.jar would be written over itself; name another jar to be written.",
            "in.jar|./in.jar|-|F/in.jar would be written over itself; name another jar to be written.",
            "in.jar|link.jar|-|F/in.jar would be written over itself; name another jar to be written.",
            "in.jar|no/out.jar|-|F/no/out.jar cannot be written: there is no such folder.",
            "in.jar|/proc/out.jar|-|/proc/out.jar cannot be written: there is no such folder.",
            "text|out.jar|-|F/text is no whole jar: it has no directory at its end.",
            "in.jar|out.jar|include=a..b|\"a..b\" is no pattern of class names; write com.acme.Parser, com.acme.* or com.acme.**.",
            "in.jar|out.jar|points=eager|Only include and exclude apply to a woven jar; the other options are for the program's start.",
            "in.jar|out.jar|default|Only include and exclude apply to a woven jar; the other options are for the program's start."})
    void badInputIsOneSentence(String from, String to, String options, String sentence) throws IOException {
        Files.write(in, springLike());
        Files.createLink(folder.resolve("link.jar"), in);
        Files.write(folder.resolve("text"), TEXT);
        Files.write(out, TEXT);
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Weave.weave(folder + "/" + from,
                to.startsWith("/") ? to : folder + "/" + to, options, System.out));
        assertEquals(sentence, e.getMessage().replace(folder.toString(), "F"));
        assertArrayEquals(TEXT, Files.readAllBytes(out));
        try (Stream<Path> all = Files.list(folder)) {
            assertEquals(List.of("in.jar", "link.jar", "out.jar", "text"), all.map(p -> p.getFileName().toString()).sorted().toList());
        }
    }

    /** A jar that was cut off, or in which something is wrong: it is refused, or woven; there is no third way. */
    @Test
    void damagedJars() throws IOException {
        byte[] jar = new Jar().add("com/acme/Loop.class", LOOP)
                .add("l.jar", new Jar().add("A.class", classFile("A")).end(), ZipEntry.STORED)
                .add("text", TEXT).end();
        int refused = 0;
        for (int length = 0; length < jar.length; length++) {
            refused += isRefused(Arrays.copyOf(jar, length)) ? 1 : 0;
        }
        assertEquals(jar.length, refused, "all that were cut off");
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 2_000; i++) {
            byte[] wrong = jar.clone();
            for (int n = random.nextInt(3); n >= 0; n--) {
                wrong[random.nextInt(jar.length)] = (byte) random.nextInt();
            }
            try {
                refused += isRefused(wrong) ? 1 : 0;
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed + ", round " + i, e);
            }
        }
        assertTrue(refused > jar.length + 100, refused + " refused");
    }

    private boolean isRefused(byte[] jar) throws IOException {
        Files.deleteIfExists(out);
        try {
            String _ = weave(jar);
            return false;
        } catch (IllegalArgumentException e) {
            assertFalse(Files.exists(out));
            return true;
        }
    }
}
