// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.CodeSource;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

import org.gmp4j.ffi.gmp.gmp_h;

/**
 * Loads libgmp4j.so, the C part of the runtime: from the file that {@code -Dgmp.shims=PATH} names, otherwise from this
 * jar ({@code /native/linux-<arch>/libgmp4j.so}), by way of a private temporary file that is removed again at once. The file
 * is in {@code java.io.tmpdir}, or where that cannot be, in {@code /var/tmp}, the user's home or the current folder.
 * Checks that it was built from the same {@code gmp.h} as the Java layouts.
 *
 * <p>Thread-safe. The generated class {@link org.gmp4j.ffi.gmp.shims_h} works only after {@link #load}; the classes of this
 * package do not use it but for addresses.
 */
public final class Shims {
    /** Names a libgmp4j.so to use in place of the one in the jar. */
    public static final String PATH_PROPERTY = "gmp.shims";

    /** From the JVM's names of processors to those of the kernel, for the processors that we support. */
    private static final Map<String, String> ARCHITECTURES =
            Map.of("amd64", "x86_64", "x86_64", "x86_64", "aarch64", "aarch64");

    private static final int MOST_TRIES = 100;
    /** Where the library of the jar is copied to for a moment: a property that names a folder, or a folder. */
    private static final List<String> FOLDERS = List.of("java.io.tmpdir", "/var/tmp", "user.home", "user.dir");

    private static boolean loaded;

    private Shims() {
    }

    /**
     * Loads the library if that has not happened yet.
     *
     * @throws IllegalStateException in one sentence, when the system is not supported, or the library cannot be found,
     *     loaded, or has another ABI version
     */
    public static synchronized void load() {
        if (loaded) {
            return;
        }
        String path = System.getProperty(PATH_PROPERTY);
        String resource = resource(System.getProperty("os.name"), System.getProperty("os.arch"));
        try {
            if (path != null) {
                loadFrom(Path.of(path).toAbsolutePath(), "-D" + PATH_PROPERTY + "=" + path);
            } else {
                loadFromJar(resource);
            }
        } catch (IllegalStateException e) {
            requireGlibc(Linker.nativeLinker().defaultLookup()); // Another C library is the better reason.
            throw e;
        }
        if (path != null && SymbolLookup.loaderLookup().find("gmp_abi_version").isEmpty()) {
            throw new IllegalStateException("gmp4j could not load -D" + PATH_PROPERTY + "=" + path
                    + ": it has no function gmp_abi_version.");
        }
        checkAbi((int) Call.call(Call.symbol("gmp_abi_version")), path != null ? path : "the libgmp4j.so in this jar");
        requireGlibc(SymbolLookup.loaderLookup()); // Finds the functions of libraries that the loaded ones need, too.
        loaded = true;
    }

    /**
     * The library's symbols (and those of other libraries that this class loader loaded). Loads it if need be.
     *
     * @return a lookup for functions that {@code gmp_shims.h} does not declare
     * @throws IllegalStateException as {@link #load}
     */
    public static SymbolLookup lookup() {
        load();
        return SymbolLookup.loaderLookup();
    }

    /** The resource that holds the library for a system; package-private for the test. */
    static String resource(String os, String arch) {
        String machine = ARCHITECTURES.get(arch);
        if (!"Linux".equals(os) || machine == null) {
            throw new IllegalStateException(
                    "gmp4j runs on Linux on x86_64 and aarch64; this is " + os + " on " + arch + ".");
        }
        return "/native/linux-" + machine + "/libgmp4j.so";
    }

    /** Package-private for the test. Musl might load the library, whose structs for the C library are those of glibc. */
    static void requireGlibc(SymbolLookup libc) {
        if (libc.find("gnu_get_libc_version").isEmpty()) {
            throw new IllegalStateException("gmp4j needs glibc, and the C library of this JVM is another, perhaps musl: "
                    + "use a JDK for glibc, and in a container an image that has it.");
        }
    }

    /** Package-private for the test. */
    static void checkAbi(int found, String where) {
        int wanted = gmp_h.GMP_ABI_VERSION();
        if (found != wanted) {
            throw new IllegalStateException("gmp4j needs a libgmp4j.so with ABI version " + wanted + ", but " + where
                    + " has version " + found + ": rebuild both from the same sources.");
        }
    }

    /** Tries one folder after the other: the first may be read-only, or mounted so that nothing in it can be executed. */
    private static void loadFromJar(String resource) {
        StringBuilder refusals = new StringBuilder();
        for (String folder : FOLDERS) {
            String place = System.getProperty(folder, folder);
            try {
                loadByWayOf(Path.of(place), resource);
                return;
            } catch (IOException | UnsatisfiedLinkError e) {
                refusals.append(refusals.isEmpty() ? "" : "; ").append(place).append(": ").append(e.getMessage());
            }
        }
        throw new IllegalStateException("gmp4j could not load " + resource + " of its jar by way of a copy (" + refusals
                + "): set java.io.tmpdir to a folder that can be written to and executed from, or name a library with -D"
                + PATH_PROPERTY + "=PATH.");
    }

    private static void loadByWayOf(Path folder, String resource) throws IOException {
        byte[] library = read(resource);
        if (library.length == 0) {
            throw new IllegalStateException("gmp4j's jar has no " + resource
                    + ": build it with a C compiler at hand, or name a library with -D" + PATH_PROPERTY + "=PATH.");
        }
        Path copy = createFile(folder);
        try {
            Files.write(copy, library);
            load(copy);
        } finally {
            // The mapping keeps the file's content alive; a JVM that crashes leaves nothing behind.
            Files.deleteIfExists(copy);
        }
    }

    /** Reads a file of the jar that this class is in; empty when it is not there. */
    private static byte[] read(String resource) throws IOException {
        CodeSource source = Shims.class.getProtectionDomain().getCodeSource();
        URL place = source == null ? null : source.getLocation();
        byte[] library = new byte[0];
        IOException failure = null;
        if (place != null && place.getProtocol().equals("file") && place.getPath().endsWith(".jar")) {
            try {
                library = readFile(place, resource.substring(1));
            } catch (IOException e) {
                failure = e;
            }
        }
        if (library.length == 0) {
            library = readByLoader(resource);
        }
        if (library.length == 0 && failure != null) {
            throw failure;
        }
        return library;
    }

    /** The jar as a file, since a URL into it would load forty classes of the JDK's. */
    private static byte[] readFile(URL place, String name) throws IOException {
        try (ZipFile jar = new ZipFile(new File(place.toURI()))) {
            ZipEntry entry = jar.getEntry(name);
            return entry == null ? new byte[0] : jar.getInputStream(entry).readAllBytes();
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new IOException(place + " is no path of a file", e);
        }
    }

    /** For a URL with a space or a host, and for classes that come from a jar inside of the jar. */
    private static byte[] readByLoader(String resource) throws IOException {
        try (InputStream in = Shims.class.getResourceAsStream(resource)) {
            return in == null ? new byte[0] : in.readAllBytes();
        }
    }

    /**
     * A new file, readable and writable by its owner alone. As {@link Files#createTempFile}, whose random names would have the JVM
     * load its security providers; this one need not be hard to guess, since a file or link that is there already is not taken.
     */
    private static Path createFile(Path folder) throws IOException {
        FileAttribute<?> mine = PosixFilePermissions.asFileAttribute(
                EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE));
        for (int i = 0;; i++) {
            Path file = folder.resolve("gmp4j-" + (System.nanoTime() & Long.MAX_VALUE) + ".so");
            try {
                return Files.createFile(file, mine);
            } catch (FileAlreadyExistsException e) {
                if (i == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }

    private static void loadFrom(Path file, String what) {
        try {
            load(file);
        } catch (UnsatisfiedLinkError e) {
            throw new IllegalStateException("gmp4j could not load " + what + ": " + e.getMessage() + ".", e);
        }
    }

    @SuppressWarnings("restricted")
    private static void load(Path file) {
        System.load(file.toString());
    }
}
