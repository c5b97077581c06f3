// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Objects;
import java.util.function.Supplier;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.GStack;
import org.gmp4j.struct.FieldHandle;
import org.gmp4j.sysmon.GcWatch;
import org.jspecify.annotations.Nullable;

/**
 * Objects that are worth using again, for as long as the collector leaves them: it may take any of them at any time without notice.
 * They never cause an {@link OutOfMemoryError}, and never outlive the pool. Thread-safe, from goroutines, virtual threads and plain
 * threads. Nothing here waits, so interrupts and bubbles make no difference. What is done before a {@link #put} happens before the
 * return of the {@link #get} that gives the object out again.
 *
 * <p>Each P has a slot of its own: one object that is taken and left by one atomic step, and a list of more under a lock,
 * newest first. A get that finds its slot empty takes the oldest of another's list. Plain threads spread over the slots, and so do
 * Ps of several schedulers; the number of a P is only a hint where to look, nothing breaks if it is out of date.
 *
 * <p>The victim cache. When the collector has run ({@link GcWatch}), all slots of all pools become victims, and the victims
 * of before are dropped. A get looks among the victims when there is nothing else, and what is put back stands in the new
 * slots. So what is in use survives, what was not asked for between two such beats goes, and a pool does not lose all at
 * once. Without a scheduler in the process nobody watches but a get that finds no object, and a put into an empty pool.
 *
 * <p>A beat comes at most once a second, which is too late when memory is short. Therefore the slots of a pool hang on one
 * soft reference: the collector takes them all before it lets an allocation fail. And the list of all pools refers to them
 * weakly: a pool that was dropped goes with what it holds, whether anybody watches or not.
 *
 * <p>Rejected: soft references alone keep everything until memory is short, weak ones nothing beyond the next collection;
 * one for each object would be the greater part of a small one. Source: Go's {@code sync.Pool}.
 *
 * @param <T> the type of the objects; {@code null} is never one
 */
public final class Pool<T> {
    /** A power of two. */
    private static final int SLOTS = Integer.highestOneBit(2 * Runtime.getRuntime().availableProcessors() - 1);

    /** Guards the two lists and the making of slots. */
    private static final HeapMutex LOCK = new HeapMutex(LockRank.SEMA);
    /** Pools with slots, and those that may have victims only. Swapped by a beat, which is not to allocate. */
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
    /** Both under LOCK; read without it. */
    private volatile Slots slots = Slots.NONE;
    private volatile Slots victims = Slots.NONE;

    /** All slots of a pool, for as long as there is memory. */
    private static final class Slots extends SoftReference<Slot[]> {
        static final Slots NONE = new Slots(null);

        Slots(Slot @Nullable [] all) {
            super(all);
        }
    }

    /** What one P uses most. Padded: the slots of two Ps never share a cache line. */
    private static final class Slot {
        private static final VarHandle ONE = FieldHandle.of(MethodHandles.lookup(), Slot.class, "one", Object.class);

        /** Anyone, by exchange. */
        private volatile @Nullable Object one;
        /** Under the lock, oldest first; the count is read without it. */
        private final HeapMutex lock = new HeapMutex(LockRank.SEMA);
        private final ArrayDeque<Object> more = new ArrayDeque<>();
        private volatile int count;
        @SuppressWarnings("unused")
        private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;

        @Nullable Object takeOne() {
            return one == null ? null : (Object) ONE.getAndSet(this, (Object) null);
        }

        boolean putOne(Object x) {
            return one == null && ONE.compareAndSet(this, (Object) null, x);
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
            } finally { // The list may be out of memory.
                lock.unlock();
                GStack.exit(st);
            }
        }
    }

    /**
     * An empty pool.
     *
     * @param supplier what {@link #get} returns when there is nothing; null for null
     */
    public Pool(@Nullable Supplier<T> supplier) {
        this.supplier = supplier;
    }

    private static int here() {
        GStack st = GStack.current();
        return (st == null ? (int) Thread.currentThread().threadId() : st.pHint()) & SLOTS - 1;
    }

    /** An object that was put, in no order that could be relied on, or a new one. */
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

    /** Leaves an object for others; the caller does not use it any more. */
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

    /** Whether something was put since the last beat. */
    boolean hasSlots() {
        return slots.get() != null;
    }

    private Slot[] makeSlots() {
        GcWatch.look(); // So that pools that come and go do not fill the list where nobody else watches.
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
            if (slots == Slots.NONE) { // Else the collector has taken them, and it is in the list.
                all.add(self);
            }
            slots = ref;
            return made;
        } finally { // The list may be out of memory.
            LOCK.unlock();
            GStack.exit(st);
        }
    }

    /** {@code poolCleanup}: a beat of the collector. Sysmon's too: it does not allocate. */
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

    /** How many pools are in the lists: for tests. */
    static int listed() {
        GStack st = GStack.enter();
        LOCK.lock();
        int n = all.size() + old.size();
        LOCK.unlock();
        GStack.exit(st);
        return n;
    }
}
