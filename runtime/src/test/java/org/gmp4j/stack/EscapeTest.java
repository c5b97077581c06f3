// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What comes out of the JDK's code at the end of a virtual thread ends that thread, and nothing of the host that ran it. */
class EscapeTest {
    private static final class Own extends Stack {
        private final List<Throwable> escaped = new ArrayList<>();

        Own(Runnable task) {
            super(task);
        }

        @Override
        public void run() {
            throw new AssertionError("not pooled");
        }

        @Override
        public void execute(Runnable task) {
            throw new AssertionError("never started");
        }

        @Override
        protected @Nullable Timeout timeout() {
            return null;
        }

        @Override
        public void timedOut(int wait) {
            throw new AssertionError("has no limit of time");
        }

        @Override
        protected void escaped(Throwable t) {
            escaped.add(t);
        }
    }

    @Test
    void aHandlerThatThrows() throws InterruptedException {
        RuntimeException thrown = new RuntimeException("handler");
        Own fails = new Own(() -> {
            throw new IllegalStateException("task");
        });
        fails.thread.setUncaughtExceptionHandler((t, e) -> {
            throw thrown;
        });
        int[] ran = new int[1];
        Own next = new Own(() -> ran[0]++);
        Host host = new Host() { };
        List<Boolean> ended = new ArrayList<>();
        Thread t = new Host.HostThread(host, () -> {
            for (Own st : List.of(fails, next)) {
                st.host = host;
                JdkState.toRunning(st);
                ended.add(JdkThreads.run(st));
                ended.add(Thread.currentThread() == host.thread);
            }
        }, "host", 0);
        t.start();
        t.join();
        assertEquals(List.of(true, true, true, true), ended);
        assertEquals(1, fails.escaped.size());
        assertSame(thrown, fails.escaped.get(0));
        assertTrue(next.escaped.isEmpty());
        assertEquals(1, ran[0]);
    }
}
