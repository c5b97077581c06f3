// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * A file that is written at the end and opened at the beginning, so that a long measurement is not lost to a bad name.
 * What stood in it stays until then; a new one is removed again when nothing is written.
 */
public final class OutputFile implements AutoCloseable {
    private final Path path;
    private final boolean isNew;
    private final FileChannel channel;
    private boolean written;

    /**
     * Opens what an option of a command names; null for null.
     *
     * @throws ParameterException if it cannot be written to
     */
    public static OutputFile open(CommandSpec spec, String option, Path path) {
        if (path == null) {
            return null;
        }
        try {
            return new OutputFile(path);
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), option + ": " + e.getMessage(), e);
        }
    }

    /**
     * Sees that two options do not name the same file; either may be null.
     *
     * @throws ParameterException if they do
     */
    public static void refuseSame(CommandSpec spec, String a, OutputFile fileA, String b, OutputFile fileB)
            throws IOException {
        if (fileA != null && fileB != null && fileA.isSame(fileB)) {
            throw new ParameterException(spec.commandLine(), a + " and " + b + " name the same file");
        }
    }

    /** Opens it; an exception has one sentence without an end. */
    private OutputFile(Path path) throws IOException {
        this.path = path;
        this.isNew = Files.notExists(path);
        if (Files.isDirectory(path)) {
            throw new IOException("cannot write to " + path + ": it is a directory");
        }
        try {
            channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new IOException("cannot write to " + path + ": " + reason(e), e);
        }
    }

    private boolean isSame(OutputFile other) throws IOException {
        return Files.isRegularFile(path) && Files.isSameFile(path, other.path);
    }

    /**
     * Replaces what stood in it.
     *
     * @throws IOException in one sentence without an end
     */
    public void write(String text) throws IOException {
        try {
            if (Files.isRegularFile(path)) {
                channel.truncate(0);
            }
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            written = true;
            channel.close();
        } catch (IOException e) {
            throw new IOException("cannot write to " + path + ": " + reason(e), e);
        }
    }

    private static String reason(IOException e) {
        if (e instanceof NoSuchFileException) {
            return "there is no such directory";
        }
        if (e instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (e instanceof FileSystemException f && f.getReason() != null) {
            return f.getReason();
        }
        return e.getMessage();
    }

    @Override
    public void close() throws IOException {
        channel.close();
        if (isNew && !written) {
            Files.deleteIfExists(path);
        }
    }
}
