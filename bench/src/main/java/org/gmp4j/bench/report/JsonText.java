// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Maps, lists, numbers and strings as JSON. */
public final class JsonText {
    private JsonText() {
    }

    /** With a newline at its end; a number that is not finite is null. */
    public static String of(Object value) {
        StringBuilder text = new StringBuilder();
        value(text, value, 0);
        return text.append('\n').toString();
    }

    /** Two levels are broken into lines, what is deeper stays on one. */
    private static void value(StringBuilder text, Object v, int depth) {
        switch (v) {
            case null -> text.append("null");
            case Map<?, ?> map -> {
                List<String> parts = new ArrayList<>();
                map.forEach((k, e) -> {
                    StringBuilder part = new StringBuilder();
                    string(part, k.toString());
                    part.append(": ");
                    value(part, e, depth + 1);
                    parts.add(part.toString());
                });
                join(text, "{", parts, "}", depth);
            }
            case List<?> list -> {
                List<String> parts = new ArrayList<>();
                for (Object e : list) {
                    StringBuilder part = new StringBuilder();
                    value(part, e, depth + 1);
                    parts.add(part.toString());
                }
                join(text, "[", parts, "]", depth);
            }
            case Double d -> text.append(Double.isFinite(d) ? Format.plain(d) : "null");
            case Number n -> text.append(n);
            case Boolean b -> text.append(b);
            default -> string(text, v.toString());
        }
    }

    private static void join(StringBuilder text, String open, List<String> parts, String close, int depth) {
        boolean lines = depth < 2 && !parts.isEmpty();
        String indent = "\n" + "  ".repeat(depth);
        text.append(open).append(lines ? indent + "  " : "");
        text.append(String.join(lines ? "," + indent + "  " : ", ", parts));
        text.append(lines ? indent : "").append(close);
    }

    private static void string(StringBuilder text, String s) {
        text.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ') {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}
