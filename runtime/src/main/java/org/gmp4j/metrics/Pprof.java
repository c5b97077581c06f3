// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

import org.gmp4j.tracing.Proto;

/**
 * A profile in pprof's format. It has only the messages of {@code profile.proto} that it needs. That file defines the numbers of fields.
 */
final class Pprof {
    private final Proto profile = new Proto();
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
        Proto valueType = new Proto(); // Replaced in the loop below, because there is at least one type.
        for (int i = 0; i < typesAndUnits.length; i += 2) {
            valueType = new Proto().number(1, string(typesAndUnits[i])).number(2, string(typesAndUnits[i + 1]));
            profile.message(1, valueType);
        }
        profile.message(11, valueType).number(12, period).number(9, System.currentTimeMillis() * 1_000_000);
    }

    /** Adds a sample. {@code frames} has the innermost frame first. */
    void add(List<StackTraceElement> frames, Map<String, String> labels, long... values) {
        Proto ids = new Proto();
        frames.forEach(f -> ids.varint(location(f)));
        Proto numbers = new Proto();
        for (long v : values) {
            numbers.varint(v);
        }
        Proto sample = new Proto().message(1, ids).message(2, numbers);
        labels.forEach((k, v) -> sample.message(3, new Proto().number(1, string(k)).number(2, string(v))));
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
        Proto line = new Proto().number(1, function(f)).number(2, Math.max(0, f.getLineNumber()));
        profile.message(4, new Proto().number(1, id).message(4, line));
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
        profile.message(5, new Proto().number(1, id).number(2, string(name)).number(3, string(name)).number(4, string(file)));
        return id;
    }

    /** Returns the compressed profile. May be called only once. */
    byte[] bytes() {
        for (String s : strings.keySet()) {
            profile.text(6, s);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            profile.writeTo(zip);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // Not possible: the output goes to memory.
        }
        return out.toByteArray();
    }
}
