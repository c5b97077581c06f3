// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

/** A poller in which descriptors are registered once, edge-triggered, until they are closed: see {@link Registration}. */
sealed interface EdgePoller permits Netpoller, OutsidePoller {
    /** Returns the cache of this poller's pollDesc structs. */
    PollCache cache();

    /** Registers a descriptor until its close. {@code pd} is a struct of this poller's cache. Returns 0, or an error number. */
    int registerForGood(int fd, long pd);

    /** Returns whether the poller's scheduler has ended, so that its registrations are useless. */
    boolean isClosed();
}
