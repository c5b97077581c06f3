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
     * Opens it.
     *
     * @throws IOException in one sentence without an end
     */
    public OutputFile(Path path) throws IOException {
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

    /** Whether this is the same file as another. */
    public boolean isSame(OutputFile other) throws IOException {
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
