package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

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
        assertEquals(new DebugVars(schedtrace, scheddetail, 0, ""), DebugVars.parse(text));
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
        "scheddetail=true      | scheddetail cannot be \"true\", only a whole number from 0 to 1",
    })
    void bad(String text, String what) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> DebugVars.parse(text));
        assertEquals("GMPDEBUG: " + what + "; known are schedtrace=MILLISECONDS, scheddetail=0 or 1, stall=MILLISECONDS, and trace=FILE.",
                e.getMessage());
    }
}
