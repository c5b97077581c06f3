package org.gmp4j.ffi;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import org.gmp4j.ffi.gmp.gmp_h;
import org.gmp4j.ffi.gmp.shims_h;

/**
 * Loads libgmp4j.so, the C part of the runtime: from the file that {@code -Dgmp.shims=PATH} names, otherwise from this
 * jar ({@code /native/linux-<arch>/libgmp4j.so}), by way of a private temporary file that is removed again at once.
 * Checks that it was built from the same {@code gmp.h} as the Java layouts.
 *
 * <p>Thread-safe. The generated class {@link shims_h} works only after {@link #load}; the classes of this package see
 * to that themselves.
 */
public final class Shims {
    /** Names a libgmp4j.so to use in place of the one in the jar. */
    public static final String PATH_PROPERTY = "gmp.shims";

    /** From the JVM's names of processors to those of the kernel, for the processors that we support. */
    private static final Map<String, String> ARCHITECTURES =
            Map.of("amd64", "x86_64", "x86_64", "x86_64", "aarch64", "aarch64");

    private static boolean loaded;

    private Shims() {}

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
        if (path != null) {
            loadFrom(Path.of(path).toAbsolutePath(), "-D" + PATH_PROPERTY + "=" + path);
            if (SymbolLookup.loaderLookup().find("gmp_abi_version").isEmpty()) {
                throw new IllegalStateException("gmp4j could not load -D" + PATH_PROPERTY + "=" + path
                        + ": it has no function gmp_abi_version.");
            }
        } else {
            loadFromJar(resource);
        }
        checkAbi(shims_h.gmp_abi_version(), path != null ? path : "the libgmp4j.so in this jar");
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

    /** Package-private for the test. */
    static void checkAbi(int found, String where) {
        int wanted = gmp_h.GMP_ABI_VERSION();
        if (found != wanted) {
            throw new IllegalStateException("gmp4j needs a libgmp4j.so with ABI version " + wanted + ", but " + where
                    + " has version " + found + ": rebuild both from the same sources.");
        }
    }

    private static void loadFromJar(String resource) {
        Path copy;
        try (InputStream in = Shims.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("gmp4j's jar has no " + resource
                        + ": build it with a C compiler at hand, or name a library with -D" + PATH_PROPERTY + "=PATH.");
            }
            // Files.createTempFile makes it readable and writable by its owner alone.
            copy = Files.createTempFile("gmp4j-", ".so");
            try {
                Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
                loadFrom(copy, resource + " (copied to " + copy.getParent() + ")");
            } finally {
                // The mapping keeps the file's content alive; a JVM that crashes leaves nothing behind.
                Files.deleteIfExists(copy);
            }
        } catch (IOException e) {
            throw new IllegalStateException(
                    "gmp4j could not copy " + resource + " to " + System.getProperty("java.io.tmpdir")
                            + " (" + e + "): set java.io.tmpdir, or name a library with -D"
                            + PATH_PROPERTY + "=PATH.",
                    e);
        }
    }

    @SuppressWarnings("restricted")
    private static void loadFrom(Path file, String what) {
        try {
            System.load(file.toString());
        } catch (UnsatisfiedLinkError e) {
            throw new IllegalStateException("gmp4j could not load " + what + ": " + e.getMessage() + ".", e);
        }
    }
}
