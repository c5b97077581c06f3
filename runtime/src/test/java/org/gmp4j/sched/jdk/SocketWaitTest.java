// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.jdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** A goroutine that waits for a socket of the JDK's with its M. */
class SocketWaitTest {
    private static final int MOST = 100;

    private static boolean until(BooleanSupplier what) throws InterruptedException {
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10); !what.getAsBoolean();) {
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(1);
        }
        return true;
    }

    private static int read(Socket from) {
        try {
            return from.getInputStream().read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** While it is pinned an M sleeps in the poller, on the only P; unpinned it waits as others do. */
    @Test
    void theNetworkIsWatched() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1);
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket writer = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket reader = server.accept()) {
            Scheduler s = gmp.scheduler();
            AtomicReference<Thread> thread = new AtomicReference<>();
            CountDownLatch done = new CountDownLatch(1);
            AtomicInteger got = new AtomicInteger();
            AtomicBoolean pinning = new AtomicBoolean(true);
            boolean[] pinned = new boolean[2];
            gmp.go(() -> {
                thread.set(Thread.currentThread());
                while (read(reader) == 'a') { // Until our pollers are in the place of the JDK's, which the writer sees.
                    continue;
                }
                JdkThreads.pin();
                try {
                    for (int i = 0; read(reader) != 'z'; i++) {
                        pinned[0] = GStack.current().waitsPinned;
                        got.set(i + 1);
                    }
                } finally {
                    JdkThreads.unpin();
                }
                pinning.set(false);
                assertEquals('c', read(reader));
                pinned[1] = GStack.current().waitsPinned;
                done.countDown();
            });
            BooleanSupplier waits = () -> s.netpoll().anyWaiters(s) && thread.get().getState() == Thread.State.WAITING;
            for (boolean ours = false; !ours;) {
                assertTrue(until(() -> thread.get() != null && thread.get().getState() == Thread.State.WAITING));
                ours = s.netpoll().anyWaiters(s);
                writer.getOutputStream().write(ours ? 'b' : 'a');
            }
            boolean known = false;
            for (int i = 0; i < MOST && !known; i++) { // A poller may find it ready before it has parked.
                int before = i;
                assertTrue(until(() -> got.get() == before && waits.getAsBoolean()));
                known = pinned[0];
                assertTrue(!known || until(() -> Schedt.LASTPOLL.getVolatile(s.sched) == 0), "nobody polls");
                writer.getOutputStream().write(known ? 'z' : i % 10);
            }
            assertTrue(known);
            assertTrue(until(() -> !pinning.get() && waits.getAsBoolean()));
            writer.getOutputStream().write('c');
            done.await();
            assertFalse(pinned[1]);
        }
    }
}
