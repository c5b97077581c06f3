// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.gmp4j.bench.Json;
import org.junit.jupiter.api.Test;

/** The form of the reports' JSON, which scripts and diffs may rely on. */
class JsonTextTest {
    private static Map<String, Object> report() {
        Map<String, Object> inner = new LinkedHashMap<>();
        inner.put("list", List.of(1, 2.5, 3L));
        inner.put("none", Map.of());
        inner.put("map", Map.of("a", List.of(true)));
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("name", "a \"b\" \\ \u0001 é /");
        all.put("inner", inner);
        all.put("rows", List.of(List.of("x", 1), List.of(), Map.of("k", List.of("y", "z"))));
        all.put("numbers", Arrays.asList(Double.NaN, Double.POSITIVE_INFINITY, 0.0, 1e15, 0.12345, -7.0, null));
        all.put("empty", List.of());
        return all;
    }

    @Test
    void twoLevelsOfLines() {
        assertEquals("""
                {
                  "name": "a \\"b\\" \\\\ \\u0001 é /",
                  "inner": {
                    "list": [1, 2.5, 3],
                    "none": {},
                    "map": {"a": [true]}
                  },
                  "rows": [
                    ["x", 1],
                    [],
                    {"k": ["y", "z"]}
                  ],
                  "numbers": [
                    null,
                    null,
                    0,
                    1000000000000000,
                    0.123,
                    -7,
                    null
                  ],
                  "empty": []
                }
                """, JsonText.of(report()));
    }

    @Test
    void isReadBack() {
        Map<?, ?> all = (Map<?, ?>) Json.parse(JsonText.of(report()));
        assertEquals("a \"b\" \\ \u0001 é /", all.get("name"));
        assertEquals(List.of("x", 1.0), ((List<?>) all.get("rows")).get(0));
    }

    @Test
    void oneValue() {
        assertEquals("{}\n", JsonText.of(Map.of()));
        assertEquals("\"tab\\t\"\n", JsonText.of("tab\t"));
        assertEquals("null\n", JsonText.of(null));
    }
}
