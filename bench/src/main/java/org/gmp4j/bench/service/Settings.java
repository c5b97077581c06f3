// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

/**
 * How it is measured.
 *
 * @param connections of the client
 * @param warmup seconds before those that count
 * @param seconds of each run
 * @param rounds of turns
 * @param points the agent's option
 * @param burn whether other processes want the CPUs too
 * @param command as it was given
 */
record Settings(int connections, double warmup, double seconds, int rounds, String points, boolean burn, String command) {
}
