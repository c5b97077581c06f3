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
 * Loads libgmp4j.so, the C part of the runtime, from the file that {@code -Dgmp.shims=PATH} names, or else from this jar
 * ({@code /native/linux-<arch>/libgmp4j.so}). The jar's library is copied to a private temporary file, which is removed at once after
 * loading. The file is in {@code java.io.tmpdir}, or if that fails, in {@code /var/tmp}, the user's home or the current folder. Checks that
 * the library was built from the same {@code gmp.h} as the Java layouts.
 *
 * <p>Thread-safe. The generated class {@link org.gmp4j.ffi.gmp.shims_h} works only after {@link #load}. The classes of this package use
 * only its addresses.
 */
public final class Shims {
    /** The property that names a libgmp4j.so to use instead of the jar's library. */
    public static final String PATH_PROPERTY = "gmp.shims";

    /** The kernel's names of the supported processors, by the JVM's names. */
    private static final Map<String, String> ARCHITECTURES =
            Map.of("amd64", "x86_64", "x86_64", "x86_64", "aarch64", "aarch64");

    private static final int MOST_TRIES = 100;
    /** The folders for the temporary copy of the jar's library. Each is a folder, or the name of a property that has one. */
    private static final List<String> FOLDERS = List.of("java.io.tmpdir", "/var/tmp", "user.home", "user.dir");

    /** A function that only glibc has. */
    private static final String OF_GLIBC = "gnu_get_libc_version";

    private static boolean loaded;

    private Shims() {
    }

    /**
     * Loads the library if it is not loaded yet.
     *
     * @throws IllegalStateException with a message of one sentence, when the system is not supported, or the library cannot be found or
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
            requireGlibc(isGlibc()); // If the C library is not glibc, that is the better reason.
            throw e;
        }
        if (path != null && Call.find("gmp_abi_version") == 0) {
            throw new IllegalStateException("gmp4j could not load -D" + PATH_PROPERTY + "=" + path
                    + ": it has no function gmp_abi_version.");
        }
        checkAbi((int) Call.call(Call.symbol("gmp_abi_version")), path != null ? path : "the libgmp4j.so in this jar");
        requireGlibc(Call.find(OF_GLIBC) != 0);
        loaded = true;
    }

    /**
     * Looks up symbols of the library (and of others that this class loader loaded). Loads it if need be.
     *
     * @return a lookup for functions that {@code gmp_shims.h} does not declare
     * @throws IllegalStateException when {@link #load} fails
     */
    public static SymbolLookup lookup() {
        load();
        return SymbolLookup.loaderLookup();
    }

    /** Returns the name of the resource with the library for a system. Package-private for the test. */
    static String resource(String os, String arch) {
        String machine = ARCHITECTURES.get(arch);
        if (!"Linux".equals(os) || machine == null) {
            throw new IllegalStateException(
                    "gmp4j runs on Linux on x86_64 and aarch64; this is " + os + " on " + arch + ".");
        }
        return "/native/linux-" + machine + "/libgmp4j.so";
    }

    private static boolean isGlibc() {
        return Linker.nativeLinker().defaultLookup().find(OF_GLIBC).isPresent();
    }

    /** Refuses musl, which might load the library although it uses the structs of glibc. Package-private for the test. */
    static void requireGlibc(boolean glibc) {
        if (!glibc) {
            throw new IllegalStateException("gmp4j needs glibc, and the C library of this JVM is another, perhaps musl: "
                    + "use a JDK for glibc, and in a container an image that has it.");
        }
    }

    /** Refuses a library with another ABI version. Package-private for the test. */
    static void checkAbi(int found, String where) {
        int wanted = gmp_h.GMP_ABI_VERSION;
        if (found != wanted) {
            throw new IllegalStateException("gmp4j needs a libgmp4j.so with ABI version " + wanted + ", but " + where
                    + " has version " + found + ": rebuild both from the same sources.");
        }
    }

    /** Tries the folders in turn, because a folder may be read-only, or mounted with {@code noexec}. */
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
            // The mapping keeps the file's content alive. No file remains after a crash of the JVM.
            Files.deleteIfExists(copy);
        }
    }

    /** Reads a file of this class's jar. Returns an empty array when there is no such file. */
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

    /** Reads from the jar as a file, because a URL into it would load many more classes of the JDK. */
    private static byte[] readFile(URL place, String name) throws IOException {
        try (ZipFile jar = new ZipFile(new File(place.toURI()))) {
            ZipEntry entry = jar.getEntry(name);
            return entry == null ? new byte[0] : jar.getInputStream(entry).readAllBytes();
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new IOException(place + " is no path of a file", e);
        }
    }

    /** Reads by the class loader, which handles a URL with a space or a host, and a jar within a jar. */
    private static byte[] readByLoader(String resource) throws IOException {
        try (InputStream in = Shims.class.getResourceAsStream(resource)) {
            return in == null ? new byte[0] : in.readAllBytes();
        }
    }

    /**
     * Makes a new file that only its owner may read and write. {@link Files#createTempFile} would make the JVM load its security
     * providers for a random name. This name may be easy to guess, because an existing file or link is not used.
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
