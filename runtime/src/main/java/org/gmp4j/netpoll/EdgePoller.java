// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

/** Where descriptors are registered for good. */
sealed interface EdgePoller permits Netpoller, OutsidePoller {
    /** Its structs. */
    PollCache cache();

    /** Has a descriptor reported from now on, with a struct of its cache; 0, or an error number. */
    int registerForGood(int fd, long pd);

    /** Whether its scheduler has ended: what it knew of descriptors is over. */
    boolean isClosed();
}
