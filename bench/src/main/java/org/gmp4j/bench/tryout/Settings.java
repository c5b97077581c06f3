// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.util.BitSet;
import java.util.List;

/**
 * How it is measured.
 *
 * @param rate requests a second
 * @param path of each request, from its slash on
 * @param headers of each request, without ends of lines
 * @param connections of the client
 * @param seconds how long the service is young, and how long the warm part is
 * @param warmup seconds until the warm part begins; 0 for none
 * @param saturate seconds of a closed loop at the end; 0 for none
 * @param turns how often each variant is started
 * @param port the service's, or 0
 * @param serverCpus on which CPUs it runs
 * @param clientCpus on which CPUs this JVM runs
 * @param service what starts it
 * @param command this command, as it was given
 */
record Settings(
        double rate,
        String path,
        List<String> headers,
        int connections,
        double seconds,
        double warmup,
        double saturate,
        int turns,
        int port,
        BitSet serverCpus,
        BitSet clientCpus,
        List<String> service,
        String command) {
    boolean hasWarm() {
        return warmup > 0;
    }

    boolean saturates() {
        return saturate > 0;
    }

    /** Seconds that the load of a turn lasts. */
    double load() {
        return (hasWarm() ? warmup + seconds : seconds) + saturate;
    }
}
