// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import java.lang.invoke.MethodHandles;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.Memory;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.sched.GStack;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.HeapLong;
import org.jspecify.annotations.Nullable;

/**
 * The buffer of a {@code LongChan}. It is a block of the C library's allocator, which keeps freed blocks by size for reuse and returns
 * large ones to the kernel. The buffer is freed when the channel is closed and drained, or else when the channel is collected.
 *
 * <p>The collector does not see the size of a buffer: a thousand channels that were dropped unclosed are little garbage but much memory. So
 * when the sum of the sizes of all buffers exceeds {@link #LIMIT}, a collection is requested, as for direct buffers. The limit is the
 * largest of 16 MiB, a quarter of the maximum heap, and twice the lowest sum since the last request. No allocation is refused because of
 * the limit. The thread of {@link Freeing} frees the buffers of collected channels. On a busy machine that thread may get no CPU for long,
 * so a thread that makes a buffer also frees some.
 *
 * <p>Rejected: an automatic arena, and a {@code Cleaner}. Both unregister a buffer under a lock of the JDK. But a channel is drained under
 * a lock of the runtime, and a thread that holds such a lock must not take a lock of the JDK.
 */
public final class LongBlock extends PhantomReference<Hchan> {
    private static final long LEAST_LIMIT = Math.max(16 << 20, Runtime.getRuntime().maxMemory() / 4);
    /**
     * The most buffers of collected channels that a thread frees when it makes a buffer. The number is above 1, so that the backlog
     * shrinks.
     */
    private static final int FREED_BY_OF = 4;
    private static final AtomicLong BYTES = new AtomicLong();
    private static final AtomicLong LIMIT = new AtomicLong(LEAST_LIMIT);
    private static final ReferenceQueue<Hchan> COLLECTED = new ReferenceQueue<>();
    private static final HeapMutex LOCK = new HeapMutex(LockRank.SEMA);
    private static final HeapLong<LongBlock> ADDRESS = HeapLong.of(MethodHandles.lookup(), LongBlock.class, "address");
    /** Whether the thread that frees collected buffers runs. */
    private static final AtomicBoolean FREEING = new AtomicBoolean();
    /**
     * The first of the unfreed buffers. Their list keeps these phantom references reachable after their channels are unreachable. Guarded
     * by LOCK.
     */
    private static @Nullable LongBlock first;

    static { // Later calls of malloc and free, which may be made under a channel's lock, need no memory for linking.
        Memory.free(Memory.malloc(Long.BYTES));
    }

    private final long bytes;
    /** The address of the memory; 0 after {@link #free}. An exchange sets it to 0, so the memory is freed once. */
    @SuppressWarnings("unused") // Written through ADDRESS.
    private volatile long address;
    private @Nullable LongBlock next;
    private @Nullable LongBlock prev;

    private LongBlock(Hchan c, long bytes) {
        super(c, COLLECTED);
        this.bytes = bytes;
    }

    /**
     * Returns a block for {@code n > 0} longs. Its contents are undefined.
     *
     * @throws OutOfMemoryError when there is no memory
     */
    public static LongBlock of(Hchan c, int n) {
        GStack.checkAll(); // After this no stack overflow may happen until the block is on the list.
        if (!FREEING.get() && FREEING.compareAndSet(false, true)) {
            startFreeing();
        }
        for (int i = 0; i < FREED_BY_OF && COLLECTED.poll() instanceof LongBlock collected; i++) {
            collected.free();
        }
        LongBlock b = new LongBlock(c, (long) n * Long.BYTES);
        long now = BYTES.addAndGet(b.bytes);
        long limit = LIMIT.get();
        if (now > limit && LIMIT.compareAndSet(limit, 2 * now)) { // One thread raises the limit. Freed buffers lower it again.
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

    /** Returns the address of the memory. It may be used while the channel is reachable and until {@link #free}. */
    public long address() {
        return address;
    }

    /** Frees the memory, unless it is free already. Any thread may call it, also under a channel's lock. */
    public void free() {
        GStack st = GStack.enterChecked(); // The caller may be inside a section.
        long a = ADDRESS.getAndSet(this, 0);
        if (a != 0) {
            clear(); // The collector need not report the channel any more.
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

    /** Frees collected buffers. */
    private static final class Freeing implements Runnable {
        @Override
        public void run() {
            freeCollected();
        }
    }

    private static void startFreeing() {
        boolean started = false;
        try {
            Thread t = new OwnThread(new Freeing(), "gmp-long-chans");
            t.start();
            started = true;
        } finally {
            FREEING.set(started); // If the system has no thread left, the next channel tries again.
        }
    }

    private static void freeCollected() {
        Inheritance.beginPlain(); // This thread has inherited its creator's affinity and priority.
        for (;;) {
            try {
                ((LongBlock) COLLECTED.remove()).free();
            } catch (InterruptedException | OutOfMemoryError e) {
                Thread.onSpinWait(); // An interrupt is ignored. Without memory the thread goes on, because no other such thread is started.
            }
        }
    }

    /** Returns the size of all buffers, bytes. For tests. */
    static long bytes() {
        return BYTES.get();
    }
}
