// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No descriptors are left: a call that wants one hears of it, others go on, and it is over when there are some again. */
class ExhaustedTest {
    @Test
    void descriptors() {
        Result r = new ChildJvm(ExhaustedProgram.class).plain().run();
        assertEquals("""
                first true
                limit 0
                dial ExhaustedException EMFILE (Too many open files)
                listen ExhaustedException EMFILE (Too many open files)
                accept ExhaustedException EMFILE (Too many open files)
                others true
                limit 0
                accepted true
                served 9
                closed
                """, r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** Nothing of the JDK's is initialised before its time where it would fail, and never work again: the pollers are changed later. */
    @ParameterizedTest
    @ValueSource(strings = {"1", "3", "20"})
    void whenAnAddressIsFirstUsed(String descriptors) {
        Result r = new ChildJvm(ExhaustedProgram.class).plain().run("early", descriptors);
        assertEquals("""
                limit 0
                initialized false
                limit 0
                answer 5
                by our poller
                """, r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** The JDK's sockets are in the scheduler as soon as there is a descriptor for its poller. */
    @Test
    void aPollerComesLater() {
        Result r = new ChildJvm(ExhaustedProgram.class).plain().run("later");
        assertEquals("""
                limit 0
                read 5, by our poller 0
                limit 0
                by our poller
                """, r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** A read that has to wait needs no descriptor. */
    @Test
    void aFirstWait() {
        Result r = new ChildJvm(ExhaustedProgram.class).plain().run("first");
        assertEquals("""
                limit 0
                read 1
                """, r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
