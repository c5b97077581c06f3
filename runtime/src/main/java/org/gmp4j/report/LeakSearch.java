// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import com.sun.management.HotSpotDiagnosticMXBean;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.lock.WaitObject;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Labelled;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.Park;
import org.gmp4j.sched.SeparatedStack;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.HiddenStacks;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.FinalReferenceHolder;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * Finds goroutines that no live object can wake, like Go's {@code goroutineleak} profile. The JVM's collector decides which objects are
 * live.
 *
 * <p>To wake a goroutine that waits for a channel or a lock, code needs a reference to that channel or lock. So the goroutine is alive if
 * the goroutine itself, or the object for which it waits, is reachable from a static field, a thread, a goroutine that is alive, or native
 * code. Go's collector marks the live goroutines in rounds. Here one collection is enough:
 * <ol>
 * <li>The world is stopped. For each goroutine that waits, the stack and the function are moved from the side tables of {@link GSlots} to a
 * {@link FinalReferenceHolder}. The object that the goroutine waits for ({@link Park.Unlock#waitsFor}) gets a reference to the goroutine
 * ({@link WaitObject}). The frames are taken off the stack ({@link SeparatedStack}). A reference to the thread alone cannot wake the
 * goroutine, so the collector must not reach the objects on the stack through the thread.
 * <li>{@code System.gc()} clears the weak references to goroutines that only the holder reaches.
 * <li>Everything is put back, and the world is started again.
 * </ol> A goroutine that waits in the JDK for a lock, a queue or a latch needs no such reference: the lock refers to the goroutine's
 * thread, and the thread to its stack, whose frames stay. A virtual thread of the default scheduler is left out while it waits in the
 * JDK. If no object can wake it, any collection frees it, including this one ({@code sched.base/Collected}).
 *
 * <p>A live goroutine is reported as leaked only in two cases, which SEEING.md has. Collectors do not clear a weak reference to an object
 * that some code can still reach. No collector sees addresses in off-heap memory. So a wait that code can end through such memory is left
 * out: a wait for a timer, the network or a native event, and a wait that a time limit, an interrupt or a context may end ({@link
 * GStack#waitsFor}). Waits in the JDK without a {@linkplain LockSupport#getBlocker blocker}, such as for a socket or a monitor, are left
 * out too. Plain threads and goroutines of other schedulers run while the world is stopped, and may wake a goroutine that is being
 * examined. Until that goroutine is runnable, they keep the object for which it waits reachable, by the {@code reachabilityFence} after
 * each {@code Waiting.ready}. Then they put the goroutine back into the tables ({@link HiddenStacks}). Waker and search synchronise by
 * Dekker's pattern. The waker changes the status by CAS, then reads the flag. The search sets the flag, clears the entry, then reads the
 * status.
 *
 * <p>Some leaks are not found: SEEING.md lists them. Rejected: a heap dump, because it takes as long as writing the heap. Besides,
 * frames of compiled code in the dump lack the objects that escape analysis removed, so a live goroutine may look leaked. Rejected: JVMTI,
 * because its first use makes each switch slower until the process ends (JDK.md). Rejected: letting the collector free leaked goroutines,
 * because no {@code finally} would run, and off-heap queues would still refer to the goroutines.
 */
public final class LeakSearch extends HiddenStacks {
    private static final int NONE = -1;
    private static final int TRIES = 3;
    private static final long NAP_NANOS = 50_000;
    /**
     * The longest wait, ns, for Ms that are about to sleep. Normally this wait takes microseconds. If an M takes longer, a leak of the
     * goroutine that it ran last is not found.
     */
    private static final long PATIENCE = 1_000_000_000;

    /** An element of the list of waiters in {@link WaitObject#kept}. */
    private record Kept(SeparatedStack waiter, Object next) {
    }

    /**
     * The objects that are moved away for the collection. For each goroutine these are its stack, its function, and its frames, which are
     * null if they stay on the stack. The last list has the objects that refer to these frames during the collection.
     */
    private record Cargo(List<GStack> stacks, List<Runnable> fns, List<@Nullable SeparatedStack> apart, List<WaitObject> waitObjects) {
        /**
         * Drops all references, because the JDK's thread that handles references may still refer to the holder of this search during the
         * next search. Needs no memory.
         */
        void release() {
            for (int i = 0; i < waitObjects.size(); i++) {
                waitObjects.get(i).kept = null;
            }
            stacks.clear();
            fns.clear();
            apart.clear();
            waitObjects.clear();
        }
    }

    private final Scheduler s;
    /** The canary of this search. Any other canary belongs to a search that has yet to begin, and is no leak. */
    private final Canary canary;
    private long[] gs = new long[64];
    private int n;
    @SuppressWarnings("NullAway.Init") // Set by load, as are the fields below.
    private WeakReference<?>[] refs;
    /** Maps the number of a G's slot to the G's index in {@link #gs}; {@link #NONE} for a G that is not in {@link #gs}. */
    @SuppressWarnings("NullAway.Init")
    private int[] at;
    @SuppressWarnings("NullAway.Init")
    private FinalReferenceHolder holder;

    private LeakSearch(Scheduler s, Canary canary) {
        this.s = s;
        this.canary = canary;
    }

    /**
     * Stops the world for one full collection. After the world was started again, passes each leaked goroutine of a scheduler to
     * {@code to}.
     *
     * @throws IllegalStateException when the scheduler is closed, or this JVM finds no leaks (see {@link Canary})
     */
    public static void each(Scheduler s, Consumer<Traceback.Goroutine> to) {
        for (int i = 0; i < TRIES && collectionsAreFull(); i++) {
            if (once(s, to)) {
                return;
            }
        }
        throw new IllegalStateException("no leak report in this JVM: it needs the collector G1, Parallel or Serial, and a System.gc() that "
                + "is a full collection (no -XX:+DisableExplicitGC, with G1 no -XX:+ExplicitGCInvokesConcurrent)");
    }

    /**
     * Returns whether {@code System.gc()} does a full collection. A concurrent cycle of G1 begins with a young collection, and treats all
     * objects that survive it as reachable. Such a cycle would find the {@link Canary}, which is new, but no older leak.
     */
    private static boolean collectionsAreFull() {
        try {
            HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            return !(isOn(vm, "UseG1GC") && isOn(vm, "ExplicitGCInvokesConcurrent"));
        } catch (NoClassDefFoundError | IllegalArgumentException unknown) { // The image lacks that module, or the JVM that option.
            return true;
        }
    }

    private static boolean isOn(HotSpotDiagnosticMXBean vm, String option) {
        return Boolean.parseBoolean(vm.getVMOption(option).getValue());
    }

    /** Searches once. If it does not find its own {@link Canary}, reports nothing and returns false. */
    private static boolean once(Scheduler s, Consumer<Traceback.Goroutine> to) {
        GStack.checkAll();
        Canary canary = new Canary();
        long[][] found = new long[1][];
        Newproc.newproc(s, canary);
        try {
            canary.awaitParked();
            StopTheWorld.withWorldStopped(s, () -> found[0] = new LeakSearch(s, canary).search());
        } finally {
            canary.end();
        }
        if (Arrays.stream(found[0]).noneMatch(gp -> gp == canary.gp)) {
            return false;
        }
        States states = new States(s);
        for (long gp : found[0]) {
            Traceback.Goroutine g = gp == canary.gp ? null : Traceback.one(s, gp, states);
            if (g != null) {
                to.accept(g);
            }
        }
        return true;
    }

    /**
     * Waits until no M that is about to sleep refers to the goroutine that it ran last. Called with the world stopped. An M to which a
     * goroutine is locked, or on which one is pinned, keeps the reference while it sleeps.
     *
     * @return false when an M still refers to a goroutine after {@link #PATIENCE}
     */
    static boolean settle(Scheduler s) {
        long end = System.nanoTime() + PATIENCE;
        for (Machine m : s.machines()) {
            while (!JdkThreads.isIdle(m) && M.CURG.getOpaque(m.mp) == 0 && M.BLOCKED.getOpaque(m.mp) == 0 && M.EXITED.get(m.mp) == 0
                    && System.nanoTime() < end) {
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
        return System.nanoTime() < end;
    }

    /**
     * A goroutine that leaks on purpose. A search that does not find it would find no other leak either. This happens if
     * {@code System.gc()} does nothing, and with ZGC and Shenandoah, which treat all objects on a weakly reachable stack as reachable
     * (JDK 25: "Loom doesn't support mixing of weak marking and strong marking").
     */
    private static final class Canary implements Runnable {
        /**
         * The lock for which the goroutine waits. The goroutine needs no memory for it, because the thread that starts the goroutine makes
         * it. Null once the goroutine runs: then only its own stack refers to the lock.
         */
        private @Nullable HeapMutex lock = new HeapMutex(LockRank.SEMA);
        private final Park.Unlock nothing = new Nothing();
        volatile long gp;
        /** The error that kept the goroutine from parking. Set before the goroutine ends and its G is reused. */
        private volatile @Nullable OutOfMemoryError ended;

        /**
         * An unlock function that does nothing. It is in no static field: if memory ran out in the initialiser of that field's class, no
         * leak report would ever work again.
         */
        private record Nothing() implements Park.Unlock {
            @Override
            public boolean unlock(long gp, Object lock) {
                return true;
            }
        }

        @Override
        @SuppressWarnings("NullAway") // The caller is a goroutine.
        public void run() {
            GStack st = GStack.enter();
            try {
                HeapMutex mine = lock;
                lock = null; // The starter refers to this object, and must not reach the lock.
                gp = st.gp();
                Park.gopark(st, nothing, mine, WaitReason.FOREVER, 0);
            } catch (OutOfMemoryError e) {
                ended = e;
            } finally {
                GStack.exit(st);
            }
        }

        /**
         * Returns whether the goroutine is parked. Reads {@code ended} last. If that is null, the G still belonged to this goroutine when
         * its status was read.
         */
        private boolean isParked() {
            return gp != 0 && GStatus.readgstatus(gp) == GStatus.GWAITING && ended == null;
        }

        void awaitParked() {
            while (!isParked()) {
                OutOfMemoryError e = ended;
                if (e != null) {
                    throw e;
                }
                GStack st = GStack.current();
                if (st != null) {
                    Park.gosched(st);
                } else {
                    LockSupport.parkNanos(NAP_NANOS);
                }
            }
        }

        void end() {
            while (!isParked()) {
                if (ended != null) {
                    return;
                }
                try {
                    awaitParked();
                } catch (OutOfMemoryError e) {
                    Thread.onSpinWait(); // Without another attempt the goroutine would stay for ever.
                }
            }
            GStack st = GStack.enterChecked();
            Park.goready(gp);
            GStack.exit(st);
        }
    }

    /** Returns the leaked Gs. Called with the world stopped. */
    private long[] search() {
        boolean _ = settle(s);
        load();
        try {
            hide();
            System.gc();
            return leaked();
        } finally { // There may be no memory for the result.
            putBack();
        }
    }

    /** Does the part that needs memory. It is a method of its own, so that afterwards no local variable refers to the cargo's objects. */
    private void load() {
        Cargo c = new Cargo(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        boolean loaded = false;
        try {
            s.slots.forEach(gp -> consider(gp, c));
            refs = new WeakReference<?>[n];
            int most = 0;
            for (int i = 0; i < n; i++) {
                SeparatedStack apart = c.apart.get(i);
                refs[i] = new WeakReference<>(apart != null ? apart : c.stacks.get(i));
                most = Math.max(most, G.INDEX.get(gs[i]));
            }
            at = new int[most + 1];
            Arrays.fill(at, NONE);
            for (int i = 0; i < n; i++) {
                at[G.INDEX.get(gs[i])] = i;
            }
            holder = new FinalReferenceHolder(c);
            loaded = true;
        } finally {
            if (!loaded) {
                c.release();
            }
        }
    }

    private void consider(long gp, Cargo c) {
        if (GStatus.readgstatus(gp) != GStatus.GWAITING || !(GSlots.stack(gp) instanceof GStack st) || st.bubble() != null
                || GSlots.isDropped(gp)) {
            return;
        }
        Runnable fn = GSlots.fn(gp);
        if (fn != null && Labelled.function(fn) instanceof Canary other && other != canary) {
            return;
        }
        SeparatedStack apart = null;
        if (WaitReason.of(G.WAITREASON.getOpaque(gp)) == WaitReason.JDK) {
            if (LockSupport.getBlocker(st.thread) == null) {
                return;
            }
        } else {
            apart = new SeparatedStack(st);
            if (!keep(apart, c)) {
                return;
            }
        }
        if (n == gs.length) {
            gs = Arrays.copyOf(gs, 2 * n);
        }
        c.stacks.add(st);
        c.apart.add(apart);
        c.fns.add(fn);
        gs[n++] = gp;
    }

    /** Makes all objects for which the goroutine waits refer to it. Returns false when they are not known. */
    private static boolean keep(SeparatedStack waiter, Cargo c) {
        int i = 0;
        for (WaitObject k = waiter.st.waitsFor(0); k != null; k = waiter.st.waitsFor(++i)) {
            c.waitObjects.add(k);
            k.kept = k.kept == null ? waiter : new Kept(waiter, k.kept);
        }
        return i > 0;
    }

    private void hide() {
        Cargo c = (Cargo) holder.get();
        s.hide(this);
        for (int i = 0; i < n; i++) {
            long gp = gs[i];
            GSlots.setStack(gp, null);
            GSlots.setFn(gp, null);
            SeparatedStack apart = c.apart.get(i);
            if (apart != null) {
                apart.take();
            }
            VarHandle.fullFence(); // Before the read of the status: see the class comment.
            if (GStatus.readgstatus(gp) != GStatus.GWAITING) {
                GSlots.setStack(gp, c.stacks.get(i));
            }
        }
    }

    /** Returns the goroutines that still wait and whose weak reference was cleared. */
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
        Cargo c = (Cargo) holder.get();
        for (int i = 0; i < n; i++) {
            GSlots.setStack(gs[i], c.stacks.get(i));
            GSlots.setFn(gs[i], c.fns.get(i));
            SeparatedStack apart = c.apart.get(i);
            if (apart != null) {
                apart.putBack();
            }
        }
        s.hide(null);
        c.release();
    }

    @Override
    public @Nullable GStack stack(long gp) {
        int index = G.INDEX.get(gp);
        int i = index < at.length ? at[index] : NONE;
        Object found = i == NONE ? null : refs[i].get();
        return found instanceof SeparatedStack apart ? apart.st : (GStack) found;
    }
}
