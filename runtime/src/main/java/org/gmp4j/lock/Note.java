// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.Futex;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Throw;

/**
 * A one-shot event on a futex word. One thread sleeps until another thread wakes the note. The sleeper then clears the note for the next
 * use.
 *
 * <pre>
 *  0  CLEAR          nothing happened, no thread sleeps
 *  0 -> -1           ASLEEP: the sleeper announces itself, then waits in the kernel while the word stays -1
 *  0 -> 1, -1 -> 1   WOKEN: by the waker, which calls the kernel only if the sleeper was asleep
 *  1 -> 0            noteclear: by the sleeper, before it may be woken again
 * </pre>
 *
 * <p>No wake-up is lost. The sleeper's CAS and the waker's exchange are on one word. So either the exchange finds -1, and the waker calls
 * the kernel, or the CAS fails because the word is 1. The kernel compares the word again under its own lock, so a wake between the CAS and
 * the call makes the call return at once. After {@link #sleep} the sleeper sees all that the waker wrote before {@link #wakeup}, because
 * the exchange releases and the sleeper's last volatile read acquires.
 */
public final class Note {
    private static final int CLEAR = 0;
    private static final int WOKEN = 1;
    private static final int ASLEEP = -1;

    private Note() {
    }

    /** Makes the note ready for its next use. Called by the sleeper, while no thread may wake it. */
    public static void clear(long addr) {
        Mem.INT.setVolatile(addr, CLEAR); // Release would not be enough, because the sleeper's next reads must follow it.
    }

    /**
     * Wakes the sleeper, or makes its next sleep return at once.
     *
     * @throws Throw when the note was already woken, which means that a hand-over was lost or doubled
     */
    public static void wakeup(long addr) {
        int old = Mem.INT.getAndSet(addr, WOKEN);
        if (old == WOKEN) {
            throw Throw.of("notewakeup - double wakeup");
        }
        if (old == ASLEEP) {
            Futex.wake(addr, 1);
        }
    }

    /** Wakes the sleeper like {@link #wakeup}. Any number of threads may call it, any number of times. */
    public static void ring(long addr) {
        if (Mem.INT.getAndSet(addr, WOKEN) == ASLEEP) {
            Futex.wake(addr, 1);
        }
    }

    /**
     * Wakes the sleeper like {@link #ring}, on a stack that may be nearly full. If there is no room to call the kernel, the word becomes
     * ASLEEP again, so that the next ring wakes the sleeper. If the sleeper has woken up by itself, that ring calls the kernel in vain.
     *
     * @throws StackOverflowError when there is too little room; the sleeper may then miss another thread's concurrent ring
     */
    public static void ringOrLeave(long addr) {
        if (Mem.INT.getAndSet(addr, WOKEN) == ASLEEP) {
            try {
                Futex.wake(addr, 1);
            } catch (StackOverflowError e) {
                boolean _ = Mem.INT.compareAndSet(addr, WOKEN, ASLEEP);
                throw e;
            }
        }
    }

    /** Returns whether the note was woken since it was cleared. */
    public static boolean woken(long addr) {
        return Mem.INT.getAcquire(addr) == WOKEN;
    }

    /** Sleeps until woken. Returns at once if the note was woken already. */
    public static void sleep(long addr) {
        sleep(addr, -1);
    }

    /**
     * Sleeps until woken or for at most {@code nanos} nanoseconds (negative: without limit).
     *
     * @return true when woken; false when the time was up; then the note is CLEAR until a thread wakes it
     */
    public static boolean sleep(long addr, long nanos) {
        if (!Mem.INT.compareAndSet(addr, CLEAR, ASLEEP)) {
            return true; // A waker has woken the note already.
        }
        long end = nanos < 0 ? 0 : System.nanoTime() + nanos;
        long left = nanos;
        while (Mem.INT.getVolatile(addr) == ASLEEP) {
            int e = 0;
            if (ProcessEnd.begun()) {
                ProcessEnd.nap(left);
            } else {
                e = Futex.await(addr, ASLEEP, left);
            }
            if (nanos >= 0) {
                left = end - System.nanoTime();
                if (e == Errno.ETIMEDOUT || left <= 0) {
                    // Withdraws the announcement. If that fails, a waker has woken the note meanwhile.
                    return !Mem.INT.compareAndSet(addr, ASLEEP, CLEAR);
                }
            }
        }
        return true;
    }
}
