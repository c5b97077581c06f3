// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

import org.gmp4j.Cancelable;
import org.gmp4j.proc.Deferred;
import org.gmp4j.proc.GStack;
import org.gmp4j.report.Fatal;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.FieldHandle;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.NotifyList;
import org.gmp4j.wait.Sema;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * A lock held by any number of readers or by one writer. Goroutines, virtual and plain threads may use it together; it has
 * no owner. Interrupts leave its waits alone, but for those that say so in their name; in a bubble of {@code Synctest} the clock does not
 * move on while one waits without a limit of time. A writer that waits holds new readers off: readers that come later cannot pass it;
 * therefore a reader must not take the read lock again inside. The writer waits for the readers that have the lock when it comes, among
 * them those that wait for a CPU, and no time bounds that. Writers wait for each other as for a {@link Mutex}. The readers that a writer
 * held off come before the next writer.
 * What is done before an unlock happens before the return of the lock that it lets through. Unlocked when new.
 *
 * <p>Misuse. An unlock that throws has changed nothing, as that of a {@link Mutex}. But an unlock while another thread holds the lock
 * in the same way cannot be told from a right one: it gives that lock back.
 *
 * <p>One word holds all of the state, so that each step sees whether it is right before it changes anything: how many hold
 * the read lock or wait for it; whether a writer has the lock, or waits for the readers that were inside when it came; and how many
 * of these are left, the last of which wakes the writer. Go has two words, and adds to them before it looks: then a mistaken
 * unlock is seen by others, and a writer that came just then would wait for a reader that never was.
 *
 * <p>Source: Go's {@code sync.RWMutex}.
 */
@NullMarked
public final class RWMutex {
    /** The sign: readers wait, and a writer has the lock when none is departing. */
    private static final long WRITER = 1L << 63;
    /** One reader, inside or waiting; there is room for 2^31. Those that a writer waits for count from 0 up. */
    private static final long READER = 1L << 32;
    private static final String READ_UNLOCKED = "sync: RUnlock of unlocked RWMutex";
    private static final String WRITE_UNLOCKED = "sync: Unlock of unlocked RWMutex";
    private static final VarHandle STATE = FieldHandle.of(MethodHandles.lookup(), RWMutex.class, "state", long.class);
    private static final VarHandle HASTY = FieldHandle.of(MethodHandles.lookup(), RWMutex.class, "hasty", NotifyList.class);

    /** Held by the writer, and by one that waits for readers. */
    private final Mutex writer = new Mutex();
    private final Sema writerSema = new Sema();
    private final Sema readerSema = new Sema();
    /** Readers that may give up wait here, uncounted; made when the first one comes. */
    private volatile @Nullable NotifyList hasty;
    /** Anyone, by CAS; by addition to lock for reading. */
    private volatile long state;

    /** An unlocked one. */
    public RWMutex() {
    }

    /** How many hold the read lock or wait for it. */
    private static int readers(long s) {
        return (int) ((s & ~WRITER) >>> Integer.SIZE);
    }

    /** How many a writer waits for. */
    private static int departing(long s) {
        return (int) s;
    }

    /**
     * Takes the lock for reading, waiting while a writer has it or waits for it.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     */
    public void rLock() {
        Headroom.check(); // Or there might be no room for the unlock.
        if ((long) STATE.getAndAdd(this, READER) < 0) {
            GStack st = GStack.enterChecked();
            long since = System.nanoTime();
            readerSema.acquire(false, WaitReason.RWMUTEX_RLOCK);
            Waiting.waitedForLock(System.nanoTime() - since);
            GStack.exit(st);
        }
    }

    /**
     * As {@link #rLock}, but behind writers that come while it waits, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while this waits; the lock was not taken, and the interrupt
     *     status is cleared
     */
    public void rLockInterruptibly() throws InterruptedException {
        boolean _ = rLock(Limits.INTERRUPTIBLY);
    }

    /**
     * As {@link #rLock}, but behind writers that come while it waits, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits; the lock was not taken
     */
    public void rLockUnless(Cancelable ctx) {
        boolean _ = rLock(Limits.until(ctx).uninterruptibly());
    }

    /** As {@link #rLockInterruptibly}, for at most {@code d} instead; false when the time was up, and the lock was not taken. */
    public boolean rLockWithin(Duration d) {
        return rLock(Limits.within(d).uninterruptibly());
    }

    /**
     * A reader that may give up is not counted while it waits: if it were, nothing would tell whether a writer has let it in already.
     * It is told when a writer has given the lock back, and competes with the next one.
     *
     * <p>No wake-up is lost: the reader draws its ticket before it looks at the state, the writer changes the state before it looks
     * for tickets, both with a full fence between.
     */
    private boolean rLock(Limits limits) {
        limits.check();
        if (tryRLock()) {
            return true;
        }
        if (limits.expired()) {
            return false;
        }
        NotifyList list = hasty();
        NotifyList.OfTicket e = new NotifyList.OfTicket(list, limits);
        GStack st = GStack.enter();
        try {
            e.begin();
            for (;;) {
                int ticket = list.add(); // A ticket that nothing waits with does no harm: all are called at once.
                if (tryRLock()) {
                    return true;
                }
                long since = System.nanoTime();
                boolean told = list.await(ticket, e, limits.reason(WaitReason.RWMUTEX_RLOCK));
                Waiting.waitedForLock(System.nanoTime() - since);
                if (!told) {
                    return !e.timeUp();
                }
            }
        } finally {
            e.finish();
            GStack.exit(st);
        }
    }

    private NotifyList hasty() {
        NotifyList there = hasty;
        if (there != null) {
            return there;
        }
        NotifyList fresh = new NotifyList();
        there = (NotifyList) HASTY.compareAndExchange(this, (NotifyList) null, fresh);
        return there == null ? fresh : there;
    }

    /** Takes the lock for reading if no writer has it or waits for it; false when it was not taken. */
    public boolean tryRLock() {
        Headroom.check();
        for (long s = state; s >= 0; s = state) {
            if (STATE.compareAndSet(this, s, s + READER)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Gives one read lock back.
     *
     * @throws IllegalStateException "sync: RUnlock of unlocked RWMutex"; in program mode that ends the program. Nothing has
     *     changed
     */
    public void rUnlock() {
        if (!giveReadBack()) {
            throw Fatal.misuse(READ_UNLOCKED);
        }
    }

    /** False when it is not locked so. */
    private boolean giveReadBack() {
        for (;;) {
            long s = state;
            if ((s < 0 ? departing(s) : readers(s)) == 0) {
                return false;
            }
            long n = s < 0 ? s - READER - 1 : s - READER;
            boolean last = n < 0 && departing(n) == 0; // Of those the writer waits for.
            if (last && !Headroom.enough()) {
                Unlocking.leave(this, true);
                return true;
            }
            if (STATE.compareAndSet(this, s, n)) {
                if (last) {
                    GStack st = GStack.enterChecked();
                    writerSema.release(false);
                    GStack.exit(st);
                }
                return true;
            }
        }
    }

    /**
     * Takes the lock for writing, waiting for readers and other writers.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     */
    public void lock() {
        GStack.checkAll();
        writer.lock();
        if (announce()) {
            GStack st = GStack.enterChecked();
            long since = System.nanoTime();
            writerSema.acquire(false, WaitReason.RWMUTEX_LOCK);
            Waiting.waitedForLock(System.nanoTime() - since);
            GStack.exit(st);
        }
    }

    /** With the writers' mutex held: from here on readers wait. True when some are inside. */
    private boolean announce() {
        long s;
        do {
            s = state;
        } while (!STATE.compareAndSet(this, s, s | WRITER | readers(s)));
        return readers(s) != 0;
    }

    /**
     * As {@link #lock}, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while this waits; the lock was not taken, and the interrupt
     *     status is cleared
     */
    public void lockInterruptibly() throws InterruptedException {
        boolean _ = lock(Limits.INTERRUPTIBLY);
    }

    /**
     * As {@link #lock}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits; the lock was not taken
     */
    public void lockUnless(Cancelable ctx) {
        boolean _ = lock(Limits.until(ctx).uninterruptibly());
    }

    /** As {@link #lock}, for at most {@code d}; false when the time was up, and the lock was not taken. */
    public boolean lockWithin(Duration d) {
        return lock(Limits.within(d).uninterruptibly());
    }

    private boolean lock(Limits limits) {
        GStack.checkAll();
        long since = Limits.now();
        if (!writer.take(limits)) {
            return false;
        }
        Limits left = limits.left(since);
        GStack st = GStack.enterChecked();
        Sema.OfSema e = new Sema.OfSema(writerSema, left);
        boolean mine = false;
        try {
            e.begin();
            if (announce()) {
                long from = System.nanoTime();
                mine = writerSema.acquire(false, left.reason(WaitReason.RWMUTEX_LOCK), e);
                Waiting.waitedForLock(System.nanoTime() - from);
            } else {
                mine = true;
            }
            if (!mine && !withdraw()) {
                writerSema.acquire(false, WaitReason.RWMUTEX_LOCK); // The last reader has let this one in.
                mine = true;
            }
            return mine || !e.timeUp();
        } finally {
            e.finish();
            if (!mine) {
                boolean _ = writer.giveBack();
            }
            GStack.exit(st);
        }
    }

    /** A writer that waits for readers gives up, and lets those in that it has held off; false when the last has let it in. */
    private boolean withdraw() {
        for (long s = state; departing(s) != 0; s = state) {
            if (STATE.compareAndSet(this, s, s & ~WRITER & ~0xFFFF_FFFFL)) {
                // As many units as there are waiting readers that were not let in before; any of them may take one.
                letIn(readers(s) - departing(s));
                return true;
            }
        }
        return false;
    }

    /** After the state has changed: readers that are counted get a unit each, others are told. */
    private void letIn(int waiting) {
        for (int i = 0; i < waiting; i++) {
            readerSema.release(false);
        }
        NotifyList list = hasty;
        if (list != null) {
            list.notifyAllWaiters();
        }
    }

    /** Takes the lock for writing if it is free; false when it was not taken. */
    public boolean tryLock() {
        if (!writer.tryLock()) {
            return false;
        }
        if (!STATE.compareAndSet(this, 0L, WRITER)) {
            writer.unlock();
            return false;
        }
        return true;
    }

    /**
     * Gives the write lock back, and lets the readers in that wait.
     *
     * @throws IllegalStateException "sync: Unlock of unlocked RWMutex"; in program mode that ends the program. Nothing has
     *     changed
     */
    public void unlock() {
        if (!giveBack()) {
            throw Fatal.misuse(WRITE_UNLOCKED);
        }
    }

    /** False when it is not locked so. */
    private boolean giveBack() {
        long s;
        do {
            s = state;
            if (s >= 0 || departing(s) != 0) {
                return false;
            }
            if (!Headroom.enough()) {
                Unlocking.leave(this, false);
                return true;
            }
        } while (!STATE.compareAndSet(this, s, s & ~WRITER));
        int waiting = readers(s);
        if (waiting != 0 || hasty != null) {
            GStack st = GStack.enterChecked();
            letIn(waiting);
            GStack.exit(st);
        }
        boolean _ = writer.giveBack(); // Last, because the readers come before the next writer. It must not be refused any more.
        return true;
    }

    /**
     * Runs {@code f} with the lock held for reading and returns its result; unlocks however it ends.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     */
    public <T extends @Nullable Object> T withRead(Supplier<T> f) {
        Objects.requireNonNull(f, "with of nil func value");
        rLock();
        try {
            return f.get();
        } finally {
            rUnlock();
        }
    }

    /**
     * Runs {@code f} with the lock held for reading; unlocks however it ends.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     */
    public void withRead(Runnable f) {
        Objects.requireNonNull(f, "with of nil func value");
        rLock();
        try {
            f.run();
        } finally {
            rUnlock();
        }
    }

    /**
     * Runs {@code f} with the lock held for writing and returns its result; unlocks however it ends.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     */
    public <T extends @Nullable Object> T withWrite(Supplier<T> f) {
        Objects.requireNonNull(f, "with of nil func value");
        lock();
        try {
            return f.get();
        } finally {
            unlock();
        }
    }

    /**
     * Runs {@code f} with the lock held for writing; unlocks however it ends.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     */
    public void withWrite(Runnable f) {
        Objects.requireNonNull(f, "with of nil func value");
        lock();
        try {
            f.run();
        } finally {
            unlock();
        }
    }

    /** An unlock for which there was no stack left: until sysmon has done it the lock is held. */
    private static final class Unlocking extends Deferred {
        private final RWMutex m;
        private final boolean reader;
        private final @Nullable GStack by = GStack.current();

        private Unlocking(RWMutex m, boolean reader) {
            this.m = m;
            this.reader = reader;
        }

        /** Has sysmon do it; throws, and nothing has changed, when no scheduler lives. */
        static void leave(RWMutex m, boolean reader) {
            if (!Deferred.add(new Unlocking(m, reader))) {
                throw Headroom.overflow();
            }
        }

        @Override
        protected void run() {
            if (!(reader ? m.giveReadBack() : m.giveBack())) { // Another has unlocked it by mistake, and was let through.
                Fatal.misuseBy(by, reader ? READ_UNLOCKED : WRITE_UNLOCKED);
            }
        }
    }
}
