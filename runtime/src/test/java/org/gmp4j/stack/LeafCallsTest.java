// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.List;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.Test;

/** {@link LeafCalls}. That calls by leaves pass arguments and results is tested by all tests of the bindings' users. */
class LeafCallsTest {
    private static final String LINKER = "jdk.internal.foreign.abi.DowncallLinker ";

    /** Prints what a goroutine's calls of C functions return: one that sleeps, and some that return at once. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            Chan<Integer> first = Chan.make(1); // Its struct is off-heap, and there is no scheduler.
            first.send(1);
            try (Gmp gmp = Gmp.builder().build()) {
                gmp.run(() -> Go.sleep(Duration.ofMillis(20)));
                gmp.run(() -> {
                    boolean alive = OsThread.state(OsThread.gettid()) == 'R';
                    System.out.println(alive + " " + (OsThread.getpid() == ProcessHandle.current().pid()));
                });
            }
        }
    }

    private static ChildJvm.Result run(String... flags) {
        ChildJvm.Result r = new ChildJvm(Program.class).env("GMPMAXPROCS", "").with("-Xlog:class+load:stderr").with(flags).run();
        assertEquals("true true\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
        return r;
    }

    /** Nor are segments and layouts, for which the JDK loads more classes than for the linker, nor the classes of points. */
    @Test
    void theLinkerIsNotUsed() {
        assumeTrue("amd64".equals(System.getProperty("os.arch")), "leaves are unknown here");
        String loaded = run().err();
        for (String name : List.of(LINKER, "java.lang.foreign.MemorySegment ", "java.lang.foreign.ValueLayout ",
                "org.gmp4j.agent.ClassSites ")) {
            assertTrue(!loaded.contains(name), name);
        }
    }

    @Test
    void elsewhereTheLinkerMakesTheHandles() {
        assertTrue(run("-Dgmp.calls=linker").err().contains(LINKER));
    }
}
