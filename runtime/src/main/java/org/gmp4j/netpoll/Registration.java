// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Park;
import org.gmp4j.sched.base.Outside;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.PollDesc;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * The registration of a descriptor in one poller ({@code pollDesc}). It is edge-triggered, and lasts from the first wait of one of the
 * poller's goroutines until the close. If goroutines of two schedulers wait for a descriptor, it has two registrations, and each poller
 * gets all events.
 *
 * <p>Each direction has a word, with at most one waiter, as {@link FdMutex} ensures.
 * <pre>
 *  0 -> WAIT             by the waiter, which then checks whether the descriptor was closed or its time is up
 *  WAIT -> g             by its M, when the waiter is parked; if this CAS fails the waiter runs on
 *  0, WAIT, g -> READY   by a poller, with each event; it must wake the g, if any
 *  WAIT, g -> 0          by a thread that ends the wait early (close, deadline, interrupt); it must wake the g, if any
 *  READY -> 0            by the next waiter, before the system call after which it may wait
 *  any -> 0              by the waiter, at the end of its wait
 * </pre>
 *
 * <p>No edge is lost. The word is set to 0 before the system call that may find nothing. An edge after that call sets the word to READY,
 * and the next wait returns at once. The call has found everything that an edge before it reported. If the descriptor is registered only
 * after the call, epoll_ctl reports its state.
 *
 * <p>A read that returns fewer bytes than it had room for has emptied a TCP socket (epoll(7)). So the next read would find nothing, and
 * begins with a wait unless its word is READY. That is as safe as a wait after a system call that found nothing, with three exceptions. An
 * edge may have reported an error, an end of the stream that came together with the last data, or urgent data, before which a read stops.
 * The next read has to find each of these, even if a reader has set the word to 0 since. So the poller records them before it writes READY
 * ({@link PollCache#note}), and no read that sees the record begins with a wait.
 *
 * <p>No early end of a wait is lost. The waiter writes WAIT, then reads the flags of {@link FdWaits}. The thread that ends the wait writes
 * the flags, then reads the word. So the waiter sees the flags, or the other thread sees WAIT.
 *
 * <p>An event whose data a waiter has read already may wake the next waiter needlessly. That waiter tries its system call, and waits again.
 */
abstract sealed class Registration {
    static final Park.Unlock READING = new Commit(false);
    static final Park.Unlock WRITING = new Commit(true);

    final EdgePoller poller;
    final long pd;
    /**
     * The next registration of the same descriptor. Written under the descriptor's lock. A registration that was removed from the list
     * keeps this reference, for threads that walk the list without the lock.
     */
    @Nullable Registration next;

    /** Commits a park. */
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

    /** Makes a registration in a poller. The descriptor is not registered there yet. */
    static Registration of(EdgePoller poller) {
        return poller instanceof OutsidePoller ? new OfSudogs(poller) : new OfGoroutines(poller);
    }

    /** {@code netpollreset}: sets a READY word to 0. Called before a system call after which the caller may wait. */
    final void reset(boolean write) {
        if (PollDesc.waiterVolatile(pd, write) == PollDesc.READY) {
            boolean _ = PollDesc.casWaiter(pd, write, PollDesc.READY, 0); // This is a barrier: the system call comes after it.
        }
    }

    /**
     * Returns whether the poller has reported no event for readers since the last {@link #reset}, and never an end, an error or urgent
     * data.
     */
    final boolean quiet() {
        return PollDesc.waiterVolatile(pd, false) != PollDesc.READY && !PollDesc.endSeen(pd);
    }

    /** {@code netpollblock}: waits until there is an event, or the wait ends early. Called inside {@link GStack#enter}. */
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
        } finally { // Runs also when there is no memory to park.
            long word = PollDesc.xchgWaiter(pd, write, 0);
            if (word > PollDesc.WAIT) {
                throw Throw.of("corrupted pollDesc");
            }
        }
    }

    abstract void park(GStack st, Park.Unlock commit);

    /**
     * Writes the waiter into its word. Returns false if the word is no longer WAIT. Then a goroutine is resumed at once. Called on g0 with
     * the goroutine parked, or on a thread that is about to sleep.
     */
    abstract boolean commit(long gp, boolean write);

    /** Wakes a waiter that {@link #unblock} returned. */
    abstract void wake(long waiter);

    /**
     * {@code netpollunblock}: ends the wait of a direction, if there is a waiter.
     *
     * @param ready whether there was an event; the word is READY afterwards, else 0
     * @return the waiter, which the caller must wake; 0 for none
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

    /** A registration in a scheduler's own poller. The word holds the address of the G that waits. */
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
            count(s, 1); // Counted before a poller can find the G. Afterwards the M searches for work, and polls.
            if (PollDesc.casWaiter(pd, write, PollDesc.WAIT, gp)) {
                return true;
            }
            count(s, -1);
            return false;
        }

        private static void count(Scheduler s, int n) {
            int _ = Schedt.addNetpollWaiters(s.sched, n);
            if (s.config.deadlockDetection()) {
                long _ = Schedt.addNjdkwait(s.sched, n); // The G counts like one that waits for a socket of the JDK: see Checkdead.
            }
        }

        @Override
        void wake(long gp) {
            Scheduler s = (Scheduler) GSlots.owner(gp);
            GStack st = GStack.enterChecked();
            if (st == null) {
                Outside.begins(); // Keeps checkdead from a report while the G is neither counted as a waiter nor queued.
            }
            count(s, -1); // Subtracted before goready: once the G runs, the scheduler may end, and another may get its struct.
            Park.goready(gp);
            if (st == null) {
                Outside.ends();
            }
            GStack.exit(st);
        }
    }

    /** A registration in the {@link OutsidePoller}. The word holds the address of the waiter's sudog. */
    private static final class OfSudogs extends Registration {
        /** The sudogs of the waiting reader and writer, for {@link #commit}. Each is written by its waiter. */
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
                Waiting.ready(sg); // A thread sleeps even if this method returns false, so it must be woken.
            }
            return false;
        }

        @Override
        void wake(long sg) {
            Waiting.wake(sg);
        }
    }
}
