// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

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
 * The state in which threads begin. Ms begin with the process's CPUs, scheduling policy and signal mask, whichever thread starts them
 * ({@code startTemplateThread}, {@code newmHandoff}). Threads and processes that goroutines start do not inherit the settings of Ms: CPUs,
 * timer slack, an unblocked signal.
 *
 * <p>A new M first sets this state itself, which is cheaper than the two thread switches of a start by another thread. But it cannot undo
 * namespaces, credentials or a seccomp filter. It can undo a higher nice value only with the right to do so. So if the starting thread may
 * have such settings, a template thread starts the M instead. An M may have them if a goroutine was ever locked to it. A foreign thread may
 * have them if it does not have the process's CPUs and policy. (Go does not check a foreign thread: its template thread starts all Ms that
 * cgo calls need.) The template thread is made before a goroutine first locks a thread. Until then foreign threads start Ms themselves.
 */
public final class CleanStart {
    private static final int TIMER_SLACK_NANOS = 1; // The default of 50 µs would be added to every timed sleep of an M.

    /** The template thread ends at most this long after the last scheduler. */
    private static final long UNUSED_NANOS = 1_000_000_000;

    /** {@code -Dgmp.start=jdk}: the JDK's own functions start threads and processes, which then inherit the CPUs of Ms. */
    private static final boolean BY_JDK = "jdk".equals(System.getProperty("gmp.start"));

    // LOCK admits one request at a time.
    private static final long LOCK = Memory.map(3 * Mem.LINE);
    private static final long REQUEST = LOCK + Mem.LINE;
    private static final long DONE = REQUEST + Mem.LINE;
    /** The thread to start. Written by the requester before it wakes REQUEST. */
    private static @Nullable HostThread wanted;
    /** The reason why the thread did not start, or null. Written by the template thread before it wakes DONE. */
    private static @Nullable Throwable failure;
    /** Whether there is a template thread. Written under the class's monitor. */
    private static volatile boolean template;
    /** Whether {@link #hook} has tried to install the hook. The class's monitor guards this field and the next two. */
    private static boolean hooked;
    private static boolean hookFailed;
    private static boolean failurePrinted;

    private CleanStart() {
    }

    /** Sets the process's state on a new thread of the runtime, which calls it before anything else. */
    public static void begin() {
        boolean _ = Inheritance.begin(PreemptSignal.signal(), TIMER_SLACK_NANOS); // If it fails, the thread keeps the state that it has.
    }

    /**
     * Ensures that threads and processes which Ms start do not inherit the settings of Ms. Called before there are Ms; done once in a
     * process. If it fails and Ms are to be placed on CPUs, prints a line on stderr. The timer slack alone is not worth a line.
     */
    public static synchronized void hook(boolean placed) {
        if (!hooked && !BY_JDK) {
            hooked = true;
            hookFailed = !Inheritance.hook();
        }
        if (hookFailed && placed && !failurePrinted) {
            failurePrinted = true;
            Stderr.print("gmp4j: this JVM starts threads in a way that gmp4j does not know; what goroutines start"
                    + " inherits the CPU of its M\n");
        }
    }

    /**
     * Starts the template thread if there is none. Called before the calling goroutine is locked to its thread.
     *
     * @throws OutOfMemoryError when there is no template thread and none can be started
     */
    public static void prepareForLock() {
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
            Thread.onSpinWait(); // The thread is still useful, because the Ms that it starts also call begin.
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
     * Returns whether no scheduler is left. Then the template thread ends, because it would keep the runtime's class loader reachable. A
     * thread that read {@code template} as true before this method clears it belongs to a scheduler, which the second check finds. (An M
     * that reads {@code template} between the two checks starts the new M itself.)
     */
    private static synchronized boolean isUnused() {
        if (Scheduler.live().length == 0) { // Allocates nothing, because this thread must not fail.
            template = false;
            template = Scheduler.live().length != 0;
        }
        return !template;
    }

    /** Starts an M's thread, or has the template thread start it. Throws the errors of {@link Thread#start}. */
    public static void start(HostThread thread) {
        if (!template || isClean()) {
            thread.start();
            return;
        }
        RuntimeMutex.lock(LOCK, LockRank.START);
        wanted = thread;
        Note.wakeup(REQUEST);
        Note.sleep(DONE); // Blocking is safe: the template thread waits for no lock that this thread holds.
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

    /** Wakes the template thread without a request. */
    public static void wakeTemplate() {
        if (template) {
            Futex.wake(REQUEST, 1);
        }
    }

    private static boolean isClean() {
        Machine m = Machine.of();
        return m == null ? Inheritance.isPlain() : !m.wasLocked;
    }
}
