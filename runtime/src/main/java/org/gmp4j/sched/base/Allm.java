// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.util.Arrays;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;
import org.jspecify.annotations.Nullable;

/**
 * All Ms of a scheduler ({@code allm}): {@code struct m} and its Java side, by index. An M is never removed. When its thread has ended, it
 * goes to a list of free Ms, first in first out, and later gets a new thread.
 */
public final class Allm {
    /** The result of {@link #allocm} when there are {@code maxThreads} Ms. */
    public static final Machine TOO_MANY = new Machine(null, 0);
    /** Tells {@link #allocm}, which never returns it, to allocate without the lock and to try again. */
    private static final Machine UNDECIDED = new Machine(null, 0);

    private final Scheduler s;
    /** The Ms by their indices. Written under sched.lock. */
    private volatile Machine[] machines = new Machine[0];
    /** The first and the last of the free Ms. sched.lock guards both, and {@link #starts}. */
    private @Nullable Machine freem;
    private @Nullable Machine lastFreem;
    /** The number of times that {@link #allocm} has returned an M for a new thread. */
    private int starts;

    Allm(Scheduler s) {
        this.s = s;
    }

    /**
     * Returns a struct m with its Java side, in allm: {@code allocm} and {@code mcommoninit}. The caller starts its thread, or calls
     * {@code Threads.free}. This method allocates without sched.lock. If it throws for lack of memory, nothing has changed.
     *
     * @return null when the scheduler has ended; {@link #TOO_MANY}, in embedded mode, when there are {@code maxThreads} Ms
     */
    public @Nullable Machine allocm() {
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
                grown = longer(old, id + 1, fresh); // Only allocm replaces the array, each time by a longer one.
                grown[id] = fresh;
                continue;
            }
            if (fresh != null && found != fresh) {
                Mem.recycle(Struct.M, fresh.mp);
            }
            if (found == TOO_MANY && s.config.program()) {
                throw s.reports.fatal(s, "runtime: program exceeds %d-thread limit\n".formatted(Schedt.MAXMCOUNT.get(s.sched)),
                        "thread exhaustion");
            }
            return found;
        }
    }

    private Machine newMachine() {
        long mp = Mem.alloc(Struct.M, 1);
        try {
            return new Machine(s, mp);
        } catch (OutOfMemoryError e) {
            Mem.recycle(Struct.M, mp);
            throw e;
        }
    }

    private static Machine[] longer(Machine[] old, int n, Machine fresh) {
        try {
            return Arrays.copyOf(old, n);
        } catch (OutOfMemoryError e) {
            Mem.recycle(Struct.M, fresh.mp); // No other thread has this address.
            throw e;
        }
    }

    /** Takes the first M off the list of free Ms. Called under sched.lock. */
    private Machine takeFree(Machine m) {
        freem = m.nextFree;
        m.nextFree = null;
        Schedt.NMFREED.set(s.sched, Schedt.NMFREED.get(s.sched) - 1);
        m.renew(); // mexit and stopm have reset the other fields of the struct.
        M.EXITED.set(m.mp, 0);
        M.PROCID.set(m.mp, 0);
        M.CPU.set(m.mp, -1);
        return m;
    }

    /** Adds a new M to allm. Called under sched.lock. */
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

    /** Appends an M to the list of free Ms. Called under sched.lock. */
    public void free(Machine m) {
        Schedt.NMFREED.set(s.sched, Schedt.NMFREED.get(s.sched) + 1);
        if (freem == null || lastFreem == null) {
            freem = m;
        } else {
            lastFreem.nextFree = m;
        }
        lastFreem = m;
    }

    /** Returns the Java side of an M. */
    Machine machine(long mp) {
        return machines[M.INDEX.get(mp)];
    }

    /** Returns the Java sides of all Ms. */
    public Machine[] machines() {
        return machines;
    }

    /** Returns the number of threads that this scheduler has started, has tried to start or is about to start. Called under sched.lock. */
    public int starts() {
        return starts;
    }

    /**
     * Returns the number of Ms, asleep or not. Takes no lock, because a goroutine may call this outside of {@code GStack.enter}, where its
     * stack may overflow with the lock held. So the number may differ by the Ms that begin or end meanwhile.
     */
    int mcount() {
        return Schedt.mcount(s.sched);
    }
}
