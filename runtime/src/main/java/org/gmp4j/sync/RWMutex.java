package org.gmp4j.sync;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.proc.Deferred;
import org.gmp4j.proc.Fatal;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Sema;
import org.gmp4j.proc.WaitReason;
import org.gmp4j.stack.Headroom;

/**
 * A lock held by any number of readers or by one writer. Goroutines, virtual and plain threads may use it together; it has
 * no owner. A writer that waits holds new readers off, so readers cannot starve it; therefore a reader must not take the
 * read lock again inside. The readers that a writer held off come before the next writer. What is done before an unlock
 * happens before the return of the lock that it lets through. Unlocked when new.
 *
 * <p>{@code readers} counts those who hold the read lock or wait for it; a writer takes {@link #MAX} off, which makes it
 * negative: that is how readers see the writer. It then waits for those that were inside: {@code departing} counts down,
 * by each of them, from where the writer adds their number. Both may come first, so it may be negative in between; whoever
 * makes it 0 knows that all have left.
 *
 * <p>Source: Go's {@code sync.RWMutex}.
 */
public final class RWMutex {
    private static final int MAX = 1 << 30;
    private static final VarHandle READERS;
    private static final VarHandle DEPARTING;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            READERS = l.findVarHandle(RWMutex.class, "readers", int.class).withInvokeExactBehavior();
            DEPARTING = l.findVarHandle(RWMutex.class, "departing", int.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Held by the writer, and by one that waits for readers. */
    private final Mutex writer = new Mutex();
    private final Sema writerSema = new Sema();
    private final Sema readerSema = new Sema();
    /** Anyone, by addition. */
    private volatile int readers;
    /** The writer and the readers it waits for, by addition. */
    @SuppressWarnings("unused") // Through DEPARTING.
    private volatile int departing;

    /** An unlocked one. */
    public RWMutex() {
    }

    private int addReaders(int delta) {
        return (int) READERS.getAndAdd(this, delta) + delta;
    }

    private int addDeparting(int delta) {
        return (int) DEPARTING.getAndAdd(this, delta) + delta;
    }

    /** Takes the lock for reading, waiting while a writer has it or waits for it. */
    public void rLock() {
        Headroom.check(); // Or there might be none for the unlock.
        if ((int) READERS.getAndAdd(this, 1) + 1 < 0) {
            try {
                awaitWriter();
            } catch (StackOverflowError e) { // Before the wait.
                while (!readerSema.take()) { // Given to us by the writer, if it has counted us: then we have the lock.
                    int r = readers;
                    if (r < 0 && READERS.compareAndSet(this, r, r - 1)) {
                        throw e; // It has not, and will not.
                    }
                }
            }
        }
    }

    private void awaitWriter() {
        GStack st = GStack.enter();
        readerSema.acquire(false, WaitReason.RWMUTEX_RLOCK);
        GStack.exit(st);
    }

    /** Takes the lock for reading if no writer has it or waits for it; false when it was not taken. */
    public boolean tryRLock() {
        Headroom.check();
        for (int r = readers; r >= 0; r = readers) {
            if (READERS.compareAndSet(this, r, r + 1)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Gives one read lock back.
     *
     * @throws IllegalStateException "sync: RUnlock of unlocked RWMutex"; in program mode that ends the program
     */
    public void rUnlock() {
        int r = (int) READERS.getAndAdd(this, -1) - 1;
        if (r < 0) {
            try {
                rUnlockSlow(r);
            } catch (StackOverflowError e) { // Before it did anything.
                if (misused(r) || !Deferred.add(new Unlocking(this, r))) {
                    int unused = (int) READERS.getAndAdd(this, 1); // As if it had not been unlocked.
                    throw e;
                }
            }
        }
    }

    /** An unlock for which there was no stack left. */
    private static final class Unlocking extends Deferred {
        private final RWMutex m;
        /** Readers left after a reader's unlock; 0 for a writer's. */
        private final int r;

        Unlocking(RWMutex m, int r) {
            this.m = m;
            this.r = r;
        }

        @Override
        protected void run() {
            if (r != 0) {
                m.rUnlockSlow(r);
            } else {
                m.unlock();
            }
        }
    }

    private static boolean misused(int r) {
        return r == -1 || r == -MAX - 1;
    }

    private void rUnlockSlow(int r) {
        GStack st = GStack.enterToGive();
        if (misused(r)) {
            GStack.exit(st);
            int unused = addReaders(1);
            throw Fatal.misuse("sync: RUnlock of unlocked RWMutex");
        }
        if (addDeparting(-1) == 0) { // The last of those the writer waits for.
            writerSema.release(false);
        }
        GStack.exit(st);
    }

    /** Takes the lock for writing, waiting for readers and other writers. */
    public void lock() {
        Headroom.checkAll();
        writer.lock();
        int inside = addReaders(-MAX) + MAX;
        if (inside != 0 && addDeparting(inside) != 0) {
            GStack st = GStack.enter();
            writerSema.acquire(false, WaitReason.RWMUTEX_LOCK);
            GStack.exit(st);
        }
    }

    /** Takes the lock for writing if it is free; false when it was not taken. */
    public boolean tryLock() {
        Headroom.checkAll();
        if (!writer.tryLock()) {
            return false;
        }
        if (!READERS.compareAndSet(this, 0, -MAX)) {
            writer.unlock();
            return false;
        }
        return true;
    }

    /**
     * Gives the write lock back, and lets the readers in that wait.
     *
     * @throws IllegalStateException "sync: Unlock of unlocked RWMutex"; in program mode that ends the program
     */
    public void unlock() {
        if (!Headroom.enough()) {
            if (Deferred.add(new Unlocking(this, 0))) {
                return;
            }
            throw Headroom.overflow();
        }
        int waiting = addReaders(MAX);
        if (waiting >= MAX) {
            int unused = addReaders(-MAX);
            throw Fatal.misuse("sync: Unlock of unlocked RWMutex");
        }
        if (waiting > 0) {
            GStack st = GStack.enterChecked();
            for (int i = 0; i < waiting; i++) {
                readerSema.release(false);
            }
            GStack.exit(st);
        }
        writer.unlock(); // Only now: the readers come before the next writer.
    }
}
