// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.Keeper;
import org.gmp4j.lock.LockRank;
import org.gmp4j.stack.Ark;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;

/**
 * Looks for goroutines that nothing alive can wake, as Go's {@code goroutineleak} profile: the JVM's collector says what is reachable.
 *
 * <p>Who can wake a goroutine that waits for a channel or a lock must get at that. So the goroutine is alive if it is reachable from a
 * static field, a thread, a goroutine that is alive, native code; or what it waits for is. Go's collector marks that in rounds. Here it is
 * one collection:
 * <ol>
 * <li>The world is stopped. Of each goroutine that waits the side tables of {@link GSlots} forget the stack and the function, which an
 * {@link Ark} has from now on, and what it waits for ({@link Park.Unlock#waitsFor}) refers to it ({@link Keeper}).
 * <li>{@code System.gc()} clears the weak references to those that are reachable by the ark alone.
 * <li>All is put back, and the world goes on.
 * </ol>
 * A goroutine that waits in the JDK for a lock, a queue, a latch needs no help: those refer to its thread, and that to its stack.
 *
 * <p>What is alive is never taken for leaked. Collectors do not clear a weak reference to what any code can still get at. Off-heap memory,
 * which refers to goroutines by addresses that no collector sees, is where a wait ends otherwise: timers, the network, native events,
 * limits of time, interrupts, contexts. Who waits so is none of those that are looked at ({@link GStack#endable}, {@code waitsFor}), nor is
 * who waits in the JDK without a {@linkplain LockSupport#getBlocker blocker}, for a socket or a monitor, say. A plain thread, and
 * goroutines of other schedulers, go on while the world is stopped and may wake one that is being looked at. Until it is runnable they hold
 * what it waits for (the {@code reachabilityFence}s behind each {@code Waiting.ready}), and then they put it back into the tables ({@link
 * #woken}). Flag and status are Dekker's pattern: who wakes moves the status by CAS, then reads the flag; who searches sets the flag,
 * clears the entry, then reads the status.
 *
 * <p>The converse does not hold: SEEING.md says what is not found. Rejected: a heap dump, whose frames of compiled code lack objects that
 * the compiler took apart, so that what is alive may look leaked, and which takes as long as writing the heap; JVMTI, whose first use makes
 * each switch slower for good (HACKING.md); really giving them up to the collector, which would run no {@code finally}, and off-heap queues
 * would name them still.
 */
public final class LeakSearch {
    private static final int NONE = -1;
    private static final int TRIES = 3;
    private static final long NAP_NANOS = 50_000;
    /** How long to wait for Ms on their way to sleep: they need microseconds. After that a goroutine that one ran last is not found. */
    private static final long PATIENCE = 1_000_000_000;

    /** One more waiter of the same. */
    private record Kept(GStack st, Object next) {
    }

    /** What is taken from the tables, one of each for each goroutine, and what keeps it meanwhile. */
    private record Cargo(List<GStack> stacks, List<Runnable> fns, List<Keeper> keepers) {
        /** Takes no memory. */
        void release() {
            for (int i = 0; i < keepers.size(); i++) {
                keepers.get(i).kept = null;
            }
        }
    }

    private final Scheduler s;
    private long[] gs = new long[64];
    private int n;
    private WeakReference<?>[] refs;
    /** By the number of the slot, which of {@link #gs}; {@link #NONE} for none. */
    private int[] at;
    private Ark ark;

    private LeakSearch(Scheduler s) {
        this.s = s;
    }

    /**
     * Tells of each goroutine of a scheduler that nothing alive can wake; afterwards, while all others run. Stops the world for one full
     * collection.
     *
     * @throws IllegalStateException when the scheduler is closed, or this JVM finds none (see {@link Canary})
     */
    static void each(Scheduler s, Consumer<Traceback.Goroutine> to) {
        for (int i = 0; i < TRIES; i++) {
            if (once(s, to)) {
                return;
            }
        }
        throw new IllegalStateException("no leak report in this JVM: it needs System.gc() (no -XX:+DisableExplicitGC), and the collector "
                + "G1, Parallel or Serial");
    }

    /** False, and nothing told, when it found not even what it should. */
    private static boolean once(Scheduler s, Consumer<Traceback.Goroutine> to) {
        Canary canary = new Canary();
        Newproc.newproc(s, canary);
        canary.awaitParked();
        long[][] found = new long[1][];
        try {
            s.withWorldStopped(() -> found[0] = new LeakSearch(s).search());
        } finally {
            canary.end();
        }
        if (Arrays.stream(found[0]).noneMatch(gp -> gp == canary.gp)) {
            return false;
        }
        for (long gp : found[0]) {
            Traceback.Goroutine g = gp == canary.gp ? null : Traceback.one(s, gp);
            if (g != null) {
                to.accept(g);
            }
        }
        return true;
    }

    /** With the world stopped: waits until no M on its way to sleep refers any more to what it ran last. */
    private void settle() {
        long end = System.nanoTime() + PATIENCE;
        for (Machine m : s.machines()) {
            while (!JdkThreads.isIdle(m) && M.curgOpaque(m.mp) == 0 && M.exited(m.mp) == 0 && System.nanoTime() < end) {
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
    }

    /**
     * A goroutine that has leaked. When it is not found nothing would be: without collections, and with ZGC and Shenandoah, which take for
     * reachable what stands on a stack that is (JDK 25: "Loom doesn't support mixing of weak marking and strong marking").
     */
    private static final class Canary implements Runnable {
        private static final Park.Unlock NOTHING = (gp, lock) -> true;
        /** Made by who waits for this, which never parks when there is no memory for it. The goroutine's alone as soon as it runs. */
        private HeapMutex lock = new HeapMutex(LockRank.SEMA);
        volatile long gp;

        @Override
        public void run() {
            GStack st = GStack.enter();
            try {
                HeapMutex mine = lock;
                lock = null; // Whoever waits for this has it, and is not to count as one that can wake it.
                gp = st.gp;
                Park.gopark(st, NOTHING, mine, WaitReason.FOREVER, 0);
            } finally {
                GStack.exit(st);
            }
        }

        void awaitParked() {
            while (gp == 0 || GStatus.readgstatus(gp) != GStatus.GWAITING) {
                GStack st = GStack.current();
                if (st != null) {
                    Park.gosched(st);
                } else {
                    LockSupport.parkNanos(NAP_NANOS);
                }
            }
        }

        void end() {
            GStack st = GStack.enterChecked();
            Park.goready(gp);
            GStack.exit(st);
        }
    }

    /** With the world stopped: the Gs that have leaked. */
    private long[] search() {
        settle();
        load();
        try {
            hide();
            System.gc();
            return leaked();
        } finally { // There may be no memory for what was found.
            putBack();
        }
    }

    /** All that takes memory. What is in the cargo is in no local variable any more when this has returned. */
    private void load() {
        Cargo c = new Cargo(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        boolean loaded = false;
        try {
            s.slots.forEach(gp -> consider(gp, c));
            refs = new WeakReference<?>[n];
            int most = 0;
            for (int i = 0; i < n; i++) {
                refs[i] = new WeakReference<>(c.stacks.get(i));
                most = Math.max(most, G.index(gs[i]));
            }
            at = new int[most + 1];
            Arrays.fill(at, NONE);
            for (int i = 0; i < n; i++) {
                at[G.index(gs[i])] = i;
            }
            ark = new Ark(c);
            loaded = true;
        } finally {
            if (!loaded) {
                c.release();
            }
        }
    }

    private void consider(long gp, Cargo c) {
        if (GStatus.readgstatus(gp) != GStatus.GWAITING || !(GSlots.stack(gp) instanceof GStack st) || st.bubble != null) {
            return;
        }
        if (WaitReason.of(G.waitreasonOpaque(gp)) == WaitReason.JDK) {
            if (LockSupport.getBlocker(st.thread) == null) {
                return;
            }
        } else if (!keep(st, c)) {
            return;
        }
        if (n == gs.length) {
            gs = Arrays.copyOf(gs, 2 * n);
        }
        c.stacks.add(st);
        c.fns.add(GSlots.fn(gp));
        gs[n++] = gp;
    }

    /** Has all that it waits for refer to it; false when that is not known. */
    private static boolean keep(GStack st, Cargo c) {
        Park.Unlock unlock = st.parkUnlock;
        Object lock = st.parkLock;
        if (st.endable || unlock == null || lock == null || unlock.waitsFor(lock, 0) == null) {
            return false;
        }
        int i = 0;
        for (Keeper k = unlock.waitsFor(lock, 0); k != null; k = unlock.waitsFor(lock, ++i)) {
            c.keepers.add(k);
            k.kept = k.kept == null ? st : new Kept(st, k.kept);
        }
        return true;
    }

    private void hide() {
        Cargo c = (Cargo) ark.get();
        s.leakSearch = this;
        for (int i = 0; i < n; i++) {
            long gp = gs[i];
            GSlots.setStack(gp, null);
            GSlots.setFn(gp, null);
            VarHandle.fullFence(); // Before the look at the status: see the class comment.
            if (GStatus.readgstatus(gp) != GStatus.GWAITING) {
                GSlots.setStack(gp, c.stacks.get(i));
            }
        }
    }

    /** The reference is cleared, and it waits on. */
    private long[] leaked() {
        long[] found = new long[n];
        int count = 0;
        for (int i = 0; i < n; i++) {
            if (refs[i].get() == null && GStatus.readgstatus(gs[i]) == GStatus.GWAITING) {
                found[count++] = gs[i];
            }
        }
        return Arrays.copyOf(found, count);
    }

    private void putBack() {
        Cargo c = (Cargo) ark.get();
        for (int i = 0; i < n; i++) {
            GSlots.setStack(gs[i], c.stacks.get(i));
            GSlots.setFn(gs[i], c.fns.get(i));
        }
        s.leakSearch = null;
        c.release();
    }

    /** A goroutine was woken by who is not on one of its scheduler's Ps: it is runnable. */
    static void woken(Scheduler s, long gp) {
        LeakSearch l = s.leakSearch;
        if (l != null) {
            GStack st = l.stack(gp);
            if (st != null) {
                GSlots.setStack(gp, st);
            }
        }
    }

    private GStack stack(long gp) {
        int index = G.index(gp);
        int i = index < at.length ? at[index] : NONE;
        return i == NONE ? null : (GStack) refs[i].get();
    }

    /** The stack of a goroutine for those who look while a search may be under way; null when it has none. */
    static GStack stackOf(Scheduler s, long gp) {
        GStack st = (GStack) GSlots.stack(gp);
        LeakSearch l = s.leakSearch;
        if (st != null) {
            return st;
        }
        return l != null ? l.stack(gp) : (GStack) GSlots.stack(gp); // Or it has been put back since the first look.
    }
}
