// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpParserTest {
    private static final String ANSWERS = """
            HTTP/1.1 200 OK
            Content-Length: 5

            hello\
            HTTP/1.1 100 Continue

            HTTP/1.1 201 Created
            transfer-ENCODING:  chunked

            a;name="x"
            0123456789
            1
            x
            0
            Trailer: y

            HTTP/1.1 204 No Content

            HTTP/1.1 500\s
            Content-Length: 0
            Connection: Close

            HTTP/1.0 200 OK
            Content-Length: 1

            x\
            HTTP/1.0 304 Not Modified
            Connection: keep-alive
            Content-Length: 9

            """.replace("\n", "\r\n");
    private static final List<String> READ = List.of("200 5 false", "201 11 false", "204 0 false", "500 0 true", "200 1 true",
            "304 0 false");

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static List<String> read(ByteBuffer all, int piece) throws IOException {
        HttpParser parser = new HttpParser();
        List<String> read = new ArrayList<>();
        for (int at = 0; at < all.limit(); at += piece) {
            ByteBuffer part = all.slice(at, Math.min(piece, all.limit() - at));
            while (part.hasRemaining()) {
                if (parser.take(part)) {
                    assertFalse(parser.hasBegun());
                    read.add(parser.status() + " " + parser.length() + " " + parser.isLast());
                } else {
                    assertTrue(parser.hasBegun());
                }
            }
        }
        assertFalse(parser.end());
        return read;
    }

    /** However the bytes are cut. */
    @Test
    void pieces() throws Exception {
        ByteBuffer all = bytes(ANSWERS);
        for (int piece = 1; piece <= all.limit(); piece++) {
            assertEquals(READ, read(all, piece), "pieces of " + piece);
        }
    }

    /** Without a length a body ends with the connection; one that has a length is not complete then. */
    @Test
    void untilTheEnd() throws Exception {
        HttpParser parser = new HttpParser();
        assertFalse(parser.take(bytes("HTTP/1.1 200 OK\r\n\r\nabc")));
        assertFalse(parser.take(bytes("de")));
        assertTrue(parser.end());
        assertEquals(5, parser.length());
        assertTrue(parser.isLast());
        assertFalse(parser.take(bytes("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab")));
        assertFalse(parser.end());
        assertTrue(parser.take(bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")), "nothing is left of the old connection");
    }

    @ParameterizedTest
    @ValueSource(strings = {"SSH-2.0-OpenSSH\r\n", "HTTP/2", "\r\n", "HTTP/1.1 2\r\n", "HTTP/1.1 OK 200\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n"})
    void noHttp(String text) {
        assertThrows(IOException.class, () -> new HttpParser().take(bytes(text)), text);
    }

    @Test
    void aLineWithoutAnEnd() throws Exception {
        HttpParser parser = new HttpParser();
        assertFalse(parser.take(bytes("HTTP/1.1 200 OK\r\nX: " + "x".repeat(65_000))));
        assertThrows(IOException.class, () -> parser.take(bytes("x".repeat(1_000))));
    }
}
