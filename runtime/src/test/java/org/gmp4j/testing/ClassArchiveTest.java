// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;

import org.gmp4j.Gmp;
import org.junit.jupiter.api.Test;

class ClassArchiveTest {
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            Gmp.main(() -> System.out.println("done"));
        }
    }

    @Test
    void aChildHasItsClassesFromTheArchive() throws IOException, InterruptedException {
        assumeTrue(ClassArchive.WANTED);
        while (ClassArchive.get() == null) { // Another JVM of tests makes it at this time.
            assertFalse(ClassArchive.couldNotBeMade(), "see target/child-classes/log");
            Thread.sleep(100);
        }
        ChildJvm.Result r = new ChildJvm(Program.class).with("-Xlog:class+load").run();
        assertEquals(0, r.exit(), r::toString);
        assertTrue(r.out().contains("done\n"), r::toString);
        assertTrue(r.out().contains(" org.gmp4j.sched.Schedule source: shared objects file (top)"), r::toString);
        assertTrue(r.out().contains(Program.class.getName() + " source: shared objects file (top)"), r::toString);
    }
}
