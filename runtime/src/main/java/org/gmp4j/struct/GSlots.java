// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.Stack;
import org.gmp4j.stack.StackRef;
import org.jspecify.annotations.Nullable;

/**
 * The slots of one scheduler's Gs. A slot is a struct off-heap, and under the same index the objects of the G on the Java heap. The static
 * methods access the slot of any G of the process.
 *
 * <p>Slots come in chunks. A chunk belongs to one scheduler at a time and is put into a common list when that scheduler closes. Its memory
 * is never unmapped. Any thread may read an entry of any index that was ever used. The entries of a slot are written by the thread that
 * owns the G and published by the CAS on its status.
 */
public final class GSlots {
    private static final int SHIFT = 10;
    private static final int CHUNK = 1 << SHIFT;
    private static final int MASK = CHUNK - 1;
    private static final long STRIDE = Mem.stride(Struct.G);

    /** One chunk: {@value #CHUNK} slots. */
    private static final class Chunk {
        final int base;
        final long addr;
        final @Nullable Runnable[] fn = new Runnable[CHUNK];
        /** A {@link Stack} or a {@link StackRef}: {@link Stack#entry}. */
        final @Nullable Object[] stack = new Object[CHUNK];
        volatile @Nullable Object owner;
        volatile int used;
        /** The next chunk in the list of free ones. */
        @Nullable Chunk next;

        Chunk(int base) {
            this.base = base;
            addr = Mem.alloc(Struct.G, CHUNK); // The last allocation, because a later failure would lose this memory.
        }
    }

    private static volatile Chunk[] directory = new Chunk[0];
    /** Guards the directory, and the chunks that no scheduler has. */
    private static final Object LOCK = new Object();
    /** The chunks that no scheduler has: a list, so that a release allocates nothing. */
    private static @Nullable Chunk free;

    private final Object owner;
    private final ArrayList<Chunk> mine = new ArrayList<>();

    /** Makes the empty set of slots of one scheduler. */
    public GSlots(Object owner) {
        this.owner = owner;
    }

    /**
     * {@code malg}: takes a slot that no G has, and returns its struct. The struct's status is {@code _Gdead}, and its index is set. The
     * other fields are as the last G of the slot left them. Thread-safe. This method is called rarely, because dead Gs are reused first.
     */
    public long malg() {
        JdkThreads.pin(); // A goroutine that calls this must not unmount at the monitor.
        try {
            return take();
        } finally {
            JdkThreads.unpin();
        }
    }

    private synchronized long take() {
        Chunk c = mine.isEmpty() ? null : mine.getLast();
        if (c == null || c.used == CHUNK) {
            mine.ensureCapacity(mine.size() + 1); // Comes before the chunk is taken, so that adding it needs no memory.
            c = takeChunk();
            mine.add(c);
        }
        int i = c.used;
        long gp = c.addr + i * STRIDE;
        G.INDEX.set(gp, c.base + i);
        Latency.fresh(gp);
        if (GStatus.readgstatus(gp) == GStatus.GIDLE) {
            GStatus.casgstatus(gp, GStatus.GIDLE, GStatus.GDEAD);
        }
        c.used = i + 1; // The volatile write publishes the initialised slot.
        return gp;
    }

    /** Calls {@code f} with every G slot of this scheduler, dead ones too ({@code forEachG}). */
    public void forEach(LongConsumer f) {
        boolean _ = all(gp -> {
            f.accept(gp);
            return true;
        });
    }

    /**
     * Calls {@code f} with every G slot of one part, dead ones too. This is for callers that have no time for all slots at once.
     *
     * @param part the number of the part, from 0
     * @return the next part; 0 after the last
     */
    public int forEachIn(int part, LongConsumer f) {
        Chunk c;
        int parts;
        synchronized (this) {
            parts = mine.size();
            if (part >= parts) {
                return 0;
            }
            c = mine.get(part);
        }
        for (int i = 0, n = c.used; i < n; i++) {
            f.accept(c.addr + i * STRIDE);
        }
        return (part + 1) % parts;
    }

    /** Returns whether {@code p} is true for every G slot of this scheduler, dead ones too. Stops at the first for which it is false. */
    public boolean all(LongPredicate p) {
        List<Chunk> chunks;
        synchronized (this) {
            chunks = List.copyOf(mine);
        }
        for (Chunk c : chunks) {
            for (int i = 0, n = c.used; i < n; i++) {
                if (!p.test(c.addr + i * STRIDE)) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Releases all slots, for use by other schedulers. No G of this scheduler may be alive. */
    public synchronized void release() {
        synchronized (LOCK) {
            while (!mine.isEmpty()) {
                Chunk c = mine.removeLast();
                Arrays.fill(c.fn, null);
                Arrays.fill(c.stack, null);
                c.used = 0;
                c.owner = null;
                c.next = free;
                free = c;
            }
        }
    }

    private Chunk takeChunk() {
        synchronized (LOCK) {
            Chunk c = free;
            if (c != null) {
                free = c.next;
                c.next = null;
            } else {
                Chunk[] old = directory;
                Chunk[] grown = Arrays.copyOf(old, old.length + 1);
                c = new Chunk(old.length << SHIFT);
                grown[old.length] = c;
                directory = grown;
            }
            c.owner = owner;
            return c;
        }
    }

    private static Chunk chunk(int index) {
        return directory[index >>> SHIFT];
    }

    /** Returns the scheduler of a G. */
    @SuppressWarnings("NullAway") // Only free chunks have no owner, and they have no Gs.
    public static Object owner(long gp) {
        return chunk(G.INDEX.get(gp)).owner;
    }

    /** Returns the function that the G runs, or null when it is dead. */
    public static @Nullable Runnable fn(long gp) {
        int i = G.INDEX.get(gp);
        return chunk(i).fn[i & MASK];
    }

    /** Sets the function. */
    public static void setFn(long gp, @Nullable Runnable fn) {
        int i = G.INDEX.get(gp);
        chunk(i).fn[i & MASK] = fn;
    }

    /** Returns the G's stack, or null while the G is fresh or dead, and when the stack has been collected. */
    public static @Nullable Stack stack(long gp) {
        Object entry = entry(gp);
        return entry instanceof StackRef ref ? ref.stack() : (Stack) entry;
    }

    private static @Nullable Object entry(long gp) {
        int i = G.INDEX.get(gp);
        return chunk(i).stack[i & MASK];
    }

    /** Returns whether the G has the stack to which {@code ref} refers. */
    public static boolean has(long gp, StackRef ref) {
        return entry(gp) == ref;
    }

    /** Returns whether the G's stack may be collected, or was collected, because its virtual thread waits in the JDK. */
    public static boolean isDropped(long gp) {
        return entry(gp) instanceof StackRef ref && !ref.isHeld();
    }

    /** Returns whether the G's stack has been collected. */
    public static boolean isCollected(long gp) {
        return entry(gp) instanceof StackRef ref && ref.stack() == null;
    }

    /** Sets the stack. */
    public static void setStack(long gp, @Nullable Stack st) {
        int i = G.INDEX.get(gp);
        chunk(i).stack[i & MASK] = st == null ? null : st.entry(gp);
    }
}
