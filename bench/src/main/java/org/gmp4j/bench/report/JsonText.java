// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.PrettyPrinter;

/** Maps, lists, numbers and strings as JSON. */
public final class JsonText {
    private static final JsonFactory JSON = new JsonFactory();
    private static final MathContext DIGITS = new MathContext(5);

    private JsonText() {
    }

    /** Returns the value as text with a newline at its end; a number that is not finite becomes null. */
    public static String of(Object value) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(text)) {
            json.setPrettyPrinter(new Lines());
            write(json, value);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // Not from a StringWriter.
        }
        return text.append('\n').toString();
    }

    /** Returns a finite number with the digits that mean something, for small numbers too. */
    public static Number digits(double v) {
        return new BigDecimal(v, DIGITS);
    }

    private static void write(JsonGenerator json, Object v) throws IOException {
        switch (v) {
            case null -> json.writeNull();
            case Map<?, ?> map -> {
                json.writeStartObject();
                for (Map.Entry<?, ?> e : map.entrySet()) {
                    json.writeFieldName(e.getKey().toString());
                    write(json, e.getValue());
                }
                json.writeEndObject();
            }
            case List<?> list -> {
                json.writeStartArray();
                for (Object e : list) {
                    write(json, e);
                }
                json.writeEndArray();
            }
            case Double d when !Double.isFinite(d) -> json.writeNull();
            case Double d -> json.writeNumber(Format.plain(d));
            case Number n -> json.writeNumber(n.toString());
            case Boolean b -> json.writeBoolean(b);
            default -> json.writeString(v.toString());
        }
    }

    /** Two levels are broken into lines, what is deeper stays on one. */
    private static final class Lines implements PrettyPrinter {
        private static final int BROKEN = 2;

        /** How many objects and arrays are open. */
        private int depth;

        private void open(JsonGenerator json, char c) throws IOException {
            json.writeRaw(c);
            depth++;
        }

        /** Writes the space between two elements, before the first or after the last: a new line, or {@code deep}. */
        private void space(JsonGenerator json, int indent, String deep) throws IOException {
            json.writeRaw(depth <= BROKEN ? "\n" + "  ".repeat(indent) : deep);
        }

        private void close(JsonGenerator json, int elements, char c) throws IOException {
            if (elements > 0) {
                space(json, depth - 1, "");
            }
            depth--;
            json.writeRaw(c);
        }

        @Override
        public void writeRootValueSeparator(JsonGenerator json) {
            throw new IllegalStateException("a second value");
        }

        @Override
        public void writeStartObject(JsonGenerator json) throws IOException {
            open(json, '{');
        }

        @Override
        public void writeStartArray(JsonGenerator json) throws IOException {
            open(json, '[');
        }

        @Override
        public void beforeObjectEntries(JsonGenerator json) throws IOException {
            space(json, depth, "");
        }

        @Override
        public void beforeArrayValues(JsonGenerator json) throws IOException {
            space(json, depth, "");
        }

        @Override
        public void writeObjectFieldValueSeparator(JsonGenerator json) throws IOException {
            json.writeRaw(": ");
        }

        @Override
        public void writeObjectEntrySeparator(JsonGenerator json) throws IOException {
            json.writeRaw(',');
            space(json, depth, " ");
        }

        @Override
        public void writeArrayValueSeparator(JsonGenerator json) throws IOException {
            json.writeRaw(',');
            space(json, depth, " ");
        }

        @Override
        public void writeEndObject(JsonGenerator json, int entries) throws IOException {
            close(json, entries, '}');
        }

        @Override
        public void writeEndArray(JsonGenerator json, int values) throws IOException {
            close(json, values, ']');
        }
    }
}
