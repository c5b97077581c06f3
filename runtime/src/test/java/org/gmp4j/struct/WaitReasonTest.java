// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class WaitReasonTest {
    /** The block profile shows connections at which goroutines wait for each other, but a bubble's clock stands still meanwhile. */
    @Test
    void aTurnAtAConnection() {
        assertTrue(WaitReason.FD_SEMACQUIRE.profiled());
        assertFalse(WaitReason.FD_SEMACQUIRE.durable());
        assertEquals(WaitReason.SEMACQUIRE.text(), WaitReason.FD_SEMACQUIRE.text());
    }
}
