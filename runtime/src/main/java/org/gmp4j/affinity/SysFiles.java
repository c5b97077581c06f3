// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Reads small files of /sys and /proc below a root. In containers and virtual machines any file may be missing or unreadable, or vanish
 * between two reads. Each method has a result for that case.
 */
record SysFiles(Path root) {
    /** A file of at least this many bytes counts as unreadable. The kernel's files are smaller. */
    private static final int MOST_BYTES = 4 << 20;

    private static final int SHOWN = 60;

    /** Returns the path below this root for an absolute path of the real system, such as /proc/cpuinfo. */
    Path at(String path) {
        return root.resolve(path.substring(1));
    }

    /** Returns the file's text without surrounding space; null when the file cannot be read or is not regular, such as a pipe. */
    static @Nullable String text(Path file) {
        if (!Files.isRegularFile(file)) {
            return null;
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(MOST_BYTES);
            return bytes.length == MOST_BYTES ? null : new String(bytes, StandardCharsets.UTF_8).strip();
        } catch (IOException | SecurityException e) {
            return null;
        }
    }

    /** Returns the file's lines; none when it cannot be read. */
    static List<String> lines(Path file) {
        String text = text(file);
        return text == null || text.isEmpty() ? List.of() : List.of(text.split("\n"));
    }

    /** Returns the number in the file; {@code otherwise} when there is none, or it is negative (the kernel's "unknown"). */
    static int number(Path file, int otherwise) {
        String text = text(file);
        try {
            int n = text == null ? -1 : Integer.parseInt(text);
            return n >= 0 ? n : otherwise;
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    /** Returns a file's name for a message, on one line. */
    static String shown(Path file) {
        return printable(file.toString());
    }

    /** Returns the beginning of a file's text, for a message. */
    static String cut(@Nullable String text) {
        return text == null ? "nothing" : printable(text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...");
    }

    private static String printable(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }
}
