// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

import org.gmp4j.Cancelable;
import org.gmp4j.report.Fatal;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Deferred;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.HeapLong;
import org.gmp4j.struct.HeapRef;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.NotifyList;
import org.gmp4j.wait.Sema;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * A lock that any number of readers or one writer may hold. Goroutines, virtual and platform threads may use it together. It has no owner.
 * An interrupt ends no wait for it, except in the forms named {@code …Interruptibly}. In a bubble of {@code Synctest} the clock does not
 * move on during a wait without a limit of time. While a writer waits, new readers wait behind it. So a reader that holds the read lock
 * must not take it again. A writer waits, without a bound, for all readers that hold the lock when the writer arrives, even for readers
 * that wait for a CPU. Writers wait for each other as for a {@link Mutex}. Readers that waited behind a writer get the lock before the next
 * writer. The actions of a thread before it releases the lock happen before the return of every call that takes the lock later, unless both
 * hold it for reading. A new lock is unlocked.
 *
 * <p>Misuse. An unlock that throws has changed nothing, as with a {@link Mutex}. But the lock cannot detect an unlock by a thread that does
 * not hold it, if another thread holds it in the same mode, for reading or for writing. Such an unlock releases the lock.
 *
 * <p>One word has the whole state, so that each step can check whether it is allowed before it changes anything. The word has the number of
 * readers that hold the lock or wait for it, a bit for the writer, and the number of departing readers. A departing reader held the lock
 * when the writer arrived, and still holds it. The last departing reader wakes the writer. Rejected: Go's two words, to which threads add
 * before they check. With these, a writer that sees the effect of a wrong unlock waits for a reader that does not exist.
 *
 * <p>Source: Go's {@code sync.RWMutex}.
 */
public final class RWMutex {
    /** The sign bit: there is a writer, and new readers wait. The writer has the lock when no reader is departing. */
    private static final long WRITER = 1L << 63;
    /** The value of one reader that holds the lock or waits; there are fewer than 2^31. The lower half counts departing readers. */
    private static final long READER = 1L << 32;
    private static final String READ_UNLOCKED = "sync: RUnlock of unlocked RWMutex";
    private static final String WRITE_UNLOCKED = "sync: Unlock of unlocked RWMutex";
    private static final HeapLong<RWMutex> STATE = HeapLong.of(MethodHandles.lookup(), RWMutex.class, "state");
    private static final HeapRef<RWMutex, NotifyList> HASTY = HeapRef.of(MethodHandles.lookup(), RWMutex.class, "hasty", NotifyList.class);

    /** The writer holds this mutex, also while it waits for readers. */
    private final Mutex writer = new Mutex();
    private final Sema writerSema = new Sema();
    private final Sema readerSema = new Sema();
    /** The waiting readers whose waits may end early. The state does not count these readers. The first of them makes the list. */
    private volatile @Nullable NotifyList hasty;
    /** Any thread writes it by CAS, or, to lock for reading, by an addition. */
    private volatile long state;

    /** Makes an unlocked lock. */
    public RWMutex() {
    }

    /** Returns how many readers hold the lock or wait for it, without the readers in {@link #hasty}. */
    private static int readers(long s) {
        return (int) ((s & ~WRITER) >>> Integer.SIZE);
    }

    /** Returns the number of departing readers, for which a writer waits. */
    private static int departing(long s) {
        return (int) s;
    }

    /** Takes the lock for reading. It waits while a writer has the lock or waits for it. */
    public void rLock() {
        Headroom.check(); // The stack must have room for the unlock as well.
        if (STATE.getAndAdd(this, READER) < 0) {
            GStack st = GStack.enterChecked();
            long since = System.nanoTime();
            readerSema.acquire(false, WaitReason.RWMUTEX_RLOCK);
            Waiting.waitedForLock(System.nanoTime() - since);
            GStack.exit(st);
        }
    }

    /**
     * Like {@link #rLock}, this takes the lock for reading, but an interrupt of the calling thread ends the wait. Writers that arrive
     * during the wait get the lock first.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while this waits; the lock was not taken, and the
     *     interrupt status is cleared
     */
    public void rLockInterruptibly() throws InterruptedException {
        boolean _ = rLock(Limits.INTERRUPTIBLY);
    }

    /**
     * Like {@link #rLock}, this takes the lock for reading, but a cancel of {@code ctx} ends the wait. Writers that arrive during the wait
     * get the lock first.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits; the lock was not taken
     */
    public void rLockUnless(Cancelable ctx) {
        boolean _ = rLock(Limits.until(ctx).uninterruptibly());
    }

    /**
     * Like {@link #rLock}, this takes the lock for reading, but waits for at most {@code d}. Writers that arrive during the wait get the
     * lock first.
     *
     * @return false when the time was up, and the lock was not taken
     */
    public boolean rLockWithin(Duration d) {
        return rLock(Limits.within(d).uninterruptibly());
    }

    /**
     * Takes the lock for reading with limits. Returns false when the time was up. The state does not count the reader while it waits. If it
     * did, a reader whose wait ends early could not find out whether a writer has already given it the lock. The reader is notified when a
     * writer has unlocked or given up, and then competes with the next writer.
     *
     * <p>No wake-up is lost. The reader publishes the list, draws its ticket, and then reads the state. The writer changes the state, and
     * then reads the list and its tickets. Each has a full fence between its writes and its reads.
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
                int ticket = list.add(); // An unused ticket does no harm, because all tickets are notified at once.
                if (tryRLock()) {
                    return true;
                }
                long since = System.nanoTime();
                boolean notified = list.await(ticket, e, limits.reason(WaitReason.RWMUTEX_RLOCK));
                Waiting.waitedForLock(System.nanoTime() - since);
                if (!notified) {
                    return !e.timeUp();
                }
            }
        } finally {
            e.finish();
            GStack.exit(st);
        }
    }

    @SuppressWarnings("NullAway") // Once it is set it stays.
    private NotifyList hasty() {
        if (hasty == null) {
            boolean _ = HASTY.compareAndSet(this, null, new NotifyList());
        }
        return hasty;
    }

    /** Takes the lock for reading if no writer has it or waits for it. Returns false when it was not taken. */
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
     * Releases one read lock.
     *
     * @throws IllegalStateException "sync: RUnlock of unlocked RWMutex", and nothing has changed; in program mode this ends the program
     */
    public void rUnlock() {
        if (!giveReadBack()) {
            throw Fatal.misuse(READ_UNLOCKED);
        }
    }

    /** Releases one read lock. Returns false when no reader holds the lock. */
    private boolean giveReadBack() {
        for (;;) {
            long s = state;
            if ((s < 0 ? departing(s) : readers(s)) == 0) {
                return false;
            }
            long n = s < 0 ? s - READER - 1 : s - READER;
            boolean last = n < 0 && departing(n) == 0; // Whether this is the last departing reader.
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

    /** Takes the lock for writing. It waits for readers and other writers. */
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

    /**
     * Sets the writer's bit, so that new readers wait, and counts the readers that hold the lock as departing. Returns whether there are
     * any. The caller holds the writers' mutex.
     */
    private boolean announce() {
        long s;
        do {
            s = state;
        } while (!STATE.compareAndSet(this, s, s | WRITER | readers(s)));
        return readers(s) != 0;
    }

    /**
     * Like {@link #lock}, this takes the lock for writing, but an interrupt of the calling thread ends the wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while this waits; the lock was not taken, and the
     *     interrupt status is cleared
     */
    public void lockInterruptibly() throws InterruptedException {
        boolean _ = lock(Limits.INTERRUPTIBLY);
    }

    /**
     * Like {@link #lock}, this takes the lock for writing, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits; the lock was not taken
     */
    public void lockUnless(Cancelable ctx) {
        boolean _ = lock(Limits.until(ctx).uninterruptibly());
    }

    /**
     * Like {@link #lock}, this takes the lock for writing, but waits for at most {@code d}.
     *
     * @return false when the time was up, and the lock was not taken
     */
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
                writerSema.acquire(false, WaitReason.RWMUTEX_LOCK); // The last departing reader has released a unit for this writer.
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

    /**
     * Ends the wait of a writer for readers, and admits the readers that wait behind it. Returns false when the last departing reader has
     * released a unit for the writer.
     */
    private boolean withdraw() {
        for (long s = state; departing(s) != 0; s = state) {
            if (STATE.compareAndSet(this, s, s & ~WRITER & ~0xFFFF_FFFFL)) {
                // Each counted reader that is not departing waits for a unit of readerSema.
                letIn(readers(s) - departing(s));
                return true;
            }
        }
        return false;
    }

    /**
     * Admits readers after the state has changed. The {@code waiting} counted readers get a unit each, and the readers in {@link #hasty}
     * are notified.
     */
    private void letIn(int waiting) {
        for (int i = 0; i < waiting; i++) {
            readerSema.release(false);
        }
        NotifyList list = hasty;
        if (list != null) {
            list.notifyAllWaiters();
        }
    }

    /** Takes the lock for writing if it is free. Returns false when it was not taken. */
    public boolean tryLock() {
        if (!writer.tryLock()) {
            return false;
        }
        if (!STATE.compareAndSet(this, 0, WRITER)) {
            writer.unlock();
            return false;
        }
        return true;
    }

    /**
     * Releases the write lock. Readers that wait get the lock.
     *
     * @throws IllegalStateException "sync: Unlock of unlocked RWMutex", and nothing has changed; in program mode this ends the program
     */
    public void unlock() {
        if (!giveBack()) {
            throw Fatal.misuse(WRITE_UNLOCKED);
        }
    }

    /** Releases the write lock. Returns false when no writer holds the lock. */
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
        // The writers' mutex is released last, because the readers get the lock before the next writer. The stack for its release was
        // checked before the lock became free.
        boolean _ = writer.giveBack();
        return true;
    }

    /** Runs {@code f} with the lock held for reading and returns its result. Unlocks even if {@code f} throws. */
    public <T extends @Nullable Object> T withRead(Supplier<T> f) {
        Objects.requireNonNull(f, "with of nil func value");
        rLock();
        try {
            return f.get();
        } finally {
            rUnlock();
        }
    }

    /** Runs {@code f} with the lock held for reading, and then unlocks, even if {@code f} throws. */
    public void withRead(Runnable f) {
        Objects.requireNonNull(f, "with of nil func value");
        rLock();
        try {
            f.run();
        } finally {
            rUnlock();
        }
    }

    /** Runs {@code f} with the lock held for writing and returns its result. Unlocks even if {@code f} throws. */
    public <T extends @Nullable Object> T withWrite(Supplier<T> f) {
        Objects.requireNonNull(f, "with of nil func value");
        lock();
        try {
            return f.get();
        } finally {
            unlock();
        }
    }

    /** Runs {@code f} with the lock held for writing, and then unlocks, even if {@code f} throws. */
    public void withWrite(Runnable f) {
        Objects.requireNonNull(f, "with of nil func value");
        lock();
        try {
            f.run();
        } finally {
            unlock();
        }
    }

    /** An unlock whose caller had too little stack. The lock stays held until sysmon makes the unlock. */
    private static final class Unlocking extends Deferred {
        private final RWMutex m;
        private final boolean reader;
        private final @Nullable GStack by = GStack.current();

        private Unlocking(RWMutex m, boolean reader) {
            this.m = m;
            this.reader = reader;
        }

        /** Leaves the unlock to sysmon. Throws, and changes nothing, when no scheduler lives. */
        static void leave(RWMutex m, boolean reader) {
            if (!Deferred.add(new Unlocking(m, reader))) {
                throw Headroom.overflow();
            }
        }

        @Override
        protected void run() {
            if (!(reader ? m.giveReadBack() : m.giveBack())) { // A wrong unlock by another thread has released the lock.
                Fatal.misuseBy(by, reader ? READ_UNLOCKED : WRITE_UNLOCKED);
            }
        }
    }
}
