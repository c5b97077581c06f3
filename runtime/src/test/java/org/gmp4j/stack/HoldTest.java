// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import jdk.internal.vm.ThreadDumper;
import org.gmp4j.Chan;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link DumpHold}: what a thread dump looks at does not move. That the JVM does not crash: {@code ThreadDumpTest}. */
class HoldTest {
    private static final int MANY = 200;
    private static final long A_WHILE = 20_000_000;
    private static final int MORE_FRAMES_THAN_A_TRACE = 1_100;
    private static final int DEEP_WRITES = 5;

    private static boolean isLeaving(Thread carrier) {
        return Stream.of(carrier.getStackTrace()).anyMatch(e -> e.getMethodName().equals("leave"));
    }

    /** A goroutine that yields while it is held stays on its thread until it is released. */
    @Test
    void aMountedOneStays() {
        assumeTrue(JdkThreads.VERSION.dumpsNeedHolds);
        try (TestGmp gmp = TestGmp.procs(1)) {
            AtomicReference<Stack> stack = new AtomicReference<>();
            AtomicBoolean goOn = new AtomicBoolean();
            AtomicBoolean back = new AtomicBoolean();
            gmp.go(() -> {
                stack.set(Stack.current());
                while (!goOn.get()) {
                    Thread.onSpinWait();
                }
                Thread.yield();
                back.set(true);
            });
            while (stack.get() == null) {
                Thread.onSpinWait();
            }
            Stack st = stack.get();
            DumpHold h = null;
            while (h == null) {
                h = DumpHold.take(st);
            }
            Thread carrier = st.host.thread;
            goOn.set(true);
            while (!back.get() && !isLeaving(carrier)) {
                Thread.onSpinWait();
            }
            LockSupport.parkNanos(A_WHILE);
            assertFalse(back.get(), "it has gone on");
            assertSame(carrier, JdkThreads.carrier(st.thread));
            h.release();
            while (!back.get()) {
                Thread.onSpinWait();
            }
            gmp.check();
        }
    }

    /** Returns the stacks of {@link #MANY} goroutines that wait for an element. */
    private static Set<Stack> receivers(TestGmp gmp, Chan<Integer> c) {
        Set<Stack> waiting = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < MANY; i++) {
            gmp.go(() -> {
                waiting.add(Stack.current());
                c.recv();
            });
        }
        while (waiting.size() < MANY || waiting.stream().anyMatch(st -> st.thread.getState() != Thread.State.WAITING)) {
            Thread.onSpinWait();
        }
        return waiting;
    }

    private static boolean anyHeld(Set<Stack> waiting) {
        return waiting.stream().anyMatch(st -> (JdkState.state(st.thread) & JdkState.SUSPENDED) != 0);
    }

    /** A goroutine is held until the dump asks for the next: still, as what was read of it is written. */
    @Test
    void heldUntilTheNext() throws IOException {
        assumeTrue(JdkThreads.VERSION.dumpsNeedHolds);
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            Set<Stack> waiting = receivers(gmp, c);
            AtomicBoolean held = new AtomicBoolean();
            ThreadDumper.dumpThreadsToJson(new OutputStream() {
                @Override
                public void write(int b) {
                    write(null, 0, 1);
                }

                @Override
                public void write(byte[] b, int from, int n) {
                    if (anyHeld(waiting)) {
                        held.set(true);
                    }
                }
            });
            boolean still = anyHeld(waiting);
            c.close();
            assertTrue(held.get(), "never at a write");
            assertFalse(still, "after the end");
            gmp.check();
        }
    }

    /** The thread that ends long holds does so also after a write whose many frames hid the dump from its stack traces. */
    @Test
    void hiddenByDeepWrites() throws IOException {
        assumeTrue(JdkThreads.VERSION.dumpsNeedHolds);
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            Set<Stack> waiting = receivers(gmp, c);
            AtomicInteger holds = new AtomicInteger();
            ThreadDumper.dumpThreadsToJson(new OutputStream() {
                @Override
                public void write(int b) {
                    write(null, 0, 1);
                }

                @Override
                public void write(byte[] b, int from, int n) {
                    if (anyHeld(waiting) && holds.incrementAndGet() <= DEEP_WRITES) {
                        deep(MORE_FRAMES_THAN_A_TRACE, () -> {
                            while (anyHeld(waiting) || watcher().getState() != Thread.State.WAITING) {
                                Thread.onSpinWait();
                            }
                        });
                    }
                }
            });
            c.close();
            assertTrue(holds.get() >= DEEP_WRITES, () -> "held at " + holds + " writes");
            gmp.check();
        }
    }

    private static void deep(int frames, Runnable last) {
        if (frames == 0) {
            last.run();
        } else {
            deep(frames - 1, last);
        }
    }

    private static Thread watcher() {
        return Thread.getAllStackTraces().keySet().stream().filter(t -> t.getName().equals("gmp-dump")).findAny().orElseThrow();
    }
}
