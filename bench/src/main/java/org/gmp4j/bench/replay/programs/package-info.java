// SPDX-License-Identifier: Apache-2.0
/** The programs of {@code gmp replay}. They are rewritten like the classes that they use. */
package org.gmp4j.bench.replay.programs;
