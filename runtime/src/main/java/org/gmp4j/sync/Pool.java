// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.lang.invoke.MethodHandles;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Objects;
import java.util.function.Supplier;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.HeapRef;
import org.gmp4j.sysmon.GcWatch;
import org.jspecify.annotations.Nullable;

/**
 * A pool of objects for reuse. The collector may free any of them at any time. So pooled objects never cause an {@link OutOfMemoryError},
 * and never outlive the pool. Thread-safe. Goroutines, virtual threads and platform threads may use it. No method waits, so interrupts and
 * bubbles make no difference. The actions of a thread before a {@link #put} happen before the return of the {@link #get} that returns the
 * object.
 *
 * <p>Each P has a slot. A slot has room for one object, which is taken and put by a single atomic step. It also has a list of further
 * objects, under a lock. A get takes the one object, or else the newest of the list. If its slot is empty, it takes the oldest object of
 * another slot's list, or else that slot's one object. Plain threads, and Ps of several schedulers, share the slots. The number of a P is
 * only a hint for the choice of a slot and may be out of date.
 *
 * <p>The victim cache. When the collector has run ({@link GcWatch}), all slots of all pools become victims, and the previous victims are
 * dropped. A get takes a victim when the slots are empty, and a later put puts that object into the new slots. So objects in use survive,
 * objects that were not used between two drops are dropped, and a pool never loses all objects at once. In a process without a scheduler,
 * only a get that finds the slots empty, and a put into a pool without slots, check whether the collector has run.
 *
 * <p>A drop happens at most once a second, which is too late when memory is short. Therefore one soft reference refers to all slots of a
 * pool, and the collector clears that reference before it lets an allocation fail. The list of all pools has weak references, so that the
 * collector frees an unused pool with its objects.
 *
 * <p>Rejected: soft references alone, which keep all objects until memory is short. Rejected too: weak references alone, which keep no
 * object beyond the next collection. Rejected too: a reference for each object, which would be larger than a small object. Source: Go's
 * {@code sync.Pool}.
 *
 * @param <T> the type of the objects, which are never {@code null}
 */
public final class Pool<T> {
    /** The number of slots, a power of two. */
    private static final int SLOTS = Integer.highestOneBit(2 * Runtime.getRuntime().availableProcessors() - 1);

    /** Guards the two lists and the making of slots. */
    private static final HeapMutex LOCK = new HeapMutex(LockRank.SEMA);
    /** The pools with slots. The pools in {@code old} may have victims. {@link #drop} swaps the lists, because it must not allocate. */
    private static ArrayList<WeakReference<Pool<?>>> all = new ArrayList<>();
    private static ArrayList<WeakReference<Pool<?>>> old = new ArrayList<>();

    static {
        GcWatch.onGc(new Dropping());
    }

    private static final class Dropping implements Runnable {
        @Override
        public void run() {
            drop();
        }
    }

    private final @Nullable Supplier<T> supplier;
    private final WeakReference<Pool<?>> self = new WeakReference<>(this);
    /** Written with LOCK held, and read without it. */
    private volatile Slots slots = Slots.NONE;
    /** Written with LOCK held, and read without it. */
    private volatile Slots victims = Slots.NONE;

    /** A reference to all slots of a pool, which the collector clears when memory is short. */
    private static final class Slots extends SoftReference<Slot[]> {
        static final Slots NONE = new Slots(null);

        Slots(Slot @Nullable [] all) {
            super(all);
        }
    }

    /** The objects that one P uses first. A slot is padded, so that the slots of two Ps never share a cache line. */
    private static final class Slot {
        private static final HeapRef<Slot, Object> ONE = HeapRef.of(MethodHandles.lookup(), Slot.class, "one", Object.class);

        /** Any thread writes it, by an exchange or a CAS. */
        private volatile @Nullable Object one;
        /** Guards the list, whose first object is the oldest, and the count, which is also read without the lock. */
        private final HeapMutex lock = new HeapMutex(LockRank.SEMA);
        private final ArrayDeque<Object> more = new ArrayDeque<>();
        private volatile int count;
        @SuppressWarnings("unused")
        private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;

        @Nullable Object takeOne() {
            return one == null ? null : ONE.getAndSet(this, null);
        }

        boolean putOne(Object x) {
            return one == null && ONE.compareAndSet(this, null, x);
        }

        @Nullable Object takeMore(boolean newest) {
            if (count == 0) {
                return null;
            }
            GStack st = GStack.enter();
            lock.lock();
            Object x = newest ? more.pollLast() : more.pollFirst();
            count = more.size();
            lock.unlock();
            GStack.exit(st);
            return x;
        }

        void putMore(Object x) {
            GStack st = GStack.enter();
            lock.lock();
            try {
                more.addLast(x);
                count = more.size();
            } finally { // The growth of the list may fail for lack of memory.
                lock.unlock();
                GStack.exit(st);
            }
        }
    }

    /**
     * Makes an empty pool.
     *
     * @param supplier makes the object that {@link #get} returns when the pool is empty; if it is null, get then returns null
     */
    public Pool(@Nullable Supplier<T> supplier) {
        this.supplier = supplier;
    }

    private static int here() {
        GStack st = GStack.current();
        return (st == null ? (int) Thread.currentThread().threadId() : st.pHint()) & SLOTS - 1;
    }

    /** Returns any object that was put. If the pool is empty, returns a new object of the supplier, or null if there is no supplier. */
    public @Nullable T get() {
        int i = here();
        Object x = take(slots.get(), i);
        if (x == null) {
            GcWatch.look();
            x = take(victims.get(), i);
        }
        if (x == null) {
            return supplier == null ? null : supplier.get();
        }
        @SuppressWarnings("unchecked")
        T t = (T) x;
        return t;
    }

    private static @Nullable Object take(Slot @Nullable [] from, int here) {
        if (from == null) {
            return null;
        }
        Object x = from[here].takeOne();
        if (x == null) {
            x = from[here].takeMore(true);
        }
        for (int i = 1; x == null && i < SLOTS; i++) {
            Slot other = from[here + i & SLOTS - 1];
            x = other.takeMore(false);
            if (x == null) {
                x = other.takeOne();
            }
        }
        return x;
    }

    /** Puts an object into the pool. The caller must not use it any more. */
    public void put(T x) {
        Objects.requireNonNull(x, "null is never an element of a pool");
        Slot[] to = slots.get();
        if (to == null) {
            to = makeSlots();
        }
        Slot mine = to[here()];
        if (!mine.putOne(x)) {
            mine.putMore(x);
        }
    }

    /** Returns whether an object was put since the last drop. */
    boolean hasSlots() {
        return slots.get() != null;
    }

    private Slot[] makeSlots() {
        GcWatch.look(); // Without a scheduler this keeps short-lived pools from filling the list.
        Slot[] made = new Slot[SLOTS];
        for (int i = 0; i < SLOTS; i++) {
            made[i] = new Slot();
        }
        Slots ref = new Slots(made);
        GStack st = GStack.enter();
        LOCK.lock();
        try {
            Slot[] there = slots.get();
            if (there != null) {
                return there;
            }
            if (slots == Slots.NONE) { // Otherwise the collector has cleared the reference, and the pool is in the list.
                all.add(self);
            }
            slots = ref;
            return made;
        } finally { // The growth of the list may fail for lack of memory.
            LOCK.unlock();
            GStack.exit(st);
        }
    }

    /** {@code poolCleanup}: makes all slots victims, and drops the previous victims. Sysmon may run it, so it does not allocate. */
    static void drop() {
        GStack st = GStack.enter();
        LOCK.lock();
        for (int i = 0; i < old.size(); i++) {
            Pool<?> p = old.get(i).get();
            if (p != null) {
                p.victims = Slots.NONE;
            }
        }
        old.clear();
        for (int i = 0; i < all.size(); i++) {
            Pool<?> p = all.get(i).get();
            if (p != null) {
                p.victims = p.slots;
                p.slots = Slots.NONE;
            }
        }
        ArrayList<WeakReference<Pool<?>>> emptied = old;
        old = all;
        all = emptied;
        LOCK.unlock();
        GStack.exit(st);
    }

    /** Returns how many pools are in the lists, for tests. */
    static int listed() {
        GStack st = GStack.enter();
        LOCK.lock();
        int n = all.size() + old.size();
        LOCK.unlock();
        GStack.exit(st);
        return n;
    }
}
