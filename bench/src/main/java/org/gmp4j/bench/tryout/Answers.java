// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

/** What {@link HttpLoad} tells of its requests, on its own thread; times are by nanoTime. */
interface Answers {
    /** The client has got round to a request that was due. */
    void sent(long due, long now);

    /** A request was answered. */
    void answered(long due, long now, int status, long length);

    /** A request was not: its connection broke, or could not be opened, or nothing came in the end. */
    void broken(long due, long now);
}
