// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

/** To come. */
final class HtmlResults {
    private HtmlResults() {}

    static String write(Results results, PeersCommand.Settings settings) {
        return "";
    }
}
