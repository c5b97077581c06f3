// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.print;

/**
 * The name of a thread as reports show it. A program may make it of a request, so it may have line breaks and quotes, by which it would
 * look like other lines of the report, and characters that control a terminal.
 */
public final class ThreadName {
    private ThreadName() {
    }

    /** Returns the name in quotes, on one line: with ' for each quote in it, and ? for each control character. */
    public static String quoted(String name) {
        StringBuilder b = new StringBuilder(name.length() + 2).append('"');
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            b.append(c == '"' ? '\'' : Character.isISOControl(c) || c == '\u2028' || c == '\u2029' ? '?' : c);
        }
        return b.append('"').toString();
    }
}
