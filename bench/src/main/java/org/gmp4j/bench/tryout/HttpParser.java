// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * Reads the answers of one HTTP/1.1 connection to GET requests, one after the other, however their bytes are cut: bodies with a length, in
 * chunks, until the connection's end, and none. Interim answers are passed over. It allocates nothing for an answer but header values that
 * it needs. For one thread.
 */
final class HttpParser {
    private static final int LONGEST_LINE = 64 << 10;
    private static final int USUAL_LINE = 256;
    private static final int OK = 200;
    private static final int NO_CONTENT = 204;
    private static final int NOT_MODIFIED = 304;
    private static final int STATUS_AT = "HTTP/1.1 ".length();

    private enum State {
        STATUS, HEADER, BODY, CHUNK_SIZE, CHUNK, CHUNK_END, TRAILER, UNTIL_END
    }

    private State state = State.STATUS;
    private byte[] line = new byte[USUAL_LINE];
    private int lineLength;
    private long left; // of the body or of the chunk; -1 where no header says the body's length
    private boolean chunked;

    private int status;
    private long length;
    private boolean last;
    private boolean begun;

    /** Returns the status of the last complete answer. */
    int status() {
        return status;
    }

    /** Returns the length of its body in bytes, without the framing of chunks. */
    long length() {
        return length;
    }

    /** Returns whether the server closes the connection after it. */
    boolean isLast() {
        return last;
    }

    /** Returns whether an answer has begun that is not complete. */
    boolean hasBegun() {
        return begun;
    }

    /** Begins with a new connection. */
    void reset() {
        state = State.STATUS;
        lineLength = 0;
        begun = false;
    }

    /**
     * Takes bytes until an answer is complete or there are no more.
     *
     * @return whether an answer is complete; bytes behind it stay in the buffer
     * @throws IOException for what is not HTTP
     */
    boolean take(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            begun = true;
            boolean complete = switch (state) {
                case BODY, CHUNK -> body(bytes);
                case UNTIL_END -> {
                    length += bytes.remaining();
                    bytes.position(bytes.limit());
                    yield false;
                }
                default -> line(bytes) && ended();
            };
            if (complete) {
                reset();
                return true;
            }
        }
        return false;
    }

    /** Notes that the connection has ended. Returns whether that completes an answer. */
    boolean end() {
        boolean complete = state == State.UNTIL_END;
        reset();
        return complete;
    }

    private boolean body(ByteBuffer bytes) {
        int n = (int) Math.min(left, bytes.remaining());
        bytes.position(bytes.position() + n);
        length += n;
        left -= n;
        if (left > 0) {
            return false;
        }
        if (state == State.BODY) {
            return true;
        }
        state = State.CHUNK_END;
        return false;
    }

    /** Takes bytes of a line; whether it is whole, without its end. */
    private boolean line(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            byte b = bytes.get();
            if (b == '\n') {
                lineLength -= lineLength > 0 && line[lineLength - 1] == '\r' ? 1 : 0;
                return true;
            }
            if (lineLength == line.length) {
                if (lineLength == LONGEST_LINE) {
                    throw new IOException("a line of its answer is longer than " + LONGEST_LINE + " bytes");
                }
                line = Arrays.copyOf(line, 2 * lineLength);
            }
            line[lineLength++] = b;
            if (state == State.STATUS && lineLength <= "HTTP/1.".length() && b != "HTTP/1.".charAt(lineLength - 1)) {
                throw new IOException("its answer is not HTTP/1.1");
            }
        }
        return false;
    }

    /** Reads a whole line. Returns whether the answer is complete. */
    private boolean ended() throws IOException {
        int n = lineLength;
        lineLength = 0;
        switch (state) {
            case STATUS -> status(n);
            case HEADER -> {
                if (n == 0) {
                    return headersEnd();
                }
                header(n);
            }
            case CHUNK_SIZE -> chunk(n);
            case CHUNK_END -> state = State.CHUNK_SIZE;
            default -> { // TRAILER
                return n == 0;
            }
        }
        return false;
    }

    private void status(int n) throws IOException {
        if (n < STATUS_AT + 3) {
            throw new IOException("its answer is not HTTP/1.1");
        }
        status = 0;
        for (int i = STATUS_AT; i < STATUS_AT + 3; i++) {
            int digit = line[i] - '0';
            if (digit < 0 || digit > 9) {
                throw new IOException("its answer is not HTTP/1.1");
            }
            status = 10 * status + digit;
        }
        last = line[STATUS_AT - 2] == '0'; // HTTP/1.0
        length = 0;
        left = -1;
        chunked = false;
        state = State.HEADER;
    }

    private void header(int n) throws IOException {
        if (is("content-length:", n)) {
            left = number(value("content-length:", n), 10);
        } else if (is("transfer-encoding:", n)) {
            chunked = value("transfer-encoding:", n).toLowerCase(Locale.ROOT).endsWith("chunked");
        } else if (is("connection:", n)) {
            String value = value("connection:", n).toLowerCase(Locale.ROOT);
            last = value.contains("close") || last && !value.contains("keep-alive");
        }
    }

    private boolean is(String name, int n) {
        if (n < name.length()) {
            return false;
        }
        for (int i = 0; i < name.length(); i++) {
            int b = line[i];
            if ((b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b) != name.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private String value(String name, int n) {
        return new String(line, name.length(), n - name.length(), StandardCharsets.ISO_8859_1).strip();
    }

    private static long number(String text, int radix) throws IOException {
        try {
            long n = Long.parseLong(text, radix);
            if (n >= 0) {
                return n;
            }
        } catch (NumberFormatException e) {
            throw new IOException("its answer has a length of '" + text + "'", e);
        }
        throw new IOException("its answer has a length of '" + text + "'");
    }

    private boolean headersEnd() {
        if (status < OK) {
            state = State.STATUS;
            return false;
        }
        if (status == NO_CONTENT || status == NOT_MODIFIED || !chunked && left == 0) {
            return true;
        }
        state = chunked ? State.CHUNK_SIZE : left > 0 ? State.BODY : State.UNTIL_END;
        last |= state == State.UNTIL_END;
        return false;
    }

    private void chunk(int n) throws IOException {
        int end = 0;
        while (end < n && line[end] != ';') {
            end++;
        }
        left = number(new String(line, 0, end, StandardCharsets.ISO_8859_1).strip(), 16);
        state = left == 0 ? State.TRAILER : State.CHUNK;
    }
}
