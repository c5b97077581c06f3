// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.lang.invoke.VarHandle;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.lock.Note;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/** The state that Ms, sysmon and readers record for the thread that closes a scheduler. {@code Closing} has the steps of the close. */
public abstract class ClosingNotes {
    /** A permit for each M whose thread is about to end. */
    protected final Semaphore exited = new Semaphore(0);
    /** The number of threads that read the structs: see {@link #beginReading}. */
    protected final AtomicInteger readers = new AtomicInteger();
    /** A thread that has to end before the structs are recycled; null for none. */
    protected volatile @Nullable Thread before;
    /** The monitor at which the close waits until no goroutine is left. */
    protected final Object drained = new Object();
    private volatile boolean mayBeDrained;

    /** Records that a goroutine, perhaps the last, has ended while the scheduler is closing. Called by goexit0. */
    final void exitedWhileClosing(Scheduler s) {
        VarHandle.fullFence(); // If two goroutines end at once on two Ps, at least one of them must see the other's count.
        if (Gcount.gcount(s) == 0) {
            mayBeDrained = true;
            Note.ring(Schedt.sysmonnoteAddress(s.sched)); // Sysmon wakes the closing thread, because a notify may park its caller.
        }
    }

    /** Returns whether the last goroutine may have ended. Then a thread that may block has to call {@link #signalDrained}. */
    final boolean mayBeDrained() {
        return mayBeDrained;
    }

    /** Wakes the threads that wait for the last goroutine. Called by sysmon. */
    final void signalDrained() {
        if (!mayBeDrained) {
            return;
        }
        mayBeDrained = false;
        synchronized (drained) {
            drained.notifyAll();
        }
    }

    /**
     * Begins to read the structs, which are not recycled until {@link #endReading}. Called from any thread. The reader counts itself and
     * then reads whether the scheduler has stopped. The closing thread stops the scheduler and then reads the count. So the reader sees
     * that the scheduler has stopped, or the closing thread sees the reader's count.
     *
     * @return false when the scheduler has ended; then the caller must neither read nor call endReading
     */
    final boolean beginReading(Scheduler s) {
        readers.incrementAndGet();
        if (s.isStopped()) {
            readers.decrementAndGet();
            return false;
        }
        return true;
    }

    /** Ends {@link #beginReading}. */
    final void endReading() {
        readers.decrementAndGet();
    }

    /** Registers a thread that reads the structs. The closing thread interrupts it and joins it before the structs are recycled. */
    final void endFirst(Thread t) {
        before = t;
    }

    /** Records that the caller, an M's thread, is about to end. */
    final void mexited(Machine m) {
        M.EXITED.set(m.mp, 1);
        exited.release();
    }
}
