// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JdkThreadsTest {
    @ParameterizedTest
    @ValueSource(strings = {"24.0.2+12", "28-ea+18"})
    void anotherJdk(String version) {
        assertEquals("gmp4j needs JDK 25, 26 or 27, this is " + version + ": start the program with one of these",
                JdkVersion.otherThanOurs(Runtime.Version.parse(version)));
    }

    @Test
    void thisOne() {
        assertNull(JdkVersion.otherThanOurs(Runtime.version()));
        JdkThreads.check();
    }
}
