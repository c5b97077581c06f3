// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

/**
 * What went wrong in a run.
 *
 * @param lane the lane on which it was noticed; empty if the program's checks noticed it
 * @param why one line
 * @param cause the exception, or null
 */
record Failure(String lane, String why, Throwable cause) {
    static Failure of(String lane, Throwable t) {
        String message = t.getMessage() == null ? "" : t.getMessage().lines().findFirst().orElse("");
        boolean check = t instanceof AssertionError && !message.isEmpty();
        return new Failure(lane, check ? message : t.getClass().getSimpleName() + (message.isEmpty() ? "" : ": " + message), t);
    }

    /** Returns whether another failure has the same reason: the same text but for numbers. */
    boolean isLike(Failure other) {
        return other != null && kind(why).equals(kind(other.why));
    }

    private static String kind(String text) {
        return text.replaceAll("0x[0-9a-f]+|[0-9]+", "#");
    }

    /** Returns the line to print. */
    String text() {
        return lane.isEmpty() ? why : lane + ": " + why;
    }
}
