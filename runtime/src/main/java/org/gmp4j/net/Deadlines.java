// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.time.Duration;
import java.time.Instant;

import org.gmp4j.netpoll.PollFd;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.timer.TimeBubble;
import org.jspecify.annotations.Nullable;

/** Converts deadlines to the nanoseconds that are left. */
final class Deadlines {
    private Deadlines() {
    }

    /** Returns the nanoseconds until {@code at}: 0 or less if it has passed, {@link PollFd#NO_LIMIT} for null. */
    static long left(@Nullable Instant at) {
        return at == null ? PollFd.NO_LIMIT : RuntimeTimer.nanos(TimeBubble.instant().until(at));
    }

    /** Returns the nanoseconds of {@code d}: 0 or less if it is not positive, {@link PollFd#NO_LIMIT} for null. */
    static long left(@Nullable Duration d) {
        return d == null ? PollFd.NO_LIMIT : RuntimeTimer.nanos(d);
    }
}
