// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

import org.gmp4j.config.DebugVars.Deadlock;
import org.gmp4j.config.DebugVars.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

class DebugVarsTest {
    @ParameterizedTest
    @NullAndEmptySource
    @ValueSource(strings = {" ", ",", "schedtrace=0,scheddetail=0"})
    void off(String text) {
        assertEquals(DebugVars.OFF, DebugVars.parse(text));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "schedtrace=1000,scheddetail=1   | 1000 | true",
        " schedtrace = 5 , ,             | 5    | false",
        "scheddetail=1                   | 0    | true",
        "schedtrace=1,schedtrace=2       | 2    | false",
        "schedtrace=2147483647           | 2147483647 | false",
    })
    void parses(String text, int schedtrace, boolean scheddetail) {
        assertEquals(new DebugVars(schedtrace, scheddetail, 0, null, false, false, false, Level.SINGLE, false, false, "", -1,
                Deadlock.USUAL),
                DebugVars.parse(text));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "schedtrase=1          | the key \"schedtrase\" is unknown",
        "schedtrace=1,gctrace=1| the key \"gctrace\" is unknown",
        "=1                    | the key \"\" is unknown",
        "schedtrace            | schedtrace cannot be \"\", only a whole number from 0 to 2147483647",
        "schedtrace=           | schedtrace cannot be \"\", only a whole number from 0 to 2147483647",
        "schedtrace=-1         | schedtrace cannot be \"-1\", only a whole number from 0 to 2147483647",
        "schedtrace=2147483648 | schedtrace cannot be \"2147483648\", only a whole number from 0 to 2147483647",
        "schedtrace=1s         | schedtrace cannot be \"1s\", only a whole number from 0 to 2147483647",
        "scheddetail=2         | scheddetail cannot be \"2\", only a whole number from 0 to 1",
        "traceback=none        | traceback cannot be \"none\"",
        "deadlock=1            | deadlock cannot be \"1\"",
        "scheddetail=true      | scheddetail cannot be \"true\", only a whole number from 0 to 1",
    })
    void bad(String text, String what) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> DebugVars.parse(text));
        assertEquals("GMPDEBUG: " + what + "; known are schedtrace=MILLISECONDS, scheddetail=0 or 1, stall=MILLISECONDS, "
                + "metrics=PORT or HOST:PORT, "
                + "jmx=0 or 1, jfr=0 or 1, invariants=0 or 1, traceback=single, all, system or crash, asyncpreemptoff=0 or 1, "
                + "createsites=0 or 1, trace=FILE, dashboard=PORT, deadlock=show or strict, lockrank=0 or 1, "
                + "and checkptr=0 or 1.", e.getMessage());
    }

    @Test
    void theOthers() throws UnknownHostException {
        InetSocketAddress here = new InetSocketAddress(InetAddress.getLoopbackAddress(), 9464);
        assertEquals(new DebugVars(0, false, 0, here, true, true, true, Level.SYSTEM, true, false, "", 8080, Deadlock.USUAL),
                DebugVars.parse("metrics=9464,jmx=1,jfr=1,invariants=1,traceback=system,asyncpreemptoff=1,dashboard=8080"));
        assertEquals(new InetSocketAddress(InetAddress.getByName("0.0.0.0"), 0), DebugVars.parse("metrics=0.0.0.0:0").metrics());
        assertEquals(new InetSocketAddress(InetAddress.getByName("::1"), 7), DebugVars.parse("metrics=[::1]:7").metrics());
        assertEquals(Level.CRASH, DebugVars.parse("traceback=all,traceback=crash").traceback());
        assertEquals(Deadlock.SHOW, DebugVars.parse("deadlock=strict,deadlock=show").deadlock());
        assertEquals(DebugVars.OFF.withStrictDeadlocks(), DebugVars.parse("deadlock=strict"));
        assertEquals(DebugVars.OFF, DebugVars.parse("lockrank=1")); // The tests run with -Dgmp.lockrank=true.
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "metrics=          | metrics cannot be \"\", only a port from 0 to 65535, or a host, a colon and a port",
        "metrics=65536     | metrics cannot be \"65536\", only a port from 0 to 65535, or a host, a colon and a port",
        "metrics=host:     | metrics cannot be \"host:\", only a port from 0 to 65535, or a host, a colon and a port",
        "metrics=a..b:9464 | metrics names a host that is not known, \"a..b\"",
        "checkptr=1        | checkptr holds for the whole process: set it by the variable GMPDEBUG or by -Dgmp.debug=checkptr=1",
    })
    void badInOtherWays(String text, String what) {
        assertEquals("GMPDEBUG: " + what, assertThrows(IllegalArgumentException.class, () -> DebugVars.parse(text)).getMessage());
    }
}
