// SPDX-License-Identifier: Apache-2.0
package resp;

import java.nio.charset.StandardCharsets;

/** Decimal numbers as bytes. */
final class Numbers {
    private Numbers() {
    }

    /**
     * From bytes.
     *
     * @throws NumberFormatException when they are no number, or it does not fit
     */
    static long parse(byte[] bytes, int from, int to) {
        boolean negative = from < to && bytes[from] == '-';
        int digits = negative ? from + 1 : from;
        if (digits == to) {
            throw new NumberFormatException();
        }
        long v = 0; // Negative as it grows: there is one more negative number.
        for (int i = digits; i < to; i++) {
            int digit = bytes[i] - '0';
            if (digit < 0 || digit > 9 || v < Long.MIN_VALUE / 10 || 10 * v < Long.MIN_VALUE + digit) {
                throw new NumberFormatException();
            }
            v = 10 * v - digit;
        }
        if (!negative && v == Long.MIN_VALUE) {
            throw new NumberFormatException();
        }
        return negative ? v : -v;
    }

    static byte[] text(long v) {
        return Long.toString(v).getBytes(StandardCharsets.ISO_8859_1);
    }
}
