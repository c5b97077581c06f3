// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.Memory;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.GStack;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.FieldHandle;
import org.jspecify.annotations.Nullable;

/**
 * The buffer of a {@link LongChan}: a block of the C library's allocator, which keeps freed blocks by size for the next and
 * gives large ones back to the kernel. Freed when the channel is closed and drained, or else when it is collected; once.
 *
 * <p>The collector does not see what a buffer costs: some thousand channels that were dropped unclosed are little garbage and
 * much memory. So all buffers together count, and when they exceed {@link #LIMIT} the collector is asked to run, as it is by
 * direct buffers: a quarter of the greatest heap, or twice what is left after it ran. Nothing is ever refused for it. A thread
 * that makes a buffer frees collected ones too, since on a busy machine the thread whose task that is may not run for long.
 *
 * <p>Rejected: an automatic arena, and a {@code Cleaner}. What they register can only be taken back under a lock of the JDK,
 * and a channel is drained under a lock of the runtime.
 */
final class LongBlock extends PhantomReference<LongChan> {
    private static final long LEAST_LIMIT = Math.max(16 << 20, Runtime.getRuntime().maxMemory() / 4);
    /** How many collected buffers a thread frees when it makes one: more than one, so that they get fewer. */
    private static final int FREED_BY_OF = 4;
    private static final AtomicLong BYTES = new AtomicLong();
    private static final AtomicLong LIMIT = new AtomicLong(LEAST_LIMIT);
    private static final ReferenceQueue<LongChan> COLLECTED = new ReferenceQueue<>();
    private static final HeapMutex LOCK = new HeapMutex(LockRank.SEMA);
    private static final VarHandle ADDRESS = FieldHandle.of(MethodHandles.lookup(), LongBlock.class, "address", long.class);
    /** Whether the thread runs that frees what was collected. */
    private static final AtomicBoolean FREEING = new AtomicBoolean();
    /** Those that are not free yet, so that they outlive their channels; under LOCK. */
    private static @Nullable LongBlock first;

    static {
        rehearse();
    }

    private final long bytes;
    /** 0 once freed: by exchange. */
    @SuppressWarnings("unused") // Through ADDRESS.
    private volatile long address;
    private @Nullable LongBlock next;
    private @Nullable LongBlock prev;

    private LongBlock(LongChan c, long bytes) {
        super(c, COLLECTED);
        this.bytes = bytes;
    }

    /**
     * A block for {@code n} longs, at least 1, with whatever stands in it.
     *
     * @throws OutOfMemoryError when there is no room
     */
    static LongBlock of(LongChan c, int n) {
        GStack.checkAll(); // Once counted it must be listed.
        if (!FREEING.get() && FREEING.compareAndSet(false, true)) {
            startFreeing();
        }
        for (int i = 0; i < FREED_BY_OF && COLLECTED.poll() instanceof LongBlock collected; i++) {
            collected.free();
        }
        LongBlock b = new LongBlock(c, (long) n * Long.BYTES);
        long now = BYTES.addAndGet(b.bytes);
        long limit = LIMIT.get();
        if (now > limit && LIMIT.compareAndSet(limit, 2 * now)) { // By one; what is freed then lowers the limit again.
            System.gc();
        }
        long a = Memory.malloc(b.bytes);
        if (a == 0) {
            long _ = BYTES.addAndGet(-b.bytes);
            throw new OutOfMemoryError("makechan: no memory for a buffer of " + n + " longs");
        }
        ADDRESS.setRelease(b, a);
        GStack st = GStack.enterChecked();
        LOCK.lock();
        b.next = first;
        if (first != null) {
            first.prev = b;
        }
        first = b;
        LOCK.unlock();
        GStack.exit(st);
        return b;
    }

    /** The memory, to be used while the channel can be reached, and not after {@link #free}. */
    long address() {
        return address;
    }

    /** The memory will not be used any more. */
    void free() {
        GStack st = GStack.enterChecked(); // Also under a channel's lock.
        long a = (long) ADDRESS.getAndSet(this, 0L);
        if (a != 0) {
            clear(); // The collector need not look for the channel's end.
            LOCK.lock();
            if (prev == null) {
                first = next;
            } else {
                prev.next = next;
            }
            if (next != null) {
                next.prev = prev;
            }
            LOCK.unlock();
            Memory.free(a);
            long limit = Math.max(LEAST_LIMIT, 2 * BYTES.addAndGet(-bytes));
            for (long l = LIMIT.get(); limit < l && !LIMIT.compareAndSet(l, limit); l = LIMIT.get()) {
                Thread.onSpinWait();
            }
        }
        GStack.exit(st);
    }

    /** The initialiser has run, which must not fail for want of memory. The thread is left to the first buffer. */
    static void rehearsed() {
        Runnable _ = new Freeing();
        assert ADDRESS != null;
    }

    /** No lambda: one that had no memory as it was linked is never linked, and no channel of longs could be made any more. */
    private static final class Freeing implements Runnable {
        @Override
        public void run() {
            freeCollected();
        }
    }

    /** No call takes memory any more: they are made under a channel's lock. */
    private static void rehearse() {
        Memory.free(Memory.malloc(Long.BYTES));
    }

    private static void startFreeing() {
        boolean started = false;
        try {
            Thread t = new OwnThread(new Freeing(), "gmp-long-chans");
            t.start();
            started = true;
        } finally {
            FREEING.set(started); // There may be no more threads; the next channel tries again.
        }
    }

    private static void freeCollected() {
        Inheritance.beginPlain(); // The thread that made the first channel may be pinned, or have a low priority.
        for (;;) {
            try {
                ((LongBlock) COLLECTED.remove()).free();
            } catch (InterruptedException e) {
                Thread.onSpinWait(); // None of our threads interrupts it.
            }
        }
    }

    /** How many bytes all buffers have: for tests. */
    static long bytes() {
        return BYTES.get();
    }
}
