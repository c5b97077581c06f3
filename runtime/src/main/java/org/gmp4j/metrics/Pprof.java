// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * A profile in pprof's format. It has only the messages of {@code profile.proto} that it needs. That file defines the numbers of fields.
 */
final class Pprof {
    private static final int BYTES = 2; // The wire type for a length and that many bytes.

    private final Message profile = new Message();
    private final Map<String, Integer> strings = new LinkedHashMap<>();
    private final Map<StackTraceElement, Integer> locations = new HashMap<>();
    private final Map<String, Integer> functions = new HashMap<>();

    /** Makes a profile whose samples have one value, of this type and unit. */
    Pprof(String type, String unit) {
        this(1, type, unit);
    }

    /**
     * Makes a profile whose samples have a value of each type. Each type is followed by its unit. A sample represents {@code period} units
     * of the last type.
     */
    Pprof(long period, String... typesAndUnits) {
        int _ = string(""); // The first string has to be empty.
        Message valueType = new Message(); // Replaced in the loop below, because there is at least one type.
        for (int i = 0; i < typesAndUnits.length; i += 2) {
            valueType = new Message().number(1, string(typesAndUnits[i])).number(2, string(typesAndUnits[i + 1]));
            profile.message(1, valueType);
        }
        profile.message(11, valueType).number(12, period).number(9, System.currentTimeMillis() * 1_000_000);
    }

    /** Adds a sample. {@code frames} has the innermost frame first. */
    void add(List<StackTraceElement> frames, Map<String, String> labels, long... values) {
        Message ids = new Message();
        frames.forEach(f -> ids.varint(location(f)));
        Message numbers = new Message();
        for (long v : values) {
            numbers.varint(v);
        }
        Message sample = new Message().message(1, ids).message(2, numbers);
        labels.forEach((k, v) -> sample.message(3, new Message().number(1, string(k)).number(2, string(v))));
        profile.message(2, sample);
    }

    private int string(String s) {
        return strings.computeIfAbsent(s, k -> strings.size());
    }

    private int location(StackTraceElement f) {
        Integer known = locations.get(f);
        if (known != null) {
            return known;
        }
        int id = locations.size() + 1;
        locations.put(f, id);
        Message line = new Message().number(1, function(f)).number(2, Math.max(0, f.getLineNumber()));
        profile.message(4, new Message().number(1, id).message(4, line));
        return id;
    }

    private int function(StackTraceElement f) {
        String name = f.getClassName() + "." + f.getMethodName();
        Integer known = functions.get(name);
        if (known != null) {
            return known;
        }
        int id = functions.size() + 1;
        functions.put(name, id);
        String file = f.getFileName() == null ? "" : f.getFileName();
        profile.message(5, new Message().number(1, id).number(2, string(name)).number(3, string(name)).number(4, string(file)));
        return id;
    }

    /** Returns the compressed profile. May be called only once. */
    byte[] bytes() {
        for (String s : strings.keySet()) {
            profile.bytes(6, s.getBytes(StandardCharsets.UTF_8));
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            profile.out.writeTo(zip);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // Not possible: the output goes to memory.
        }
        return out.toByteArray();
    }

    /** A message of protocol buffers that is being written. */
    private static final class Message {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        Message varint(long v) {
            for (; (v & ~0x7fL) != 0; v >>>= 7) {
                out.write((int) (v & 0x7f | 0x80));
            }
            out.write((int) v);
            return this;
        }

        Message number(int field, long v) {
            return varint((long) field << 3).varint(v);
        }

        Message bytes(int field, byte[] b) {
            varint((long) field << 3 | BYTES).varint(b.length);
            out.writeBytes(b);
            return this;
        }

        /** Adds a message within this one, or the packed numbers of a field. */
        Message message(int field, Message m) {
            return bytes(field, m.out.toByteArray());
        }
    }
}
