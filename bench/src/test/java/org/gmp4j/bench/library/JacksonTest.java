// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import org.gmp4j.Go;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jackson's streaming API: documents larger than the pipes that they go through, from goroutine to goroutine. */
class JacksonTest {
    private static final int DOCUMENTS = 20;
    private static final int ITEMS = 300;
    private static final int PIPE = 1024;

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void streams(int procs) throws Exception {
        JsonFactory json = new JsonFactory(); // Its buffers are recycled by thread.
        PipedOutputStream[] out = new PipedOutputStream[DOCUMENTS];
        PipedInputStream[] in = new PipedInputStream[DOCUMENTS];
        for (int i = 0; i < DOCUMENTS; i++) {
            out[i] = new PipedOutputStream();
            in[i] = new PipedInputStream(out[i], PIPE);
        }
        try (TestScheduler scheduler = new TestScheduler(procs)) {
            scheduler.each(2 * DOCUMENTS, number -> {
                int document = number / 2;
                if (number % 2 == 0) {
                    try (JsonGenerator g = json.createGenerator(out[document])) {
                        write(g, document);
                    }
                } else {
                    try (JsonParser p = json.createParser(in[document])) {
                        read(p, document);
                    }
                }
            });
        }
    }

    private static String text(int document, int item) {
        return "document " + document + ", item " + item + ": \"\u00fc\u20ac\ud83d\ude00\"\n".repeat(item % 5);
    }

    private static void write(JsonGenerator g, int document) throws IOException {
        g.writeStartArray();
        for (int i = 0; i < ITEMS; i++) {
            g.writeStartObject();
            g.writeNumberField("number", i);
            g.writeStringField("text", text(document, i));
            g.writeEndObject();
            if (i % 10 == 0) {
                Go.gosched();
            }
        }
        g.writeEndArray();
    }

    private static void read(JsonParser p, int document) throws IOException {
        assertEquals(JsonToken.START_ARRAY, p.nextToken());
        for (int i = 0; i < ITEMS; i++) {
            assertEquals(JsonToken.START_OBJECT, p.nextToken());
            assertEquals("number", p.nextFieldName());
            assertEquals(i, p.nextIntValue(-1));
            assertEquals("text", p.nextFieldName());
            assertEquals(text(document, i), p.nextTextValue());
            assertEquals(JsonToken.END_OBJECT, p.nextToken());
        }
        assertEquals(JsonToken.END_ARRAY, p.nextToken());
        assertNull(p.nextToken());
    }
}
