// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A heap that is full to the last byte loses no descriptor and no waiter. {@code -Dgmp.heap.seconds} for longer runs. */
class FullHeapNetTest {
    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"Serial", "G1"})
    void whileConnectionsComeAndGo(String collector) {
        Result r = new ChildJvm(FullHeapNetProgram.class).with("-Xmx48m", "-XX:+Use" + collector + "GC")
                .run(System.getProperty("gmp.heap.seconds", "1"));
        assertEquals("lost false, left []\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
