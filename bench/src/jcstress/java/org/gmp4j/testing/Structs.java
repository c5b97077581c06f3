// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.util.concurrent.ConcurrentLinkedQueue;

import org.gmp4j.ffi.Memory;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;

/**
 * Off-heap structs for the states of jcstress tests. jcstress makes states by the million and the collector does not see
 * what they hold off-heap, so a state takes its structs in its constructor and gives them back in its arbiter, which runs
 * once and last. Thread-safe.
 */
public final class Structs {
    private static final int WORDS = 4096;
    private static final ConcurrentLinkedQueue<Long> FREE_WORDS = new ConcurrentLinkedQueue<>();

    /** Shared by all: with two Ps or fewer their first words are enough, and no test looks at a neighbour's bit. */
    private static final long IDLEP_MASK = Memory.map(WORDS);
    private static final long TIMERP_MASK = Memory.map(WORDS);

    private Structs() {
    }

    /** A goroutine's struct, zero but for its goid. */
    public static long g(long goid) {
        long gp = Mem.alloc(Struct.G, 1);
        org.gmp4j.struct.G.GOID.set(gp, goid);
        return gp;
    }

    /** A P's struct, {@code _Prunning}. */
    public static long p() {
        long pp = Mem.alloc(Struct.P, 1);
        PStatus.set(pp, PStatus.PRUNNING);
        return pp;
    }

    /** The id decides about the bit in the masks. */
    public static long p(int id) {
        long pp = p();
        P.ID.set(pp, id);
        return pp;
    }

    /** A scheduler's struct with two Ps. */
    public static long sched() {
        long sched = Mem.alloc(Struct.SCHEDT, 1);
        Schedt.GOMAXPROCS.setOpaque(sched, 2);
        Schedt.IDLEPMASK.setRelease(sched, IDLEP_MASK);
        Schedt.TIMERPMASK.setRelease(sched, TIMERP_MASK);
        return sched;
    }

    /** A futex word, 0, alone on its cache lines. */
    public static long word() {
        Long w = FREE_WORDS.poll();
        if (w == null) {
            long page = Memory.map(WORDS);
            for (int i = Mem.LINE; i < WORDS; i += Mem.LINE) {
                FREE_WORDS.add(page + i);
            }
            return page;
        }
        Mem.INT.setVolatile((long) w, 0);
        return w;
    }

    /** Gives goroutines' structs back. */
    public static void freeG(long... gs) {
        for (long gp : gs) {
            Mem.recycle(Struct.G, gp);
        }
    }

    /** Gives Ps' structs back. */
    public static void freeP(long... ps) {
        for (long pp : ps) {
            Mem.recycle(Struct.P, pp);
        }
    }

    /** Gives a scheduler's struct back. */
    public static void freeSched(long sched) {
        Mem.recycle(Struct.SCHEDT, sched);
    }

    /** Gives a word back. */
    public static void freeWord(long word) {
        FREE_WORDS.add(word);
    }
}
