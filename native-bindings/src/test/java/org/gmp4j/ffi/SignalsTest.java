// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.gmp4j.ffi.linux.linux_h;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

// Apart from the runner: a system call cannot be interrupted.
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SignalsTest {
    private static final String SOURCE =
            """
            #define _GNU_SOURCE
            #include <errno.h>
            #include <pthread.h>
            #include <signal.h>
            #include <stdint.h>
            #include <string.h>

            static volatile int count;

            static void handler(int signo) { (void)signo; count++; }

            /* 1: count signals; 0: ignore; -1: default. Without SA_RESTART, so that a futex wait ends with EINTR. */
            int64_t test_handle(int signo, int how)
            {
                struct sigaction act;
                memset(&act, 0, sizeof act);
                act.sa_handler = how > 0 ? handler : how == 0 ? SIG_IGN : SIG_DFL;
                sigaction(signo, &act, NULL);
                return (int64_t)(intptr_t)act.sa_handler;
            }

            int test_count(void) { return count; }

            int test_block(int signo)
            {
                sigset_t set;
                sigemptyset(&set);
                sigaddset(&set, signo);
                return pthread_sigmask(SIG_BLOCK, &set, NULL);
            }

            /* The value that came with a pending signal, -1 when none is pending. */
            int64_t test_take(int signo)
            {
                siginfo_t info;
                struct timespec none = {0, 0};
                sigset_t set;
                sigemptyset(&set);
                sigaddset(&set, signo);
                if (sigtimedwait(&set, &info, &none) < 0)
                    return -1;
                return info.si_code == SI_QUEUE ? (int64_t)(intptr_t)info.si_value.sival_ptr : -2;
            }
            """;

    @TempDir
    static Path dir;

    private static MethodHandle handle;
    private static MethodHandle count;
    private static MethodHandle block;
    private static MethodHandle take;

    @BeforeAll
    static void compile() throws Exception {
        Path library = Cc.library(dir, SOURCE);
        handle = link(library, "test_handle", JAVA_LONG, JAVA_INT, JAVA_INT);
        count = link(library, "test_count", JAVA_INT);
        block = link(library, "test_block", JAVA_INT, JAVA_INT);
        take = link(library, "test_take", JAVA_LONG, JAVA_INT);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle link(Path library, String name, MemoryLayout result, MemoryLayout... arguments) {
        return Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup(library, Arena.global()).findOrThrow(name),
                        FunctionDescriptor.of(result, arguments));
    }

    @AfterEach
    void restore() throws Throwable {
        long _ = (long) handle.invokeExact(Signals.SIGURG, -1);
    }

    @Test
    void theValueArrives() throws Throwable {
        FutureTask<Void> body = new FutureTask<>(() -> {
            try {
                int tid = OsThread.gettid();
                assertEquals(0, (int) block.invokeExact(Signals.SIGURG));
                // The default action would drop it at once: only a handler keeps a blocked one pending.
                long _ = (long) handle.invokeExact(Signals.SIGURG, 1);
                assertEquals(-1, (long) take.invokeExact(Signals.SIGURG));
                Signals.queue(tid, Signals.SIGURG, 0x7123_4567_89ab_cdefL);
                Signals.queue(tid, Signals.SIGURG, 5);
                assertEquals(0x7123_4567_89ab_cdefL, (long) take.invokeExact(Signals.SIGURG));
                assertEquals(-1, (long) take.invokeExact(Signals.SIGURG), "pending signals merge");
                Signals.send(tid, Signals.SIGURG);
                assertEquals(-2, (long) take.invokeExact(Signals.SIGURG));
                return null;
            } catch (Exception | Error e) {
                throw e;
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        });
        Thread.ofPlatform().start(body);
        body.get(20, TimeUnit.SECONDS);
    }

    @Test
    void anIgnoredSignalDoesNoHarm() throws Throwable {
        int before = (int) count.invokeExact();
        Signals.queue(OsThread.gettid(), Signals.SIGURG, 1);
        long _ = (long) handle.invokeExact(Signals.SIGURG, 0);
        Signals.queue(OsThread.gettid(), Signals.SIGURG, 1);
        assertEquals(before, (int) count.invokeExact());
    }

    @Test
    void itComesToTheThreadThatWasNamed() throws Throwable {
        long _ = (long) handle.invokeExact(Signals.SIGURG, 1);
        int before = (int) count.invokeExact();
        Signals.queue(OsThread.gettid(), Signals.SIGURG, 1);
        // A signal to oneself that is not blocked is delivered before the system call returns.
        assertEquals(before + 1, (int) count.invokeExact());
    }

    @Test
    void aSignalEndsAFutexWait() throws Throwable {
        long _ = (long) handle.invokeExact(Signals.SIGURG, 1);
        long word = Memory.map(4096);
        FutureTask<Integer> wait = new FutureTask<>(() -> Futex.await(word, 0));
        FutureTask<Integer> tid = new FutureTask<>(OsThread::gettid);
        Thread thread = Thread.ofPlatform().start(() -> {
            tid.run();
            wait.run();
        });
        while (!wait.isDone()) {
            try {
                Signals.queue(tid.get(), Signals.SIGURG, 1);
            } catch (NativeException e) {
                assertEquals(Errno.ESRCH, e.errno(), "the thread may have ended since");
            }
            Thread.sleep(1);
        }
        assertEquals(Errno.EINTR, wait.get());
        thread.join();
        Memory.unmap(word, 4096);
    }

    @Test
    void handlerOf() throws Throwable {
        assertEquals(Signals.SIG_DFL, Signals.handlerOf(Signals.SIGURG));
        long address = (long) handle.invokeExact(Signals.SIGURG, 1);
        assertEquals(address, Signals.handlerOf(Signals.SIGURG));
        address = (long) handle.invokeExact(Signals.SIGURG, 0);
        assertEquals(Signals.SIG_IGN, Signals.handlerOf(Signals.SIGURG));
        // The JVM owns this one.
        assertTrue(Signals.handlerOf(linux_h.SIGUSR2) > Signals.SIG_IGN);
        assertEquals(
                "sigaction(9999) failed: EINVAL (Invalid argument)",
                assertThrows(NativeException.class, () -> Signals.handlerOf(9999)).getMessage());
    }

    @Test
    void errorsNameTheCall() {
        // Beyond the largest id that a kernel may hand out (2^22).
        int ended = 1 << 23;
        assertEquals(
                "rt_tgsigqueueinfo(8388608, signal 23) failed: ESRCH (No such process)",
                assertThrows(NativeException.class, () -> Signals.queue(ended, 23, 0)).getMessage());
        assertEquals(
                "tgkill(8388608, signal 0) failed: ESRCH (No such process)",
                assertThrows(NativeException.class, () -> Signals.send(ended, 0)).getMessage());
        assertEquals(
                Errno.EINVAL,
                assertThrows(NativeException.class, () -> Signals.queue(OsThread.gettid(), 999, 0))
                        .errno());
    }
}
