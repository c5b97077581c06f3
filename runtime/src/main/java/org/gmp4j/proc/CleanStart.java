// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.ffi.Futex;
import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.Memory;
import org.gmp4j.lock.LockRank;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.RuntimeMutex;
import org.gmp4j.print.Stderr;
import org.gmp4j.stack.Host.HostThread;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.Mem;
import org.jspecify.annotations.Nullable;

/**
 * Ms begin with the process's CPUs, policy and signal mask, whichever thread starts them ({@code startTemplateThread},
 * {@code newmHandoff}); and threads and processes that goroutines start do not inherit what is set on Ms: CPUs, timer slack, an
 * unblocked signal.
 *
 * <p>An M sets the process's state itself, before anything else: that takes some microseconds, where a start by another thread takes
 * two more thread switches. It cannot undo everything, though: not a nice value without the right to raise it, nor
 * namespaces, credentials or a seccomp filter. So where the starting thread may have set such things, a template thread starts
 * the M instead. That is so on Ms that a goroutine was ever locked to, and on foreign threads that do not have the
 * process's CPUs and policy. The template thread is made when a goroutine first locks a thread, before it has the lock.
 * Until then a foreign thread starts Ms itself.
 *
 * <p>Differs from Go in that Go's template thread starts all Ms that cgo calls ask for; here foreign threads are inspected.
 */
final class CleanStart {
    private static final int TIMER_SLACK_NANOS = 1; // The usual 50 µs would be added to every timed sleep of an M.

    /** The template thread ends at most this long after the last scheduler. */
    private static final long UNUSED_NANOS = 1_000_000_000;

    /** {@code -Dgmp.start=jdk}: the JDK's own functions start threads and processes, which then inherit a placement. */
    private static final boolean BY_JDK = "jdk".equals(System.getProperty("gmp.start"));

    // One request at a time, under LOCK.
    private static final long LOCK = Memory.map(3 * Mem.LINE);
    private static final long REQUEST = LOCK + Mem.LINE;
    private static final long DONE = REQUEST + Mem.LINE;
    /** What to start: by the requester, before REQUEST. Why it did not start, or null: by the template, before DONE. */
    private static @Nullable HostThread wanted;
    private static @Nullable Throwable failure;
    /** Whether there is a template thread; written under the class's monitor. */
    private static volatile boolean template;
    /** Whether that was tried, and failed; and whether that was said. */
    private static boolean hooked;
    private static boolean unhooked;
    private static boolean told;

    private CleanStart() {
    }

    /** On a new thread of the runtime, first thing. */
    static void begin() {
        boolean _ = Inheritance.begin(Preempt.signal(), TIMER_SLACK_NANOS); // If that fails the thread runs all the same.
    }

    /**
     * Before there are Ms: sees to it that what they start does not inherit what is set on them. Done once in a process. When it
     * fails and Ms are to be placed on CPUs, a line on stderr says so; the timer slack alone is not worth one.
     */
    static synchronized void hook(boolean placed) {
        if (!hooked && !BY_JDK) {
            hooked = true;
            unhooked = !Inheritance.hook();
        }
        if (unhooked && placed && !told) {
            told = true;
            Stderr.print("gmp4j: this JVM starts threads in a way that gmp4j does not know; what goroutines start"
                    + " inherits the CPU of its M\n");
        }
    }

    /**
     * Before the calling goroutine is locked to its thread.
     *
     * @throws OutOfMemoryError when there is no template thread and none can be had
     */
    static void prepareForLock() {
        if (!template) {
            startTemplate();
        }
    }

    private static synchronized void startTemplate() {
        if (!template) {
            Thread t = new OwnThread(CleanStart::serve, "gmp-template");
            t.start();
            template = true;
        }
    }

    private static void serve() {
        try {
            begin();
        } catch (OutOfMemoryError e) {
            Thread.onSpinWait(); // If that fails it serves all the same: the Ms that it starts call begin themselves.
        }
        for (;;) {
            if (!Note.sleep(REQUEST, UNUSED_NANOS)) {
                if (isUnused()) {
                    return;
                }
                continue;
            }
            Note.clear(REQUEST);
            try {
                HostThread next = wanted;
                if (next != null) {
                    next.start();
                }
            } catch (Throwable t) {
                failure = t; // The requester throws it.
            }
            wanted = null;
            Note.wakeup(DONE);
        }
    }

    /**
     * Whether no scheduler is left, so that the template ends: it would keep our class loader reachable. Whoever saw the template
     * thread has a scheduler, which the second look finds. (An M that asks between the two looks starts the new M itself.)
     */
    private static synchronized boolean isUnused() {
        if (Scheduler.live().length == 0) { // Without an object: this thread must not fail.
            template = false;
            template = Scheduler.live().length != 0;
        }
        return !template;
    }

    /** Starts an M's thread; throws what {@link Thread#start} throws. */
    static void start(HostThread thread) {
        if (!template || isClean()) {
            thread.start();
            return;
        }
        RuntimeMutex.lock(LOCK, LockRank.START);
        wanted = thread;
        Note.wakeup(REQUEST);
        Note.sleep(DONE); // Blocks this thread, which is safe: the template waits for nothing that we hold.
        Note.clear(DONE);
        Throwable failed = failure;
        failure = null;
        RuntimeMutex.unlock(LOCK, LockRank.START);
        if (failed instanceof Error e) {
            throw e;
        } else if (failed != null) {
            throw new IllegalStateException(failed);
        }
    }

    /** Wakes the template thread as if by itself. */
    static void wakeTemplate() {
        if (template) {
            Futex.wake(REQUEST, 1);
        }
    }

    private static boolean isClean() {
        Machine m = Machine.of();
        return m == null ? Inheritance.isPlain() : !m.wasLocked;
    }
}
