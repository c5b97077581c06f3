// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Test;

/** No descriptors are left: a call that wants one hears of it, others go on, and it is over when there are some again. */
class ExhaustedTest {
    @Test
    void descriptors() {
        Result r = new ChildJvm(ExhaustedProgram.class).run();
        assertEquals("""
                first true
                limit 0
                the warm-up has no pipe: Too many open files
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
}
