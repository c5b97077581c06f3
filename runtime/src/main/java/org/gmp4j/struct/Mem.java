package org.gmp4j.struct;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.gmp4j.ffi.Memory;
import org.gmp4j.stack.JdkThreads;

/**
 * Off-heap memory for the scheduler's structs, and the handles that reach their fields.
 *
 * <p>Structs come from anonymous mappings and go back to a free list of their kind, never to the kernel: an address that
 * once held a {@code struct g} holds one for ever, so a stale pointer reads a recycled struct and never faults.
 *
 * <p>A handle takes one coordinate, the struct's address, and works on one unbounded segment; {@code -Dgmp.checkptr=true}
 * puts a check before each access that the address is the start of a struct of the right kind.
 */
public final class Mem {
    /** Whether each access checks its address. */
    public static final boolean CHECKPTR = Boolean.getBoolean("gmp.checkptr");

    /** Bytes between contended words: two cache lines, because of the adjacent-line prefetcher. */
    public static final int LINE = 128;

    private static final MethodHandle SUM;
    private static final MethodHandle CHECK;

    static {
        try {
            MethodType binary = MethodType.methodType(long.class, long.class, long.class);
            SUM = MethodHandles.lookup().findStatic(Long.class, "sum", binary);
            CHECK = MethodHandles.lookup().findVirtual(Arena.class, "check",
                    MethodType.methodType(long.class, long.class));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static final ConcurrentMap<String, Arena> ARENAS = new ConcurrentHashMap<>();

    private Mem() {
    }

    /** Where structs of one kind come from. Thread-safe; cold. */
    static final class Arena {
        private static final int CHUNK = 1 << 20;

        private final String kind;
        private final long stride;
        private final List<long[]> chunks = new ArrayList<>();
        private volatile long[][] published = new long[0][];
        private long bump;
        private long end;
        private final ArrayList<Long> free = new ArrayList<>();

        private Arena(String kind, long bytes) {
            this.kind = kind;
            long align = bytes < 2 * LINE ? LINE / 2 : LINE;
            this.stride = (bytes + align - 1) & -align;
        }

        /** Returns zeroed or recycled room for {@code count} adjacent structs. */
        synchronized long take(int count) {
            if (count == 1 && !free.isEmpty()) {
                long addr = free.removeLast();
                Memory.ALL.asSlice(addr, stride).fill((byte) 0);
                return addr;
            }
            long bytes = count * stride;
            if (bump + bytes > end) {
                long size = Math.max(bytes, CHUNK);
                bump = Memory.map(size);
                end = bump + size;
                chunks.add(new long[] {bump, end});
                published = chunks.toArray(long[][]::new);
            }
            long addr = bump;
            bump += bytes;
            return addr;
        }

        synchronized void give(long addr) {
            free.add(addr);
        }

        long check(long addr) {
            for (long[] c : published) {
                if (addr >= c[0] && addr < c[1] && (addr - c[0]) % stride == 0) {
                    return addr;
                }
            }
            throw new IllegalStateException(
                    "gmp.checkptr: 0x%x is no struct %s".formatted(addr, kind));
        }
    }

    private static Arena arena(GroupLayout layout) {
        String kind = layout.name().orElseThrow();
        return ARENAS.computeIfAbsent(kind, k -> new Arena(k, layout.byteSize()));
    }

    /**
     * Returns {@code count} adjacent zeroed structs.
     *
     * @param layout the struct
     * @param count how many, at least 1
     * @return the address of the first; the next stands {@link #stride} bytes further
     */
    public static long alloc(GroupLayout layout, int count) {
        JdkThreads.pin(); // Called on goroutines' stacks too.
        try {
            return arena(layout).take(count);
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Puts one struct of {@link #alloc alloc(layout, 1)} back for reuse; nothing may write to it any more. */
    public static void recycle(GroupLayout layout, long addr) {
        arena(layout).give(addr);
    }

    /** Bytes from one struct to the next in an array of {@link #alloc}. */
    public static long stride(GroupLayout layout) {
        return arena(layout).stride;
    }

    /**
     * The handle of a field: coordinate (long address of the struct), type as declared in gmp.h. Built from the field's own
     * layout and its offset: a handle of the whole layout checks the struct's bounds again at each access.
     */
    public static VarHandle field(GroupLayout layout, String... path) {
        PathElement[] elements = new PathElement[path.length];
        for (int i = 0; i < path.length; i++) {
            elements[i] = PathElement.groupElement(path[i]);
        }
        MethodHandle address = MethodHandles.insertArguments(SUM, 1, layout.byteOffset(elements));
        if (CHECKPTR) {
            address = MethodHandles.filterArguments(address, 0, CHECK.bindTo(arena(layout)));
        }
        VarHandle word = word((ValueLayout) layout.select(elements));
        return MethodHandles.filterCoordinates(word, 0, address).withInvokeExactBehavior();
    }

    /** The byte offset of a field: for address arithmetic over arrays, and for futex words. */
    public static long offset(GroupLayout layout, String field) {
        return layout.byteOffset(PathElement.groupElement(field));
    }

    /** An int anywhere off-heap: coordinate (long address). */
    public static final VarHandle INT = word(ValueLayout.JAVA_INT);

    /** A long anywhere off-heap: coordinate (long address). */
    public static final VarHandle LONG = word(ValueLayout.JAVA_LONG);

    private static VarHandle word(ValueLayout layout) {
        VarHandle h = layout.varHandle();
        return MethodHandles.insertCoordinates(h, 0, Memory.ALL).withInvokeExactBehavior();
    }
}
