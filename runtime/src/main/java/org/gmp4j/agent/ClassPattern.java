// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

/**
 * A pattern of class names. Examples: {@code com.acme.Parser}; {@code com.acme.*}, the classes of one package; {@code com.acme.**}, the
 * classes of that package and of the packages below it; {@code **Test}. {@code *} stands for any characters but a dot, and {@code **} for
 * any characters.
 */
final class ClassPattern {
    private final String text;

    /**
     * Reads a pattern.
     *
     * @throws IllegalArgumentException when the text is no pattern; its message is one sentence for the user
     */
    ClassPattern(String text) {
        boolean ok = !text.isEmpty() && !text.contains("***") && !text.contains("..") && !text.startsWith(".")
                && !text.endsWith(".");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            ok &= c == '.' || c == '*' || Character.isJavaIdentifierPart(c);
        }
        if (!ok) {
            throw new IllegalArgumentException(
                    "\"%s\" is no pattern of class names; write com.acme.Parser, com.acme.* or com.acme.**.".formatted(text));
        }
        this.text = text.replace('.', '/');
    }

    /** Returns the number of the pattern's characters that are no wildcards. If several patterns match, the greatest weight decides. */
    int weight() {
        int n = 0; // Counted without a stream, because this may run while the classes of streams and lambdas are loaded.
        for (int i = 0; i < text.length(); i++) {
            n += text.charAt(i) == '*' ? 0 : 1;
        }
        return n;
    }

    /** Returns whether the pattern matches the class of this internal name ({@code com/acme/Parser}). */
    boolean matches(String name) {
        return matches(0, name, 0);
    }

    private boolean matches(int at, String name, int from) {
        for (; at < text.length(); at++, from++) {
            if (text.charAt(at) == '*') {
                boolean any = text.startsWith("**", at);
                int rest = at + (any ? 2 : 1);
                if (any && rest == text.length()) {
                    return true;
                }
                for (int i = from; i <= name.length(); i++) {
                    if (matches(rest, name, i)) {
                        return true;
                    }
                    if (!any && i < name.length() && name.charAt(i) == '/') {
                        return false;
                    }
                }
                return false;
            }
            if (from == name.length() || text.charAt(at) != name.charAt(from)) {
                return false;
            }
        }
        return from == name.length();
    }

    @Override
    public String toString() {
        return text.replace('/', '.');
    }
}
