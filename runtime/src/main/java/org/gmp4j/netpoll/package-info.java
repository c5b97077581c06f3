// SPDX-License-Identifier: Apache-2.0
/** The network poller of a scheduler, which also serves the JDK's sockets. */
@NullMarked
package org.gmp4j.netpoll;

import org.jspecify.annotations.NullMarked;
