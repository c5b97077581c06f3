// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.gmp4j.struct.Mem;

/**
 * The off-heap memory of rewritten code. What a run takes has the same addresses in each run, and is zeroed before the next. What class
 * initialisers take is put back to what they left there.
 */
public final class Memory {
    private static final long RUN_BYTES = 256L << 20;
    private static final int LINE = 128;
    private static final long BASE = org.gmp4j.ffi.Memory.map(RUN_BYTES);
    private static long top = BASE;
    private static final List<Kept> KEPT = new ArrayList<>();

    /** The sizes in bytes of the structs that the run has allocated, by address. {@link #GIVEN} has those that it has freed. */
    private static final Map<Long, Long> TAKEN = new HashMap<>();
    private static final TreeMap<Long, Long> GIVEN = new TreeMap<>();

    /** Memory of a class initialiser. */
    private static final class Kept {
        final long address;
        final long bytes;
        long[] content;

        Kept(long address, long bytes) {
            this.address = address;
            this.bytes = bytes;
        }
    }

    private Memory() {
    }

    static void reset() {
        TAKEN.clear();
        GIVEN.clear();
        for (Kept k : KEPT) {
            for (int i = 0; k.content != null && i < k.content.length; i++) {
                Mem.LONG.set(k.address + (long) i * Long.BYTES, k.content[i]);
            }
        }
        if (top != BASE) {
            org.gmp4j.ffi.AddressSpace.ALL.asSlice(BASE, top - BASE).fill((byte) 0);
            top = BASE;
        }
    }

    /** Keeps what a class initialiser has left in the memory that it took. */
    static void keep() {
        for (Kept k : KEPT) {
            if (k.content == null) {
                k.content = new long[(int) (k.bytes / Long.BYTES)];
                for (int i = 0; i < k.content.length; i++) {
                    k.content[i] = Mem.LONG.get(k.address + (long) i * Long.BYTES);
                }
            }
        }
    }

    /** {@code Memory.map}: returns zeroed memory. */
    public static long map(long bytes) {
        if (World.run == null || Statics.initialising()) {
            long rounded = bytes + Long.BYTES - 1 & -Long.BYTES;
            long at = org.gmp4j.ffi.Memory.map(rounded);
            KEPT.add(new Kept(at, rounded));
            if (!Statics.initialising()) {
                keep();
            }
            return at;
        }
        long at = top;
        top += bytes + LINE - 1 & -LINE;
        if (top > BASE + RUN_BYTES) {
            throw new OutOfMemoryError("the run has used up its memory");
        }
        Digest.reads(at);
        return at;
    }

    /** {@code Arena.take}: returns {@code count} zeroed structs. */
    public static long take(long stride, int count, int node) {
        long at = map(stride * count);
        TAKEN.put(at, stride * count);
        return at;
    }

    /** {@code Memory.malloc}. */
    public static long malloc(long bytes) {
        return take(bytes, 1, 0);
    }

    /** {@code Memory.free}. */
    public static void free(long address) {
        give(null, address);
    }

    /** {@code Memory.unmap}, and what gives a struct back: the memory stays as it is until the next run. */
    public static void drop(long address, long bytes) {
        // A late reader still finds it.
    }

    /** Gives a struct back. A write to it from now on is a failure: it may be another's. */
    public static void give(Object arena, long address) {
        World.drain(); // A CPU's stores reach memory in their order: the caller's come before those of the next user.
        if (TAKEN.containsKey(address)) {
            GIVEN.put(address, TAKEN.get(address));
            Digest.word(~address, 0, 1);
        }
    }

    /** Returns an address, of a word that is 0, by which to name something. */
    static long name() {
        return map(LINE);
    }

    static int peekInt(long address) {
        return Mem.INT.get(address);
    }

    private static boolean isKept(long address) {
        for (int i = 0; i < KEPT.size(); i++) {
            if (Long.compareUnsigned(address - KEPT.get(i).address, KEPT.get(i).bytes) < 0) {
                return true;
            }
        }
        return false;
    }

    /** Returns how much memory the run has taken. */
    static long used() {
        return top - BASE;
    }

    /** Returns a number of the content of all memory, and of what has been given back. */
    static long content() {
        long sum = GIVEN.hashCode();
        for (long at = BASE; at < top; at += Long.BYTES) {
            sum += Mem.LONG.get(at) * (at - BASE + 1);
        }
        for (Kept k : KEPT) {
            for (long at = 0; at < k.bytes; at += Long.BYTES) {
                sum += Mem.LONG.get(k.address + at) * (k.address + at + 1);
            }
        }
        return sum;
    }

    private static void put(long address, int v) {
        World.drain();
        Digest.word(address, Mem.INT.get(address), v);
        Mem.INT.set(address, value(v));
    }

    private static void put(long address, long v) {
        World.drain();
        Digest.word(address, Mem.LONG.get(address), v);
        Mem.LONG.set(address, value(v));
    }

    /** A store after which the lane's next load need not wait. */
    private static void store(long address, int v) {
        StoreBuffer buffer = World.buffer();
        if (buffer == null) {
            put(address, v);
        } else {
            buffer.add(address, value(v), false);
        }
    }

    private static void store(long address, long v) {
        StoreBuffer buffer = World.buffer();
        if (buffer == null) {
            put(address, v);
        } else {
            buffer.add(address, value(v), true);
        }
    }

    private static int loadInt(long address) {
        StoreBuffer buffer = World.buffer();
        return value(buffer == null ? Mem.INT.get(address) : (int) buffer.read(address, false));
    }

    private static long loadLong(long address) {
        StoreBuffer buffer = World.buffer();
        return value(buffer == null ? Mem.LONG.get(address) : buffer.read(address, true));
    }

    private static int value(int v) {
        Digest.reads(v);
        return Trace.value(v);
    }

    private static long value(long v) {
        Digest.reads(v);
        return Trace.value(v);
    }

    private static boolean value(boolean v) {
        Digest.reads(v ? 1 : 0);
        return Trace.value(v);
    }

    // The accessors of IntField

    private static void point(long address, boolean writes, boolean plain) {
        World.word(address, writes, plain);
        if (Long.compareUnsigned(address - BASE, top - BASE) >= 0 && !isKept(address)) {
            throw new AssertionError("an address of no memory: " + Long.toHexString(address));
        }
        if (writes && isGiven(address)) {
            throw new AssertionError("a struct is written to that was given back");
        }
    }

    /** Returns whether the word is in a struct that was given back. */
    static boolean isGiven(long address) {
        Map.Entry<Long, Long> at = GIVEN.isEmpty() ? null : GIVEN.floorEntry(address);
        return at != null && address < at.getKey() + at.getValue();
    }

    /** A plain read. */
    public static int getIntPlain(long address) {
        point(address, false, true);
        return loadInt(address);
    }

    /** A plain write. */
    public static void setIntPlain(long address, int v) {
        point(address, true, true);
        store(address, v);
    }

    /** A read of any other order. */
    public static int getInt(long address) {
        point(address, false, false);
        return loadInt(address);
    }

    /** An opaque or a release write. */
    public static void setInt(long address, int v) {
        point(address, true, false);
        store(address, v);
    }

    /** A volatile write. */
    public static void setIntVolatile(long address, int v) {
        point(address, true, false);
        put(address, v);
    }

    /** A compare-and-set. */
    public static boolean casInt(long address, int expected, int v) {
        point(address, true, false);
        World.drain();
        boolean same = Mem.INT.get(address) == expected;
        if (same) {
            put(address, v);
        }
        return value(same);
    }

    /** {@code getAndAdd}. */
    public static int addInt(long address, int v) {
        return swapInt(address, v, '+');
    }

    /** {@code getAndSet}. */
    public static int swapInt(long address, int v) {
        return swapInt(address, v, '=');
    }

    /** {@code getAndBitwiseOr}. */
    public static int orInt(long address, int v) {
        return swapInt(address, v, '|');
    }

    /** {@code getAndBitwiseAnd}. */
    public static int andInt(long address, int v) {
        return swapInt(address, v, '&');
    }

    private static int swapInt(long address, int v, char how) {
        point(address, true, false);
        World.drain();
        int old = Mem.INT.get(address);
        put(address, switch (how) {
            case '+' -> old + v;
            case '|' -> old | v;
            case '&' -> old & v;
            default -> v;
        });
        return value(old);
    }

    // The accessors of LongField

    /** A plain read. */
    public static long getLongPlain(long address) {
        point(address, false, true);
        return loadLong(address);
    }

    /** A plain write. */
    public static void setLongPlain(long address, long v) {
        point(address, true, true);
        store(address, v);
    }

    /** A read of any other order. */
    public static long getLong(long address) {
        point(address, false, false);
        return loadLong(address);
    }

    /** An opaque or a release write. */
    public static void setLong(long address, long v) {
        point(address, true, false);
        store(address, v);
    }

    /** A volatile write. */
    public static void setLongVolatile(long address, long v) {
        point(address, true, false);
        put(address, v);
    }

    /** A compare-and-set. */
    public static boolean casLong(long address, long expected, long v) {
        point(address, true, false);
        World.drain();
        boolean same = Mem.LONG.get(address) == expected;
        if (same) {
            put(address, v);
        }
        return value(same);
    }

    /** {@code getAndAdd}. */
    public static long addLong(long address, long v) {
        point(address, true, false);
        World.drain();
        long old = Mem.LONG.get(address);
        put(address, old + v);
        return value(old);
    }

    /** {@code getAndSet}. */
    public static long swapLong(long address, long v) {
        point(address, true, false);
        World.drain();
        long old = Mem.LONG.get(address);
        put(address, v);
        return value(old);
    }
}
