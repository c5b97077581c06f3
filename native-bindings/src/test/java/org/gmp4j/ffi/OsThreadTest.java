// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.ThrowingSupplier;

class OsThreadTest {
    /** On a thread of its own: what is set here must not stay with the test's runner. */
    private static <T> T onFreshThread(ThrowingSupplier<T> body) throws Exception {
        FutureTask<T> task = new FutureTask<>(() -> {
            try {
                return body.get();
            } catch (Exception | Error e) {
                throw e;
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        });
        Thread.ofPlatform().start(task);
        return task.get();
    }

    @Test
    void gettid() throws Exception {
        String self = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
        assertEquals(self, Integer.toString(OsThread.gettid()));
        assertTrue(onFreshThread(OsThread::gettid) != OsThread.gettid());
    }

    @Test
    void timerSlack() throws Exception {
        assertEquals(1, onFreshThread(() -> {
            OsThread.setTimerSlack(1);
            return OsThread.timerSlack();
        }));
    }

    @Test
    void name() throws Exception {
        assertEquals("gmp-a-long-name", onFreshThread(() -> {
            OsThread.setName("gmp-a-long-name-cut");
            return Files.readString(Path.of("/proc/thread-self/comm")).strip();
        }));
    }

    @Test
    void scheduler() throws Exception {
        onFreshThread(() -> {
            assertEquals(OsThread.SCHED_OTHER, OsThread.scheduler(0));
            OsThread.setScheduler(0, OsThread.SCHED_BATCH, 0);
            assertEquals(OsThread.SCHED_BATCH, OsThread.scheduler(OsThread.gettid()));
            OsThread.setScheduler(OsThread.gettid(), OsThread.SCHED_OTHER, 0);
            assertEquals(OsThread.SCHED_OTHER, OsThread.scheduler(0));
            return null;
        });
        assertEquals(
                "sched_setscheduler(0, policy 1, priority 0) failed: EINVAL (Invalid argument)",
                assertThrows(NativeException.class, () -> OsThread.setScheduler(0, OsThread.SCHED_FIFO, 0))
                        .getMessage());
        assertEquals(
                "sched_getscheduler(8388608) failed: ESRCH (No such process)",
                assertThrows(NativeException.class, () -> OsThread.scheduler(1 << 23)).getMessage());
    }

    /** Exact while the thread runs, and of a thread that is not the caller. */
    @Test
    void cpuTime() throws InterruptedException {
        int self = OsThread.gettid();
        long before = OsThread.cpuNanos(self);
        Thread other = Thread.ofPlatform().start(() -> {
            long t = OsThread.cpuNanos(self);
            while (OsThread.cpuNanos(self) == t) {
                Thread.onSpinWait();
            }
        });
        while (other.isAlive()) {
            Thread.onSpinWait();
        }
        other.join();
        long wall = System.nanoTime();
        long now = OsThread.cpuNanos(self);
        while (OsThread.cpuNanos(self) < now + 1_000_000) {
            Thread.onSpinWait();
        }
        assertTrue(now > before);
        assertTrue(System.nanoTime() - wall >= 1_000_000, "more CPU time than time");
        assertEquals(-Errno.EINVAL, OsThread.cpuNanos(1 << 23));
    }

    @Test
    void state() throws InterruptedException {
        AtomicInteger tid = new AtomicInteger();
        Thread sleeper = Thread.ofPlatform().daemon().name(") R (").start(() -> {
            OsThread.setName(") R (");
            tid.set(OsThread.gettid());
            LockSupport.park();
        });
        while (tid.get() == 0 || OsThread.state(tid.get()) != 'S') {
            Thread.onSpinWait();
        }
        assertEquals('R', OsThread.state(OsThread.gettid()));
        LockSupport.unpark(sleeper);
        sleeper.join();
        while (OsThread.state(tid.get()) > 0) { // Java's end of a thread is a little before the kernel's.
            Thread.onSpinWait();
        }
        assertEquals(-Errno.ENOENT, OsThread.state(1 << 23));
    }
}
