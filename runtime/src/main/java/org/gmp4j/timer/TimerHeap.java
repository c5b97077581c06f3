// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.lang.invoke.MethodHandles;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.lock.LockRank;
import org.gmp4j.lock.RuntimeMutex;
import org.gmp4j.sched.Park;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.HeapLong;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.jspecify.annotations.Nullable;

/**
 * The timers of a P: a 4-ary heap, in memory outside the Java heap, of (when, what) pairs ordered by when. {@code what} is the address of a
 * sleeping G, or 2 * slot + 1 for the slot of an {@link Alarm}.
 *
 * <p>The P's timersLock guards all but three words. {@code timer0When} is a copy of the first entry's time for readers without the lock. It
 * is written under the lock with release, read with acquire, and 0 for an empty heap. {@link #zombies} decides when to sweep, and need not
 * be exact. {@link #held} counts entries. The M that holds the P adds entries, so {@code timerpMask} needs no lock. Any M of the scheduler
 * takes due entries. In two cases another thread adds an entry and sets the P's timer bit for Ms that steal ({@code Idle.timerPutBack}): it
 * puts back an entry for which there was no memory ({@link #cameBack}), or it has no P and parks a goroutine ({@link #pushAside}).
 */
class TimerHeap {
    private static final int ENTRY = 2 * Long.BYTES;
    private static final int ARY = 4;
    private static final int FIRST_CAPACITY = 64;
    /** The heap is swept when more than 1/ZOMBIE_SHARE of the entries, and more than {@link #FEW_ZOMBIES}, are zombies. */
    private static final int ZOMBIE_SHARE = 4;
    private static final int FEW_ZOMBIES = 32;
    /** A timer may lack the memory to fire or to be set again. After this time, ns, it is checked again. */
    private static final long NO_MEMORY_NANOS = 1_000_000;

    private static final HeapLong<TimerHeap> HELD = HeapLong.of(MethodHandles.lookup(), TimerHeap.class, "held");

    /** The struct p that has the fields of this heap. */
    final long pp;
    /** The approximate number of zombies in the heap. Timers change it under their own locks, without the heap's. */
    final AtomicInteger zombies = new AtomicInteger();
    /** The state of these zombies. */
    final Alarm.Zombie zombie = new Alarm.Zombie(this);

    private Alarm[] slots = new Alarm[FIRST_CAPACITY];
    /** The stack of freed slots. The slots from {@link #fresh} on were never used. */
    private int[] free = new int[FIRST_CAPACITY];
    private int nfree;
    private int fresh;
    /** The number of alarms that were taken off and are being handled. The heap keeps room for them, because they may be put back. */
    private int flying;
    /** The number of entries that will be moved here, for which {@link #prepareMove} has made room. Guarded by the lock. */
    private int promised;
    /** The new arrays of this heap for {@link #moveTo}; null when nothing is prepared. */
    private Alarm @Nullable [] spareSlots;
    private int @Nullable [] spareFree;
    /**
     * The low half is the number of entries that are in the heap, or were taken off and are being handled. The high half counts the changes
     * of that number. Written under the lock with release, and read without the lock. An alarm that is being handled and is set again
     * counts twice.
     */
    private volatile long held;

    TimerHeap(long pp) {
        this.pp = pp;
    }

    void lock() {
        RuntimeMutex.lock(P.timersLockAddress(pp), LockRank.TIMERS);
    }

    private void hold(int change) {
        HELD.setRelease(this, held + (1L << Integer.SIZE) + change);
    }

    private int held() {
        return (int) held;
    }

    void unlock() {
        RuntimeMutex.unlock(P.timersLockAddress(pp), LockRank.TIMERS);
    }

    /**
     * Makes room for {@code more} entries, alarms or sleeps, so that adding them needs no memory. Called under the lock. If there is no
     * memory it throws, before anything has changed.
     */
    void reserve(int more) {
        int entries = P.TIMERSLEN.getOpaque(pp) + flying + more;
        if (fresh - nfree + more > slots.length) {
            int n = Math.max(slots.length * 2, fresh - nfree + more);
            int[] room = Arrays.copyOf(free, n); // This has room for all slots, because freeing a slot must not need memory.
            slots = Arrays.copyOf(slots, n);
            free = room;
        }
        if (entries > P.TIMERSCAP.get(pp)) {
            grow(Math.max(FIRST_CAPACITY, Math.max(entries, P.TIMERSCAP.get(pp) * 2)));
        }
    }

    /**
     * Returns whether {@link #reserve} may have to make room for one entry. Called without the lock, by the M that holds the P. During the
     * call other threads only free slots and take entries off, and {@link #pushAside} leaves room for one more. {@code held} also counts
     * the entries that are being handled and may be put back. It is one word, because two reads of two counts could both miss an entry that
     * moves from one count to the other between them.
     */
    boolean full() {
        return fresh - nfree + 1 > slots.length || held() + 1 > P.TIMERSCAP.get(pp);
    }

    /** Adds a sleeping G. Called under the lock. */
    void push(long when, long gp) {
        reserve(1);
        add(when, gp);
    }

    private void add(long when, long gp) {
        if (zombies.get() > FEW_ZOMBIES && zombies.get() > P.TIMERSLEN.getOpaque(pp) / ZOMBIE_SHARE) {
            sweep();
        }
        put(when, gp);
    }

    /** Adds an alarm. Called under the lock. */
    void push(Alarm a) {
        reserve(1);
        a.enter(this);
        place(a);
    }

    /** Adds an alarm whose state names this heap, and for which there is room. Called under the lock. */
    void place(Alarm a) {
        int slot = nfree > 0 ? free[--nfree] : fresh++;
        slots[slot] = a;
        add(a.when, (long) slot << 1 | 1);
    }

    /**
     * Adds an alarm for a thread that does not hold the P. Called under the lock. Room stays free for the entries that will be moved here,
     * and for the sleep of a goroutine of the P that has found the heap not {@link #full} and is about to park.
     */
    void pushAside(Alarm a) {
        reserve(promised + 2);
        push(a);
    }

    private void put(long when, long what) {
        int n = P.TIMERSLEN.getOpaque(pp);
        hold(1);
        P.TIMERSLEN.setOpaque(pp, n + 1);
        long heap = P.TIMERS.get(pp);
        siftUp(heap, n, when, what);
        P.TIMER0WHEN.setRelease(pp, when(heap, 0));
    }

    /** Maps memory. Throws an {@code OutOfMemoryError} when there is none. */
    private static long map(long bytes) {
        try {
            return Memory.map(bytes);
        } catch (NativeException e) {
            throw new OutOfMemoryError("no memory for timers: " + e.getMessage());
        }
    }

    private void grow(int cap) {
        long heap = map((long) cap * ENTRY);
        long old = P.TIMERS.get(pp);
        int oldCap = P.TIMERSCAP.get(pp);
        for (int i = 0, n = P.TIMERSLEN.getOpaque(pp); i < n; i++) { // A copy of memory segments would allocate objects.
            set(heap, i, when(old, i), what(old, i));
        }
        P.TIMERS.set(pp, heap);
        P.TIMERSCAP.set(pp, cap);
        unmap(old, oldCap);
    }

    private static void unmap(long heap, int cap) {
        if (heap != 0) {
            try {
                Memory.unmap(heap, (long) cap * ENTRY);
            } catch (OutOfMemoryError e) {
                return; // There is no memory for the call's objects. The lost memory is at most half of the heap's present size.
            }
        }
    }

    private static long when(long heap, int i) {
        return Mem.LONG.get(heap + (long) i * ENTRY);
    }

    private static long what(long heap, int i) {
        return Mem.LONG.get(heap + (long) i * ENTRY + Long.BYTES);
    }

    private static void set(long heap, int i, long when, long what) {
        Mem.LONG.set(heap + (long) i * ENTRY, when);
        Mem.LONG.set(heap + (long) i * ENTRY + Long.BYTES, what);
    }

    private static void siftUp(long heap, int i, long when, long what) {
        while (i > 0) {
            int parent = (i - 1) / ARY;
            if (when(heap, parent) <= when) {
                break;
            }
            set(heap, i, when(heap, parent), what(heap, parent));
            i = parent;
        }
        set(heap, i, when, what);
    }

    private static void siftDown(long heap, int n, int i, long when, long what) {
        for (;;) {
            int child = i * ARY + 1;
            if (child >= n) {
                break;
            }
            int least = child;
            for (int c = child + 1; c < Math.min(child + ARY, n); c++) {
                if (when(heap, c) < when(heap, least)) {
                    least = c;
                }
            }
            if (when(heap, least) >= when) {
                break;
            }
            set(heap, i, when(heap, least), what(heap, least));
            i = least;
        }
        set(heap, i, when, what);
    }

    /** Removes the first entry and returns its {@code what}. Called under the lock. */
    long pop() {
        long heap = P.TIMERS.get(pp);
        int n = P.TIMERSLEN.getOpaque(pp) - 1;
        long what = what(heap, 0);
        P.TIMERSLEN.setOpaque(pp, n);
        if (n > 0) {
            siftDown(heap, n, 0, when(heap, n), what(heap, n));
        }
        P.TIMER0WHEN.setRelease(pp, n == 0 ? 0 : when(heap, 0));
        return what;
    }

    private static boolean isAlarm(long what) {
        return (what & 1) != 0;
    }

    private static int slot(long what) {
        return (int) (what >> 1);
    }

    @SuppressWarnings("NullAway") // A free slot is not read before it is filled.
    private void freeSlot(int slot) {
        slots[slot] = null;
        free[nfree++] = slot;
    }

    /** Removes all zombies. Called under the lock. */
    private void sweep() {
        long heap = P.TIMERS.get(pp);
        int n = P.TIMERSLEN.getOpaque(pp);
        int kept = 0;
        for (int i = 0; i < n; i++) {
            long what = what(heap, i);
            if (buried(what)) {
                freeSlot(slot(what));
            } else {
                set(heap, kept++, when(heap, i), what);
            }
        }
        for (int i = (kept + 2) / ARY - 1; i >= 0; i--) {
            siftDown(heap, kept, i, when(heap, i), what(heap, i));
        }
        int _ = zombies.addAndGet(kept - n); // It is not set to 0, because an entry that was kept above may be a zombie by now.
        hold(kept - n); // Follows the change of zombies: in the other order busy could miss the entries that are kept.
        P.TIMERSLEN.setOpaque(pp, kept);
        P.TIMER0WHEN.setRelease(pp, kept == 0 ? 0 : when(heap, 0));
    }

    /**
     * Takes the entries that are due at {@code now}: readies Gs, and checks timers. It releases the heap's lock while it checks a timer,
     * because the timer's own lock ranks lower. A timer for which there is no memory is checked again a little later.
     *
     * @return the number of Gs and timers
     */
    int run(long now) {
        int ran = 0;
        long again = 0;
        lock();
        for (long next = P.TIMER0WHEN.getAcquire(pp); next != 0 && next <= now; next = P.TIMER0WHEN.getAcquire(pp)) {
            long what = pop();
            if (!isAlarm(what)) {
                Park.goready(what); // It takes only sched.lock, which ranks higher.
                ran++;
            } else {
                Alarm a = slots[slot(what)];
                RuntimeTimer t = a.take();
                if (t == null) {
                    freeSlot(slot(what));
                    zombies.decrementAndGet();
                } else {
                    flying++;
                    unlock();
                    Throwable failed = ring(t, a, now);
                    lock();
                    flying--;
                    if (failed instanceof OutOfMemoryError) {
                        a.comeBack(t, this);
                        again = now + NO_MEMORY_NANOS;
                        put(again, what);
                    } else {
                        freeSlot(slot(what));
                        if (failed != null) {
                            hold(-1);
                            unlock();
                            cameBack(again);
                            throw JdkThreads.sneaky(failed); // The thread of OutsideTimers goes on without this timer.
                        }
                    }
                    ran++;
                }
            }
            hold(-1);
        }
        unlock();
        cameBack(again);
        return ran;
    }

    /** Wakes a thread for entries that were put back and are due at {@code when}; 0 for none. Called without the lock. */
    void cameBack(long when) {
    }

    private static @Nullable Throwable ring(RuntimeTimer t, Alarm a, long now) {
        try {
            t.ring(a, now);
            return null;
        } catch (Throwable e) {
            return e;
        }
    }

    /** Removes the zombies at the head, or all zombies when there are many. Returns when the first alarm or sleep is due, or 0. */
    long next() {
        if (zombies.get() > 0) {
            lock();
            if (zombies.get() > P.TIMERSLEN.getOpaque(pp) / ZOMBIE_SHARE) {
                sweep();
            }
            while (P.TIMERSLEN.getOpaque(pp) > 0 && buried(what(P.TIMERS.get(pp), 0))) {
                freeSlot(slot(pop()));
                zombies.decrementAndGet();
                hold(-1);
            }
            unlock();
        }
        return P.TIMER0WHEN.getAcquire(pp);
    }

    private boolean buried(long what) {
        return isAlarm(what) && slots[slot(what)].buried();
    }

    /**
     * Returns whether an entry that is no zombie is in the heap or being handled. Called without the lock. A zombie that is removed during
     * the call may count as such an entry. No entry that stays is missed: if {@link #zombies} counts a zombie that the first read of
     * {@code held} does not count, the zombie was added after that read, so {@code held} has changed. (A removal lowers {@link #zombies}
     * before {@code held}.)
     */
    boolean busy() {
        long before = held;
        return (int) before > zombies.get() || held != before;
    }

    /** Frees the heap's memory, which no thread uses any more. */
    void free() {
        unmap(P.TIMERS.get(pp), P.TIMERSCAP.get(pp));
    }

    /**
     * Allocates the memory that {@link #moveTo} needs. Before this heap's entries, {@code before} other entries will be moved to
     * {@code to}. Called with the world stopped.
     */
    void prepareMove(TimerHeap to, int before) {
        if (spareSlots == null) {
            int[] ints = new int[FIRST_CAPACITY];
            spareSlots = new Alarm[FIRST_CAPACITY];
            spareFree = ints;
        }
        to.lockMoved();
        try {
            int all = before + P.TIMERSLEN.getOpaque(pp);
            to.reserve(all);
            to.promised = all;
        } finally {
            to.unlockMoved();
        }
    }

    /** Returns whether an entry may still ready a goroutine: a sleep, an alarm that is no zombie, or an entry that is being handled. */
    boolean pending() {
        lock();
        long heap = P.TIMERS.get(pp);
        int n = P.TIMERSLEN.getOpaque(pp);
        boolean found = held() > n;
        for (int i = 0; i < n && !found; i++) {
            long what = what(heap, i);
            found = !isAlarm(what) || slots[slot(what)].live();
        }
        unlock();
        return found;
    }

    /**
     * Moves all entries but zombies to another heap. Called with the world stopped, or when the scheduler has ended. No M holds a P then,
     * but an M without a P may be in {@link #next}, and sysmon in {@link #pending}. So this takes the locks of the two heaps, one after the
     * other. The caller may hold sched.lock, because neither that M nor sysmon waits for sched.lock while it holds a heap's lock. Until all
     * entries are in the other heap they count in this heap as being handled. After {@link #prepareMove} this needs no memory, unless other
     * threads add entries to {@code to} meanwhile. If there is no memory it throws, and nothing has moved.
     */
    @SuppressWarnings("NullAway") // See prepareMove.
    void moveTo(TimerHeap to) {
        if (spareSlots == null) {
            prepareMove(to, 0);
        }
        lockMoved();
        long heap = P.TIMERS.get(pp);
        int n = P.TIMERSLEN.getOpaque(pp);
        int cap = P.TIMERSCAP.get(pp);
        Alarm[] alarms = slots;
        int[] unused = free;
        int count = nfree;
        int end = fresh;
        become(0, 0, 0, 0);
        slots = spareSlots;
        free = spareFree;
        nfree = 0;
        fresh = 0;
        unlockMoved();

        boolean moved = false;
        try {
            take(to, heap, n, alarms);
            moved = true;
        } finally {
            if (!moved) { // No entry was added to this heap during the attempt.
                lockMoved();
                slots = alarms;
                free = unused;
                nfree = count;
                fresh = end;
                become(heap, n, cap, n == 0 ? 0 : when(heap, 0));
                unlockMoved();
            }
        }
        spareSlots = null;
        unmap(heap, cap);

        lockMoved();
        hold(-n);
        unlockMoved();
    }

    private void become(long heap, int n, int cap, long first) {
        P.TIMERS.set(pp, heap);
        P.TIMERSCAP.set(pp, cap);
        P.TIMERSLEN.setOpaque(pp, n);
        P.TIMER0WHEN.setRelease(pp, first);
    }

    /** Adds this heap's former entries, except zombies, to another heap. If there is no memory it throws, and has added none. */
    private void take(TimerHeap to, long heap, int n, Alarm[] alarms) {
        to.lockMoved();
        try {
            to.reserve(n); // Other threads may have used the room from prepareMove.
            to.promised = Math.max(0, to.promised - n);
            to.hold(n); // An alarm may become a zombie before it is placed, and busy needs that held counts a zombie first.
            for (int i = 0; i < n; i++) {
                long what = what(heap, i);
                if (!isAlarm(what)) {
                    to.push(when(heap, i), what);
                } else if (alarms[slot(what)].move(to)) {
                    to.place(alarms[slot(what)]);
                } else {
                    int _ = zombies.decrementAndGet(); // It is not set to 0, because a thread may revive an alarm meanwhile.
                }
            }
            to.hold(-n);
        } finally {
            to.unlockMoved();
        }
    }

    private void lockMoved() {
        RuntimeMutex.lock(P.timersLockAddress(pp), LockRank.TIMERS_MOVED);
    }

    private void unlockMoved() {
        RuntimeMutex.unlock(P.timersLockAddress(pp), LockRank.TIMERS_MOVED);
    }
}
