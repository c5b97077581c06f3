// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/** A profile in pprof's format, read by a decoder that shares nothing with the encoder. */
final class PprofDecoded {
    /** A sample: places, values, labels as KEY=VALUE. */
    record Sample(List<Long> where, List<Long> values, List<String> labels) {
    }

    /** Fields of a message: of a number its value, of bytes these. */
    private record Field(int number, long value, byte[] bytes) {
    }

    final List<String> strings = new ArrayList<>();
    final List<Sample> samples = new ArrayList<>();
    final Map<Long, Long> functionIn = new java.util.HashMap<>();
    final Map<Long, String> functionOf = new java.util.HashMap<>();
    final List<String> types = new ArrayList<>();

    PprofDecoded(byte[] zipped) throws IOException {
        List<Field> all = fields(new GZIPInputStream(new ByteArrayInputStream(zipped)).readAllBytes());
        all.stream().filter(f -> f.number == 6).forEach(f -> strings.add(new String(f.bytes, StandardCharsets.UTF_8)));
        for (Field f : all) {
            switch (f.number) {
                case 1 -> types.add(string(f.bytes, 1) + " " + string(f.bytes, 2));
                case 2 -> samples.add(new Sample(packed(bytes(f.bytes, 1)), packed(bytes(f.bytes, 2)),
                        fields(f.bytes).stream().filter(l -> l.number == 3)
                                .map(l -> string(l.bytes, 1) + "=" + string(l.bytes, 2)).toList()));
                case 4 -> functionIn.put(number(f.bytes, 1), number(bytes(f.bytes, 4), 1));
                case 5 -> functionOf.put(number(f.bytes, 1), string(f.bytes, 2));
                default -> assertTrue(f.number <= 14, "field " + f.number);
            }
        }
    }

    private String string(byte[] message, int field) {
        return strings.get((int) number(message, field));
    }

    private static long number(byte[] message, int field) {
        return fields(message).stream().filter(f -> f.number == field).findFirst().orElseThrow().value;
    }

    private static byte[] bytes(byte[] message, int field) {
        return fields(message).stream().filter(f -> f.number == field).findFirst().orElseThrow().bytes;
    }

    private static List<Long> packed(byte[] b) {
        List<Long> all = new ArrayList<>();
        for (int[] at = {0}; at[0] < b.length;) {
            all.add(varint(b, at));
        }
        return all;
    }

    private static List<Field> fields(byte[] b) {
        List<Field> all = new ArrayList<>();
        for (int[] at = {0}; at[0] < b.length;) {
            long tag = varint(b, at);
            if ((tag & 7) == 0) {
                all.add(new Field((int) (tag >>> 3), varint(b, at), null));
            } else {
                assertEquals(2, tag & 7, "wire type");
                int n = (int) varint(b, at);
                all.add(new Field((int) (tag >>> 3), 0, java.util.Arrays.copyOfRange(b, at[0], at[0] + n)));
                at[0] += n;
            }
        }
        return all;
    }

    private static long varint(byte[] b, int[] at) {
        long v = 0;
        for (int shift = 0;; shift += 7) {
            byte next = b[at[0]++];
            v |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return v;
            }
        }
    }
}
