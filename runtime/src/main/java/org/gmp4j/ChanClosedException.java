// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

/**
 * Somebody sends on a channel that is closed, or closes it again; on threads of all kinds, in a bubble or not, whatever interrupts come.
 * The message is Go's.
 */
public final class ChanClosedException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    /** With Go's text. */
    ChanClosedException(String text) {
        super(text);
    }
}
