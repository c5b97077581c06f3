// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads JSON strictly: objects as maps, arrays as lists, numbers as doubles. */
public final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** One value, and nothing after it. */
    public static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.blanks();
        if (json.at < text.length()) {
            throw json.bad("something after the value");
        }
        return value;
    }

    private Object value() {
        blanks();
        char c = peek();
        return switch (c) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object() {
        Map<String, Object> map = new LinkedHashMap<>();
        take('{');
        if (skip('}')) {
            return map;
        }
        do {
            blanks();
            String key = string();
            take(':');
            if (map.containsKey(key)) {
                throw bad("the key " + key + " twice");
            }
            map.put(key, value());
        } while (skip(','));
        take('}');
        return map;
    }

    private List<Object> array() {
        List<Object> list = new ArrayList<>();
        take('[');
        if (skip(']')) {
            return list;
        }
        do {
            list.add(value());
        } while (skip(','));
        take(']');
        return list;
    }

    private String string() {
        if (peek() != '"') {
            throw bad("no string");
        }
        StringBuilder s = new StringBuilder();
        for (at++; peek() != '"'; at++) {
            char c = peek();
            if (c < ' ') {
                throw bad("a control character in a string");
            }
            if (c != '\\') {
                s.append(c);
                continue;
            }
            at++;
            switch (peek()) {
                case '"', '\\', '/' -> s.append(peek());
                case 'n' -> s.append('\n');
                case 't' -> s.append('\t');
                case 'u' -> {
                    s.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                    at += 4;
                }
                default -> throw bad("an unknown escape");
            }
        }
        at++;
        return s.toString();
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw bad("no value");
        }
        at += word.length();
        return value;
    }

    private Double number() {
        int from = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String number = text.substring(from, at);
        if (!number.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) {
            throw bad("no number");
        }
        return Double.valueOf(number);
    }

    private void take(char c) {
        if (!skip(c)) {
            throw bad("no " + c);
        }
    }

    private boolean skip(char c) {
        blanks();
        if (peek() != c) {
            return false;
        }
        at++;
        return true;
    }

    private void blanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw bad("the end");
        }
        return text.charAt(at);
    }

    private IllegalArgumentException bad(String what) {
        return new IllegalArgumentException(what + " at " + at + " of: " + text);
    }
}
