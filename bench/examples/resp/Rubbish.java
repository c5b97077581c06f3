// SPDX-License-Identifier: Apache-2.0
package resp;

/** A request that the protocol does not allow: its connection is told why, and closed. */
final class Rubbish extends Exception {
    private static final long serialVersionUID = 1;

    Rubbish(String message) {
        super(message, null, false, false);
    }
}
