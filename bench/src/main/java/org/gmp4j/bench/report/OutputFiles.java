// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * The files that a command writes at its end. Each is tried at the beginning, so that a long measurement is not lost to a bad
 * name; until the end, what stood in it stays, and a new one is not there.
 */
public final class OutputFiles {
    private final CommandSpec spec;
    private final Map<String, Path> files = new LinkedHashMap<>();

    /** What a file is to hold. */
    @FunctionalInterface
    public interface Text {
        /** Makes it. */
        String make() throws IOException;
    }

    /** Makes an empty list for this command. */
    public OutputFiles(CommandSpec spec) {
        this.spec = spec;
    }

    /**
     * Adds what an option names; nothing for null.
     *
     * @throws ParameterException if it cannot be written to, or another option names it too
     */
    public void add(String option, Path path) {
        if (path == null) {
            return;
        }
        try {
            Path real = probe(path);
            for (Map.Entry<String, Path> other : files.entrySet()) {
                if (isSame(real, other.getValue())) {
                    throw new ParameterException(spec.commandLine(), other.getKey() + " and " + option + " name the same file");
                }
            }
            files.put(option, real);
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), option + ": " + sentence(path, e), e);
        }
    }

    /** Opens it for writing; where it is, when it is a file. */
    private static Path probe(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            throw new FileSystemException(path.toString(), null, "it is a directory");
        }
        if (Files.exists(path) && !Files.isRegularFile(path)) { // Whoever reads from a pipe would see it end.
            return path;
        }
        boolean isNew = Files.notExists(path);
        FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
        Path real = path.toRealPath();
        if (isNew) {
            Files.delete(real);
        }
        return real;
    }

    private static boolean isSame(Path a, Path b) throws IOException {
        boolean regular = Files.isRegularFile(a) && Files.isRegularFile(b);
        return regular ? Files.isSameFile(a, b) : a.equals(b) && Files.notExists(a);
    }

    /**
     * Replaces the contents of the files that were added. A file that fails does not prevent the next.
     *
     * @param texts by option
     * @throws IOException for the files that failed, in one sentence without an end
     */
    public void write(Map<String, Text> texts) throws IOException {
        List<String> failures = new ArrayList<>();
        texts.forEach((option, text) -> {
            Path path = files.get(option);
            if (path != null) {
                try {
                    Files.writeString(path, text.make());
                } catch (IOException e) {
                    failures.add(sentence(path, e));
                }
            }
        });
        if (!failures.isEmpty()) {
            throw new IOException(String.join("; ", failures));
        }
    }

    private static String sentence(Path path, IOException e) {
        return "cannot write to " + path + ": " + switch (e) {
            case NoSuchFileException _ -> "there is no such directory";
            case AccessDeniedException _ -> "permission denied";
            case FileSystemException f when f.getReason() != null -> f.getReason();
            default -> e.getMessage();
        };
    }
}
