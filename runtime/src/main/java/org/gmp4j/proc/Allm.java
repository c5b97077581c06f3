// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.Arrays;

import org.gmp4j.ffi.gmp.m;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * All Ms of a scheduler ({@code allm}): {@code struct m} and its Java side, found by index. They are never taken out. An M whose thread
 * has ended is kept in a list of free ones, the first to end first, and is used again for a new thread.
 */
final class Allm {
    /** {@link #allocm} returns this instead of an M when there are as many Ms as are allowed. */
    static final Machine TOO_MANY = new Machine(null, 0);
    private static final Machine UNDECIDED = new Machine(null, 0);

    private final Scheduler s;
    private volatile Machine[] machines = new Machine[0];
    /** Ms that ended, the first to end first, under sched.lock; below it, how many threads were asked to start. */
    private @Nullable Machine freem;
    private @Nullable Machine lastFreem;
    private int starts;

    Allm(Scheduler s) {
        this.s = s;
    }

    /**
     * A struct m with its Java side, in allm; {@code allocm} and {@code mcommoninit}. The caller starts its thread, or reports it
     * {@link #unstarted}. When it throws for want of memory, which it takes without sched.lock, nothing has changed.
     *
     * @return null when the scheduler has ended; {@link #TOO_MANY}, in embedded mode, when there are as many as are allowed
     */
    @Nullable Machine allocm() {
        Machine fresh = null;
        Machine[] grown = null;
        for (;;) {
            SchedLock.lock(s.sched);
            Machine[] old = machines;
            int id = (int) Schedt.MNEXT.get(s.sched);
            Machine found = Schedt.CLOSING.getAcquire(s.sched) == Scheduler.STOPPED ? null
                    : freem != null && freem.isFree() ? takeFree(freem)
                    : id - Schedt.NMFREED.get(s.sched) >= Schedt.MAXMCOUNT.get(s.sched) ? TOO_MANY
                    : grown != null && fresh != null && grown.length == id + 1 ? publish(fresh, grown) : UNDECIDED;
            if (found != null && found.s != null) {
                starts++;
            }
            SchedLock.unlock(s.sched);
            if (found == UNDECIDED) {
                if (fresh == null) {
                    fresh = newMachine();
                }
                grown = longer(old, id + 1, fresh); // Only newm replaces the list, and each makes it longer.
                grown[id] = fresh;
                continue;
            }
            if (fresh != null && found != fresh) {
                Mem.recycle(m.layout(), fresh.mp);
            }
            if (found == TOO_MANY && s.config.program()) {
                throw s.reports.fatal(s, "runtime: program exceeds %d-thread limit\n".formatted(Schedt.MAXMCOUNT.get(s.sched)),
                        "thread exhaustion");
            }
            return found;
        }
    }

    private Machine newMachine() {
        long mp = Mem.alloc(m.layout(), 1);
        try {
            return new Machine(s, mp);
        } catch (OutOfMemoryError e) {
            Mem.recycle(m.layout(), mp);
            throw e;
        }
    }

    private static Machine[] longer(Machine[] old, int n, Machine fresh) {
        try {
            return Arrays.copyOf(old, n);
        } catch (OutOfMemoryError e) {
            Mem.recycle(m.layout(), fresh.mp); // It is in no list yet.
            throw e;
        }
    }

    /** Takes the M that ended first; under the lock. */
    private Machine takeFree(Machine m) {
        freem = m.nextFree;
        m.nextFree = null;
        Schedt.NMFREED.set(s.sched, Schedt.NMFREED.get(s.sched) - 1);
        m.renew(); // All else of the struct is as mexit and stopm left it.
        M.EXITED.set(m.mp, 0);
        M.PROCID.set(m.mp, 0);
        M.CPU.set(m.mp, -1);
        return m;
    }

    /** Puts a new M into allm; under the lock. */
    private Machine publish(Machine m, Machine[] grown) {
        long id = Schedt.MNEXT.get(s.sched);
        Schedt.MNEXT.set(s.sched, id + 1);
        M.ID.set(m.mp, id);
        M.INDEX.set(m.mp, (int) id);
        M.CPU.set(m.mp, -1);
        M.FASTRAND.set(m.mp, System.nanoTime() * 0x9E3779B97F4A7C15L | 1);
        M.ALLLINK.set(m.mp, Schedt.ALLM.get(s.sched));
        machines = grown;
        Schedt.ALLM.set(s.sched, m.mp);
        return m;
    }

    /** No thread could be had for this M. */
    void unstarted(Machine m) {
        s.mexited(m); // Closing need not wait for this thread.
        free(m); // Somebody may take it at once.
    }

    /** An M leaves while the scheduler lives: the next new M reuses its struct. */
    void free(Machine m) {
        SchedLock.lock(s.sched);
        Schedt.NMFREED.set(s.sched, Schedt.NMFREED.get(s.sched) + 1);
        if (freem == null || lastFreem == null) {
            freem = m;
        } else {
            lastFreem.nextFree = m;
        }
        lastFreem = m;
        boolean dead = Checkdead.dead(s);
        SchedLock.unlock(s.sched);
        if (dead) {
            Checkdead.suspect(s);
        }
    }

    /** The Java side of an M. */
    Machine machine(long mp) {
        return machines[M.INDEX.get(mp)];
    }

    /** The Java sides of all Ms. */
    Machine[] machines() {
        return machines;
    }

    /** How many threads were asked to start since the beginning; under sched.lock. */
    int starts() {
        return starts;
    }

    /** How many Ms there are, asleep or not. */
    int mcount() {
        SchedLock.lock(s.sched);
        int n = Schedt.mcount(s.sched);
        SchedLock.unlock(s.sched);
        return n;
    }
}
