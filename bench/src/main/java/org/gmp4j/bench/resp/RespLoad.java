// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.resp;

/**
 * What is asked.
 *
 * @param pipeline requests that a connection sends before it waits for answers
 * @param test redis-benchmark's name of the command
 */
record RespLoad(int pipeline, String test) {
}
