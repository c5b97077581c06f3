// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import org.gmp4j.Gmp;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.ffi.StackSpace;
import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.Test;

/** Our own ways to what the JDK's foreign linker and its layouts give. */
class JdkForeignTest {
    private static final int CALLS = 100_000; // The compilers get to it.

    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            try (Gmp gmp = Gmp.builder().build()) {
                gmp.run(() -> System.out.println("ran"));
            }
        }
    }

    @Test
    void startsWithoutTheLinker() throws Exception {
        assumeTrue("amd64".equals(System.getProperty("os.arch")));
        ChildJvm.Result r = new ChildJvm(Program.class).with("-Xlog:class+load").run();
        assertEquals(0, r.exit(), r::toString);
        assertTrue(r.out().contains("\nran\n"), r::toString);
        assertTrue(r.out().contains(" java.lang.invoke.GmpForeign"), r::toString);
        assertFalse(r.out().contains(" jdk.internal.foreign.abi.AbstractLinker "), r::toString);
        assertFalse(r.out().contains(" jdk.internal.foreign.LayoutPath "), r::toString);
    }

    /** A processor that it does not know; only the name is another. */
    @Test
    void doesWithoutThatElsewhere() throws Exception {
        assumeTrue("amd64".equals(System.getProperty("os.arch")));
        ChildJvm.Result r = new ChildJvm(Program.class).with("-Xlog:class+load", "-Dos.arch=x86_64").run();
        assertEquals(0, r.exit(), r::toString);
        assertTrue(r.out().contains("\nran\n"), r::toString);
        assertFalse(r.out().contains(" java.lang.invoke.GmpForeign"), r::toString);
        assertTrue(r.out().contains(" jdk.internal.foreign.abi.AbstractLinker "), r::toString);
    }

    @Test
    void handlesAreThoseOfTheLayouts() {
        JdkThreads.check();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment s = arena.allocate(16);
            for (ValueLayout l : new ValueLayout[] {ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG}) {
                VarHandle theirs = l.varHandle();
                VarHandle ours = JdkThreads.handle(l);
                assertEquals(theirs.getClass(), ours.getClass());
                assertEquals(theirs.coordinateTypes(), ours.coordinateTypes());
                assertEquals(theirs.varType(), ours.varType());
                assertEquals(theirs.hasInvokeExactBehavior(), ours.hasInvokeExactBehavior());
            }
            VarHandle ints = JdkThreads.handle(ValueLayout.JAVA_INT);
            ints.set(s, 4L, 0x01020304);
            assertEquals(0x01020304, (int) ValueLayout.JAVA_INT.varHandle().get(s, 4L));
            assertThrows(IndexOutOfBoundsException.class, () -> ints.set(s, 16L, 1));
            assertThrows(IllegalArgumentException.class, () -> ints.setVolatile(s, 2L, 1));
            VarHandle longs = JdkThreads.handle(ValueLayout.JAVA_LONG);
            assertTrue(longs.compareAndSet(s, 8L, 0L, -2L));
            assertEquals(-2L, (long) ValueLayout.JAVA_LONG.varHandle().getVolatile(s, 8L));
        }
    }

    @Test
    void leavesReturnWhatTheyShould() {
        JdkThreads.check();
        int pid = OsThread.getpid();
        long left = StackSpace.left();
        for (int i = 0; i < CALLS; i++) {
            assertEquals(pid, OsThread.getpid());
            assertTrue(Math.abs(StackSpace.left() - left) < 64 << 10);
        }
        assertEquals(ProcessHandle.current().pid(), pid);
    }
}
