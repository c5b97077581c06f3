// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.affinity;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.StealOrder;

/** What is compared: where threads run, and in which order they steal. */
record Variant(Affinity affinity, StealOrder order) {
    @Override
    public String toString() {
        return affinity + " " + order;
    }
}
