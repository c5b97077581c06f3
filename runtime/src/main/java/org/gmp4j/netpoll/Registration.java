// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Outside;
import org.gmp4j.proc.Park;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.PollDesc;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor in one poller, edge-triggered, from the first wait of one of its goroutines until the close ({@code
 * pollDesc}). A descriptor that goroutines of two schedulers wait for has two, and each hears of everything.
 *
 * <p>Each direction has a word, and at most one waits in it: {@link FdMutex} sees to that.
 * <pre>
 *  0 -> WAIT             the waiter, which then looks whether the descriptor was closed or its time is up
 *  WAIT -> g             its M, when it is parked to the end; if that fails it runs on
 *  0, WAIT, g -> READY   a poller, with each event; a g is in its hands then
 *  WAIT, g -> 0          what ends a wait early, a close or a deadline; a g is in its hands then
 *  READY -> 0            the next waiter, before the system call after which it may wait
 *  any -> 0              the waiter, when it is through
 * </pre>
 *
 * <p>No edge is lost. The word is set to 0 before the system call that may find nothing. What comes after that call sets it
 * to READY, and the next wait returns at once. What came before it the call has found, or it is registered only afterwards:
 * then epoll_ctl reports how the descriptor is.
 *
 * <p>A read that took less than it had room for has left the socket empty, if that is one of TCP (epoll(7)). So the next one
 * begins with a wait, where it would find nothing, unless its word is READY. That is as safe as a wait after a system call that
 * found nothing, with three exceptions. An edge may have told of an end that came together with the last data, of an error, or of urgent
 * data, before which a read stops. These stay true when the read has set its word to 0. So the poller notes them before it writes
 * READY ({@link PollCache#note}), and no read begins with a wait after them.
 *
 * <p>No end of a wait is lost. The waiter writes WAIT, then reads the flags of {@link FdWaits}; what ends the wait writes
 * the flags, then reads the word. One of them sees the other.
 *
 * <p>A waiter may be woken for nothing, by an event of which it knows already. It tries its system call, and waits again.
 */
abstract sealed class Registration {
    static final Park.Unlock READING = new Commit(false);
    static final Park.Unlock WRITING = new Commit(true);

    final EdgePoller poller;
    final long pd;
    /** The next of the same descriptor; written under its lock. One that is left out of the list keeps it, for whoever walks past. */
    @Nullable Registration next;

    /** No lambda: with no memory to link it the class could never be initialised. */
    private record Commit(boolean write) implements Park.Unlock {
        @Override
        public boolean unlock(long gp, Object r) {
            return ((Registration) r).commit(gp, write);
        }
    }

    private Registration(EdgePoller poller) {
        this.poller = poller;
        pd = poller.cache().take();
    }

    /** For a caller with that poller. */
    static Registration of(EdgePoller poller) {
        return poller instanceof OutsidePoller ? new OfSudogs(poller) : new OfGoroutines(poller);
    }

    /** {@code netpollreset}: before a system call after which the caller may wait. */
    final void reset(boolean write) {
        if (PollDesc.waiterVolatile(pd, write) == PollDesc.READY) {
            boolean _ = PollDesc.casWaiter(pd, write, PollDesc.READY, 0); // A barrier: the call comes after it.
        }
    }

    /** Whether nothing has been reported since the last {@link #reset}, and never more than data. */
    final boolean quiet() {
        return PollDesc.waiterVolatile(pd, false) != PollDesc.READY && !PollDesc.endSeen(pd);
    }

    /**
     * {@code netpollblock}: waits until something has happened, or the wait was ended early; inside {@link GStack#enter}.
     */
    final void await(GStack st, FdWaits fd, boolean write) {
        for (;;) {
            long word = PollDesc.waiterVolatile(pd, write);
            if (word == PollDesc.READY) {
                if (PollDesc.casWaiter(pd, write, PollDesc.READY, 0)) {
                    return;
                }
            } else if (word != 0) {
                throw Throw.of("double wait for a descriptor");
            } else if (PollDesc.casWaiter(pd, write, 0, PollDesc.WAIT)) {
                break;
            }
        }
        try {
            if (fd.check(write) == 0) {
                park(st, write ? WRITING : READING);
            }
        } finally { // There may be no memory to wait.
            long word = PollDesc.xchgWaiter(pd, write, 0);
            if (word > PollDesc.WAIT) {
                throw Throw.of("corrupted pollDesc");
            }
        }
    }

    abstract void park(GStack st, Park.Unlock commit);

    /** On g0 with the goroutine parked, or on a thread that is about to sleep. */
    abstract boolean commit(long gp, boolean write);

    /** Readies a waiter that {@link #unblock} gave. */
    abstract void wake(long waiter);

    /**
     * {@code netpollunblock}: ends the wait of a direction, if there is one.
     *
     * @param ready whether something has happened; else nothing is left of it
     * @return the waiter, in the caller's hands; 0 for none
     */
    static long unblock(long pd, boolean write, boolean ready) {
        for (;;) {
            long word = PollDesc.waiterVolatile(pd, write);
            if (word == PollDesc.READY || word == 0 && !ready) {
                return 0;
            }
            if (PollDesc.casWaiter(pd, write, word, ready ? PollDesc.READY : 0)) {
                return word == PollDesc.WAIT ? 0 : word;
            }
        }
    }

    /** In a scheduler's own poller: its goroutines wait by themselves. */
    private static final class OfGoroutines extends Registration {
        OfGoroutines(EdgePoller poller) {
            super(poller);
        }

        @Override
        void park(GStack st, Park.Unlock commit) {
            Park.gopark(st, commit, this, WaitReason.IO_WAIT, 0);
        }

        @Override
        boolean commit(long gp, boolean write) {
            Scheduler s = (Scheduler) GSlots.owner(gp);
            count(s, 1); // Before it can be found. Its M looks for work after this, and polls.
            if (PollDesc.casWaiter(pd, write, PollDesc.WAIT, gp)) {
                return true;
            }
            count(s, -1);
            return false;
        }

        private static void count(Scheduler s, int n) {
            int _ = Schedt.addNetpollWaiters(s.sched, n);
            if (s.config.deadlockDetection()) {
                long _ = Schedt.addNjdkwait(s.sched, n); // As one that waits for the JDK's sockets: see Checkdead.
                if (n < 0) {
                    Netpoller.noneWaits(s);
                }
            }
        }

        @Override
        void wake(long gp) {
            Scheduler s = (Scheduler) GSlots.owner(gp);
            GStack st = GStack.enterChecked();
            if (st == null) {
                Outside.begins(); // While it is neither counted nor queued this holds off checkdead.
            }
            count(s, -1); // Before: once it runs all may end, and the struct be another's.
            Park.goready(gp);
            if (st == null) {
                Outside.ends();
            }
            GStack.exit(st);
        }
    }

    /** In the poller that serves all threads without one of their own. */
    private static final class OfSudogs extends Registration {
        /** The sudogs of the waiters, for {@link #commit}; each written by its waiter. */
        private long reader;
        private long writer;

        OfSudogs(EdgePoller poller) {
            super(poller);
        }

        @Override
        void park(GStack st, Park.Unlock commit) {
            long sg = Waiting.sudog(st);
            if (commit == READING) {
                reader = sg;
            } else {
                writer = sg;
            }
            Waiting.park(st, sg, commit, this, WaitReason.IO_WAIT);
            Waiting.release(st, sg);
        }

        @Override
        boolean commit(long gp, boolean write) {
            long sg = write ? writer : reader;
            if (PollDesc.casWaiter(pd, write, PollDesc.WAIT, sg)) {
                return true;
            }
            if (gp == 0) {
                Waiting.ready(sg); // A thread goes to sleep all the same.
            }
            return false;
        }

        @Override
        void wake(long sg) {
            Waiting.wake(sg);
        }
    }
}
