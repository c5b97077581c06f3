// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.points;

/** A piece of work of about a fifth of a millisecond that calls nothing of the runtime. */
public interface Kernel {
    /** Does it once; the result keeps the compiler from dropping it, and is the same each time. */
    long run();
}
