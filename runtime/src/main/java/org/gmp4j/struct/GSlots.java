// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

import org.gmp4j.ffi.gmp.g;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.Stack;
import org.gmp4j.stack.StackRef;
import org.jspecify.annotations.Nullable;

/**
 * The slots of all Gs of this process: their structs off-heap, and under the same index what belongs to a G on the heap.
 *
 * <p>Slots come in chunks. A chunk belongs to one scheduler at a time and goes back to a common list when that scheduler
 * closes; its memory is never unmapped. Reading an entry is safe from any thread for any index that was ever handed out.
 * The entries of a slot are written by whoever owns the G and published by the CAS on its status.
 */
public final class GSlots {
    private static final int SHIFT = 10;
    private static final int CHUNK = 1 << SHIFT;
    private static final int MASK = CHUNK - 1;
    private static final long STRIDE = Mem.stride(g.layout());

    /** One chunk: {@value #CHUNK} slots. */
    private static final class Chunk {
        final int base;
        final long addr;
        final @Nullable Runnable[] fn = new Runnable[CHUNK];
        /** A {@link Stack} or a {@link StackRef}: {@link Stack#entry}. */
        final @Nullable Object[] stack = new Object[CHUNK];
        volatile @Nullable Object owner;
        volatile int used;
        /** In the list of free ones. */
        @Nullable Chunk next;

        Chunk(int base) {
            this.base = base;
            addr = Mem.alloc(g.layout(), CHUNK); // The last that takes memory: what is off-heap would not come back.
        }
    }

    private static volatile Chunk[] directory = new Chunk[0];
    /** Guards the directory and those that no scheduler has. */
    private static final Object LOCK = new Object();
    /** A list: to give one back takes no memory. */
    private static @Nullable Chunk free;

    private final Object owner;
    private final ArrayList<Chunk> mine = new ArrayList<>();

    /** The slots of one scheduler, none yet. */
    public GSlots(Object owner) {
        this.owner = owner;
    }

    /**
     * Takes a slot that no G has: {@code malg}. Its struct is dead, has its index, and is else as the last G left it, if there was one.
     * Thread-safe; rare, because dead Gs are reused first.
     */
    public long malg() {
        JdkThreads.pin(); // Called on goroutines' stacks too.
        try {
            return take();
        } finally {
            JdkThreads.unpin();
        }
    }

    private synchronized long take() {
        Chunk c = mine.isEmpty() ? null : mine.getLast();
        if (c == null || c.used == CHUNK) {
            mine.ensureCapacity(mine.size() + 1); // Or there might be no memory to note what was taken.
            c = takeChunk(owner);
            mine.add(c);
        }
        int i = c.used;
        long gp = c.addr + i * STRIDE;
        G.INDEX.set(gp, c.base + i);
        Latency.fresh(gp);
        if (GStatus.readgstatus(gp) == GStatus.GIDLE) {
            GStatus.casgstatus(gp, GStatus.GIDLE, GStatus.GDEAD);
        }
        c.used = i + 1; // Volatile: allgs below sees an initialised slot.
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
     * The same for one part of the slots, for callers that may not take the time for all of them at once.
     *
     * @param part from 0; a number of slots too small to take long
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

    /** Whether {@code p} holds for every G slot of this scheduler, dead ones too; stops at the first where it does not. */
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

    /** Gives all slots back, for the next scheduler. No G of this one may be alive. */
    public synchronized void release() {
        synchronized (LOCK) {
            while (!mine.isEmpty()) {
                Chunk c = mine.removeLast();
                java.util.Arrays.fill(c.fn, null);
                java.util.Arrays.fill(c.stack, null);
                c.used = 0;
                c.owner = null;
                c.next = free;
                free = c;
            }
        }
    }

    private static Chunk takeChunk(Object owner) {
        synchronized (LOCK) {
            Chunk c = free;
            if (c != null) {
                free = c.next;
                c.next = null;
            } else {
                Chunk[] old = directory;
                Chunk[] grown = java.util.Arrays.copyOf(old, old.length + 1);
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

    /** The scheduler a G belongs to. */
    @SuppressWarnings("NullAway") // Only chunks that no scheduler has, which have no G, are without one.
    public static Object owner(long gp) {
        return chunk(G.INDEX.get(gp)).owner;
    }

    /** The function the G runs; null when dead. */
    public static @Nullable Runnable fn(long gp) {
        int i = G.INDEX.get(gp);
        return chunk(i).fn[i & MASK];
    }

    /** Sets the function. */
    public static void setFn(long gp, @Nullable Runnable fn) {
        int i = G.INDEX.get(gp);
        chunk(i).fn[i & MASK] = fn;
    }

    /** The stack the G has; null while it is fresh or dead, and when the collector has taken the stack. */
    public static @Nullable Stack stack(long gp) {
        Object entry = entry(gp);
        return entry instanceof StackRef ref ? ref.stack() : (Stack) entry;
    }

    private static @Nullable Object entry(long gp) {
        int i = G.INDEX.get(gp);
        return chunk(i).stack[i & MASK];
    }

    /** Whether the G's stack is {@code ref}'s. */
    public static boolean has(long gp, StackRef ref) {
        return entry(gp) == ref;
    }

    /** Whether the collector may take the G's stack, or has done so: a virtual thread waits in the JDK. */
    public static boolean isDropped(long gp) {
        return entry(gp) instanceof StackRef ref && !ref.isHeld();
    }

    /** Whether the collector has taken the G's stack. */
    public static boolean isCollected(long gp) {
        return entry(gp) instanceof StackRef ref && ref.stack() == null;
    }

    /** Sets the stack. */
    public static void setStack(long gp, @Nullable Stack st) {
        int i = G.INDEX.get(gp);
        chunk(i).stack[i & MASK] = st == null ? null : st.entry(gp);
    }
}
