// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Reads small files of /sys and /proc below a root. In containers and virtual machines any of them may be missing,
 * unreadable or go away between two reads: every reader has an answer for that.
 */
record SysFiles(Path root) {

    /** Where {@code path}, absolute in the system's own tree, lies below the root. */
    Path at(String path) {
        return root.resolve(path.startsWith("/") ? path.substring(1) : path);
    }

    /** The file's text without surrounding space, or null. */
    static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).strip();
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
}
