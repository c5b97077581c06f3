// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

/** What {@link HttpLoad} tells of its requests, on its own thread; times are by nanoTime. */
interface Answers {
    /** Notes that the client has sent a request that was due. */
    void sent(long due, long now);

    /** Notes that a request was answered. */
    void answered(long due, long now, int status, long length);

    /** Notes that a request was not answered: its connection broke or could not be opened, or no answer came. */
    void broken(long due, long now);
}
