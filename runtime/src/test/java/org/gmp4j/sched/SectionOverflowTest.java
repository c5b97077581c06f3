// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each public operation with ever less stack left, down to nothing: it is done, or a StackOverflowError refuses it and nothing
 * has happened. From goroutines and plain threads, interpreted and compiled by either compiler, the first time and later, while
 * others use the same objects. Afterwards no lock is held, no goroutine is lost, all that was sent has been received.
 */
class SectionOverflowTest {
    private static final String INTERPRETED = "-Xint";
    private static final String MIXED = "-Xmixed";
    /** All that was called a hundred times, as it is after 10,000 by default. */
    private static final String COMPILED = "-XX:CompileThresholdScaling=0.01";

    @ParameterizedTest
    @CsvSource({"goroutine, 2", "thread, 2"})
    void operationsAreDoneOrRefused(String from, int rounds) {
        sweep(from, rounds, MIXED);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"goroutine", "thread"})
    void interpreted(String from) {
        sweep(from, 1, INTERPRETED);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"goroutine", "thread"})
    void compiled(String from) {
        sweep(from, 2, COMPILED, "-XX:TieredStopAtLevel=4", "-Dtest.warm=20");
    }

    @Test
    void theFirstTimeOfAll() {
        ChildJvm.Result r = new ChildJvm(FirstUseProgram.class).plain().run();
        assertEquals("""
                timeout true
                deadline true
                sockets true
                udp true
                group true
                flight true
                bubble true
                """, r.out(), r::toString);
        assertEquals("", r.err(), r::toString);
    }

    private static void sweep(String from, int rounds, String... options) {
        ChildJvm.Result r = new ChildJvm(OverflowProgram.class).plain().with("-Dgmp.lockrank=true", "-Dtest.rounds=" + rounds,
                "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline," + OverflowProgram.class.getName() + "::*")
                .with(options).run(from);
        assertEquals("ok", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
