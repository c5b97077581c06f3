// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.config;

import java.time.Duration;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/** Durations in the text form of settings: a whole number with the unit {@code ns}, {@code us}, {@code ms} or {@code s}. */
public final class DurationText {
    /** The greatest number of digits that a long always holds. */
    private static final int MAX_DIGITS = 18;

    private enum Unit {
        S(1_000_000_000),
        MS(1_000_000),
        US(1_000),
        NS(1);

        final long nanos;

        Unit(long nanos) {
            this.nanos = nanos;
        }

        String symbol() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private DurationText() {
    }

    /** Returns the duration, or null when the text has another form. Durations above 292 years become 292 years. */
    public static @Nullable Duration parse(String text) {
        int digits = 0;
        while (digits < text.length() && text.charAt(digits) >= '0' && text.charAt(digits) <= '9') {
            digits++;
        }
        for (Unit unit : Unit.values()) {
            if (digits > 0 && text.substring(digits).equals(unit.symbol())) {
                long n = digits <= MAX_DIGITS ? Long.parseLong(text.substring(0, digits)) : Long.MAX_VALUE;
                return Duration.ofNanos(n > Long.MAX_VALUE / unit.nanos ? Long.MAX_VALUE : n * unit.nanos);
            }
        }
        return null;
    }

    /** Returns the duration as a whole number of the largest unit that divides it. */
    public static String format(long nanos) {
        Unit unit = Unit.S;
        while (nanos % unit.nanos != 0) {
            unit = Unit.values()[unit.ordinal() + 1];
        }
        return nanos / unit.nanos + unit.symbol();
    }
}
