// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.Test;

/**
 * A burst of connections on one P makes fewer than 20 Ms; when they are idle each end takes at most 2 KB, with its goroutine
 * but without the frames on its stack, of the heap and off it together. {@code -Dgmp.idle.connections=5000} for 10,000 ends.
 */
class IdleConnsTest {
    @Test
    void burst() {
        String connections = System.getProperty("gmp.idle.connections", "3000");
        ChildJvm.Result r = new ChildJvm(IdleConnsProgram.class).with("-XX:+UseSerialGC", "-Xmx400m").run(connections);
        assertEquals("few Ms\nlittle memory\nclosed\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
