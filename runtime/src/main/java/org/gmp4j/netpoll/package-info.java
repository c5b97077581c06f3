// SPDX-License-Identifier: Apache-2.0
/** The network poller of a scheduler, and the JDK's sockets on it. */
@NullMarked
package org.gmp4j.netpoll;

import org.jspecify.annotations.NullMarked;
