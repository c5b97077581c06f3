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
 * Reads small files of /sys and /proc below a root. In containers and virtual machines any of them may be missing,
 * unreadable or go away between two reads: every reader has an answer for that.
 */
record SysFiles(Path root) {

    /** Where {@code path}, absolute in the system's own tree, lies below the root. */
    Path at(String path) {
        return root.resolve(path.startsWith("/") ? path.substring(1) : path);
    }

    /** No file that is read here is as long: one that is does not come from a kernel. */
    private static final int MOST_BYTES = 4 << 20;

    private static final int SHOWN = 60;

    /** The file's text without surrounding space, or null: also for what is no file, a pipe say, which nobody may ever write to. */
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

    /** The file's lines; none when it cannot be read. */
    static List<String> lines(Path file) {
        String text = text(file);
        return text == null || text.isEmpty() ? List.of() : List.of(text.split("\n"));
    }

    /** The number in the file; {@code otherwise} when there is none, or a negative one (the kernel's "unknown"). */
    static int number(Path file, int otherwise) {
        String text = text(file);
        try {
            int n = text == null ? -1 : Integer.parseInt(text);
            return n >= 0 ? n : otherwise;
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    /** A file's name for a message: whatever it is called it stays on one line. */
    static String shown(Path file) {
        return printable(file.toString());
    }

    /** The beginning of what a file says, for a message. */
    static String cut(@Nullable String text) {
        return text == null ? "nothing" : printable(text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...");
    }

    private static String printable(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }
}
