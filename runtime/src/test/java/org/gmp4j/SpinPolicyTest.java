// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SpinPolicyTest {
    @ParameterizedTest
    @CsvSource({
        "go, 0, go",
        "busy, 9223372036854775807, busy",
        "BUSY, 9223372036854775807, busy",
        "latency, 1000000, latency:1ms",
        "latency:50us, 50000, latency:50us",
        "latency:1ns, 1, latency:1ns",
        "latency:1500us, 1500000, latency:1500us",
        "latency:2000ms, 2000000000, latency:2s",
        "latency:3600s, 3600000000000, latency:3600s",
    })
    void parses(String text, long nanos, String printed) {
        SpinPolicy policy = SpinPolicy.parse(text);
        assertEquals(nanos, policy.spinNanos());
        assertEquals(printed, policy.toString());
        assertEquals(policy, SpinPolicy.parse(printed));
        assertEquals(policy.hashCode(), SpinPolicy.parse(printed).hashCode());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "fast", "latency:", "latency:us", "latency:5", "latency:5m", "latency:-5us",
        "latency:1.5ms", "latency: 5us", "go:5us"})
    void unknown(String text) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> SpinPolicy.parse(text));
        assertEquals("spin policy \"" + text + "\" is unknown: use go, busy, latency, or latency with a duration"
                + " in ns, us, ms or s: latency:50us.", e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"0us", "3601s", "3600000000001ns", "99999999999999999999999s"})
    void parsedDurationOutOfRange(String duration) {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> SpinPolicy.parse("latency:" + duration));
        assertEquals("spin duration " + duration + " must be above 0 and at most 1 hour.", e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT1H0.000000001S", "PT9999999999H"})
    void durationOutOfRange(Duration duration) {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> SpinPolicy.latency(duration));
        assertTrue(e.getMessage().endsWith(" must be above 0 and at most 1 hour."), e.getMessage());
    }

    @Test
    void factories() {
        assertEquals(0, SpinPolicy.go().spinNanos());
        assertEquals(Long.MAX_VALUE, SpinPolicy.busy().spinNanos());
        assertEquals(SpinPolicy.parse("latency"), SpinPolicy.latency(Duration.ofMillis(1)));
        assertEquals(Duration.ofHours(1).toNanos(), SpinPolicy.latency(Duration.ofHours(1)).spinNanos());
        assertNotEquals(SpinPolicy.go(), SpinPolicy.busy());
        assertThrows(NullPointerException.class, () -> SpinPolicy.latency(null));
    }
}
