// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.weave;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipException;

import org.gmp4j.agent.ClassWeaver;
import org.gmp4j.agent.LeftAlone;
import org.gmp4j.classfile.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * Puts preemption points into the classes of a jar: {@code java -cp gmp4j-runtime.jar org.gmp4j.weave.Weave IN.jar OUT.jar
 * [include=PATTERN,…][,exclude=PATTERN,…]}. The program then needs no agent to be preempted in its loops, only the flags that open the JDK
 * to gmp4j. An AOT cache can hold these classes, unlike classes that an agent changes.
 *
 * <p>Jars inside the jar, at any depth, and classes in {@code META-INF/versions} are woven as well. Classes that have points already are
 * left alone, so weaving a second time changes nothing. The result is written to a temporary file in the folder of {@code OUT}, and that
 * file is then renamed to {@code OUT}.
 */
public final class Weave {
    private static final int BAD_USAGE = 2;
    private static final String CLASS = ".class";
    private static final String MODULE_INFO = "module-info.class";
    private static final List<String> ARCHIVES = List.of(".jar", ".war", ".ear", ".rar", ".par");
    private static final int MAGIC = 0xCAFEBABE;
    private static final int LOCAL_HEADER = 0x504B0304;
    private static final int MAX_BYTES = Integer.MAX_VALUE - 64;

    private final ClassWeaver weaver;
    private final List<String> notes = new ArrayList<>();
    private int jarsInside;

    private Weave(ClassWeaver weaver) {
        this.weaver = weaver;
    }

    /** Weaves a jar. The exit code is 0 after success. It is 2, with one sentence on stderr, after bad usage or bad input. */
    public static void main(String[] args) {
        if (args.length < 2 || args.length > 3) {
            System.err.println("gmp4j: weave which jar? Write: java -cp gmp4j-runtime.jar " + Weave.class.getName()
                    + " IN.jar OUT.jar [include=PATTERN,...,exclude=PATTERN,...]");
            System.exit(BAD_USAGE);
        }
        try {
            weave(args[0], args[1], args.length > 2 ? args[2] : null, System.out);
        } catch (IllegalArgumentException e) {
            System.err.println("gmp4j: " + e.getMessage());
            System.exit(BAD_USAGE);
        }
    }

    /**
     * Weaves the jar {@code in}, writes the result to {@code out}, and prints a summary on {@code report}.
     *
     * @param options {@code include=…,exclude=…} as for the agent, or null
     * @throws IllegalArgumentException with one sentence for the user; {@code out} is unchanged
     */
    public static void weave(String in, String out, @Nullable String options, PrintStream report) {
        Weave weave = new Weave(new ClassWeaver(options));
        Path from = path(in);
        Path to = path(out);
        byte[] file = read(from);
        if (Files.isDirectory(to)) {
            throw new IllegalArgumentException(to + " is a folder; name the jar to be written.");
        }
        try {
            if (Files.exists(to) && Files.isSameFile(from, to)) {
                throw new IllegalArgumentException(from + " would be written over itself; name another jar to be written.");
            }
            Zip zip = new Zip(file);
            weave.change(zip, from.getFileName().toString());
            write(zip, from, to);
        } catch (ZipException e) {
            throw new IllegalArgumentException(from + " is no whole jar: " + e.getMessage() + ".", e);
        } catch (IOException e) {
            throw new IllegalArgumentException(to + " cannot be written: " + reason(e) + ".", e);
        } catch (OutOfMemoryError e) {
            throw new IllegalArgumentException(from + " does not fit into the heap: start Java with a larger -Xmx.", e);
        }
        weave.report(to, report);
    }

    private static Path path(String name) {
        try {
            return Path.of(name);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("\"" + name + "\" is no name of a file.", e);
        }
    }

    private static byte[] read(Path from) {
        try {
            if (Files.isDirectory(from)) {
                throw new IllegalArgumentException(from + " is a folder, not a jar.");
            }
            if (Files.size(from) > MAX_BYTES) {
                throw new IllegalArgumentException(from + " is larger than 2 GB, which is more than weave can do.");
            }
            return Files.readAllBytes(from);
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException("There is no file " + from + ".", e);
        } catch (IOException e) {
            throw new IllegalArgumentException(from + " cannot be read: " + reason(e) + ".", e);
        } catch (OutOfMemoryError e) {
            throw new IllegalArgumentException(from + " does not fit into the heap: start Java with a larger -Xmx.", e);
        }
    }

    private static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException _ -> "there is no such folder";
            case AccessDeniedException _ -> "permission denied";
            case FileSystemException f when f.getReason() != null -> f.getReason();
            default -> e.getMessage() == null ? e.toString() : e.getMessage();
        };
    }

    private static void write(Zip zip, Path from, Path to) throws IOException {
        Path folder = to.toAbsolutePath().getParent();
        Path beside = Files.createTempFile(folder, "." + to.getFileName(), ".weaving");
        try {
            try (OutputStream stream = new BufferedOutputStream(Files.newOutputStream(beside), 1 << 16)) {
                zip.write(stream);
            }
            PosixFileAttributeView mode = Files.getFileAttributeView(beside, PosixFileAttributeView.class);
            if (mode != null) { // createTempFile lets only the owner read the file.
                mode.setPermissions(Files.getPosixFilePermissions(from));
            }
            Path _ = Files.move(beside, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            boolean _ = Files.deleteIfExists(beside);
        }
    }

    /** Weaves the entries of a jar. {@code jar} is its name in notes. */
    private void change(Zip zip, String jar) throws ZipException {
        boolean classesChanged = false;
        for (Zip.Entry e : zip.entries()) {
            byte[] woven = null;
            if (e.name().endsWith(CLASS)) {
                woven = weave(e);
                classesChanged |= woven != null;
            } else if (isArchive(e.name())) {
                woven = weaveInside(e, jar);
            }
            if (woven != null) {
                e.replace(woven);
            }
        }
        if (!zip.isChanged()) {
            return;
        }
        if (classesChanged) {
            dropHashes(zip, jar);
        }
        List<String> signers = Signatures.drop(zip);
        if (!signers.isEmpty()) {
            notes.add(jar + " was signed (" + String.join(", ", signers) + "): its signatures would not hold and were dropped");
        }
    }

    private byte @Nullable [] weave(Zip.Entry e) throws ZipException {
        if (isModuleInfo(e)) {
            return null;
        }
        byte[] content = e.content();
        return startsWith(content, MAGIC) ? weaver.weave(content) : null;
    }

    private byte @Nullable [] weaveInside(Zip.Entry e, String jar) throws ZipException {
        byte[] content = e.content();
        if (!startsWith(content, LOCAL_HEADER)) {
            return null; // It is another kind of file with this suffix.
        }
        String name = jar + "!/" + e.name();
        jarsInside++;
        try {
            Zip inside = new Zip(content);
            change(inside, name);
            return inside.isChanged() ? inside.toArray() : null;
        } catch (ZipException bad) {
            notes.add(name + " is no whole jar (" + bad.getMessage() + ") and stays as it is");
            return null;
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** Drops from a jar's module descriptors the hashes of other modules, which are wrong once those modules are woven. */
    private void dropHashes(Zip zip, String jar) throws ZipException {
        for (Zip.Entry e : zip.entries()) {
            byte[] without = isModuleInfo(e) ? ModuleHashes.drop(e.content()) : null;
            if (without != null) {
                e.replace(without);
                notes.add(jar + " named hashes of other modules (" + e.name() + "): they were dropped");
            }
        }
    }

    private static boolean isModuleInfo(Zip.Entry e) {
        return e.name().equals(MODULE_INFO) || e.name().endsWith("/" + MODULE_INFO);
    }

    private static boolean isArchive(String name) {
        return ARCHIVES.stream().anyMatch(name::endsWith);
    }

    private static boolean startsWith(byte[] content, int magic) {
        return content.length >= 4 && Bytes.i4(content, 0) == magic;
    }

    private void report(Path to, PrintStream report) {
        report.println(to + ": " + weaver.points() + " points in " + weaver.methods() + " methods of " + weaver.classes() + " classes"
                + (jarsInside > 0 ? "; jars inside: " + jarsInside : ""));
        leftAlone(LeftAlone.HAS_POINTS, "had points already", report);
        leftAlone(LeftAlone.OLD_CLASS_FILE, "are older than Java 7 and stay without points", report);
        leftAlone(LeftAlone.UNKNOWN_FORMAT, "have a format that is not known, and stay as they are", report);
        leftAlone(LeftAlone.FAILED, "are broken or of a kind that is not known, and stay as they are", report);
        leftAlone(LeftAlone.CONSTANT_POOL_FULL, "have no room for another constant, and stay as they are", report);
        for (String note : notes) {
            report.println(note + ".");
        }
    }

    private void leftAlone(LeftAlone reason, String what, PrintStream report) {
        if (weaver.leftAlone(reason) > 0) {
            report.println("Classes that " + what + ": " + weaver.leftAlone(reason) + ".");
        }
    }
}
