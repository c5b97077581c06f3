// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.print;

/**
 * The form of a thread's name in reports. A program may use parts of a request as a name. So a name may contain characters that control a
 * terminal, or line breaks and quotes that make it look like other lines of the report.
 */
public final class ThreadName {
    private ThreadName() {
    }

    /** Returns the name in quotes, on one line, with ' in place of each quote and ? in place of each control character. */
    public static String quoted(String name) {
        StringBuilder b = new StringBuilder(name.length() + 2).append('"');
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            b.append(c == '"' ? '\'' : Character.isISOControl(c) || c == '\u2028' || c == '\u2029' ? '?' : c);
        }
        return b.append('"').toString();
    }
}
