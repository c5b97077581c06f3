// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.invoke.MethodHandles;
import java.util.stream.Stream;

import org.gmp4j.stack.JdkThreads;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Both implementations of access to words off-heap, and to fields of Java objects, do the same under the same names. */
@Tag("ring") // Runs with gmp.checkptr too.
class AccessTest {
    private static final int FIELD = 16;

    private long struct;

    @BeforeAll
    static void open() { // With gmp.checkptr the runtime has not asked for it.
        assertTrue(JdkThreads.openToRuntime("jdk.internal.misc"));
    }

    @BeforeEach
    void alloc() {
        struct = Mem.alloc(Struct.P, 1);
    }

    @AfterEach
    void recycle() {
        Mem.recycle(Struct.P, struct);
    }

    static Stream<IntField> ints() {
        return Stream.of(new RawInt(FIELD), new HandleInt(FIELD, null));
    }

    static Stream<LongField> longs() {
        return Stream.of(new RawLong(FIELD), new HandleLong(FIELD, null));
    }

    @ParameterizedTest
    @MethodSource("ints")
    void everyModeOfAnInt(IntField f) {
        f.set(struct, -1);
        assertEquals(0xffff_ffffL, Mem.LONG.get(struct + FIELD), "four bytes, and no more");
        assertEquals(-1, f.get(struct));
        f.setOpaque(struct, 2);
        assertEquals(2, f.getOpaque(struct));
        f.setRelease(struct, 3);
        assertEquals(3, f.getAcquire(struct));
        f.setVolatile(struct, 4);
        assertEquals(4, f.getVolatile(struct));
        assertFalse(f.compareAndSet(struct, 3, 5));
        assertEquals(4, f.get(struct));
        assertTrue(f.compareAndSet(struct, 4, 5));
        assertFalse(f.weakCompareAndSetRelease(struct, 4, 6));
        while (!f.weakCompareAndSetRelease(struct, 5, 6)) {
            Thread.onSpinWait(); // It may fail for no reason.
        }
        assertEquals(6, f.getAndAdd(struct, 10));
        assertEquals(16, f.getAndSet(struct, 0b0101));
        assertEquals(0b0101, f.getAndBitwiseOr(struct, 0b0010));
        assertEquals(0b0111, f.getAndBitwiseAnd(struct, 0b0110));
        assertEquals(0b0110, f.get(struct));
        assertEquals(0b0110, Mem.LONG.get(struct + FIELD));
    }

    @ParameterizedTest
    @MethodSource("longs")
    void everyModeOfALong(LongField f) {
        f.set(struct, Long.MIN_VALUE);
        assertEquals(Long.MIN_VALUE, f.get(struct));
        f.setOpaque(struct, 2);
        assertEquals(2, f.getOpaque(struct));
        f.addOpaque(struct, 3);
        assertEquals(5, f.getOpaque(struct));
        f.setRelease(struct, 3);
        assertEquals(3, f.getAcquire(struct));
        f.setVolatile(struct, 4);
        assertEquals(4, f.getVolatile(struct));
        assertFalse(f.compareAndSet(struct, 3, 5));
        assertEquals(4, f.get(struct));
        assertTrue(f.compareAndSet(struct, 4, 5));
        assertEquals(5, f.getAndAdd(struct, 10));
        assertEquals(15, f.getAndSet(struct, 1L << 40));
        assertEquals(1L << 40, f.get(struct));
    }

    /** An object whose fields have neighbours, by which a write of the wrong size shows. */
    private static final class Fields {
        int before = -1;
        volatile int i;
        int behind = -1;
        volatile long l;
        volatile String s = "a";
    }

    static Stream<HeapInt<Fields>> heapInts() {
        return Stream.of(HeapInt.raw(Fields.class, "i"), HeapInt.byHandle(MethodHandles.lookup(), Fields.class, "i"));
    }

    static Stream<HeapLong<Fields>> heapLongs() {
        return Stream.of(HeapLong.raw(Fields.class, "l"), HeapLong.byHandle(MethodHandles.lookup(), Fields.class, "l"));
    }

    static Stream<HeapRef<Fields, String>> heapRefs() {
        return Stream.of(HeapRef.raw(Fields.class, "s"), HeapRef.byHandle(MethodHandles.lookup(), Fields.class, "s", String.class));
    }

    @ParameterizedTest
    @MethodSource("heapInts")
    void everyModeOfAHeapInt(HeapInt<Fields> f) {
        Fields o = new Fields();
        f.setOpaque(o, 1);
        assertEquals(1, o.i);
        f.setRelease(o, 2);
        assertEquals(2, f.getVolatile(o));
        assertFalse(f.compareAndSet(o, 1, 3));
        assertTrue(f.compareAndSet(o, 2, 3));
        assertEquals(3, f.getAndAdd(o, -4));
        assertEquals(-1, f.getAndSet(o, 0));
        assertEquals(0, o.i);
        assertEquals(-1, o.before & o.behind);
    }

    @ParameterizedTest
    @MethodSource("heapLongs")
    void everyModeOfAHeapLong(HeapLong<Fields> f) {
        Fields o = new Fields();
        f.setRelease(o, 1L << 40);
        assertEquals(1L << 40, f.getVolatile(o));
        assertFalse(f.compareAndSet(o, 0, 3));
        assertTrue(f.compareAndSet(o, 1L << 40, 3));
        assertEquals(3, f.getAndAdd(o, 1L << 50));
        assertEquals((1L << 50) + 3, f.getAndSet(o, -1));
        assertEquals(-1, o.l);
    }

    @ParameterizedTest
    @MethodSource("heapRefs")
    void everyModeOfAHeapRef(HeapRef<Fields, String> f) {
        Fields o = new Fields();
        assertFalse(f.compareAndSet(o, "b", "c"));
        assertTrue(f.compareAndSet(o, "a", "b"));
        assertEquals("b", f.getAndSet(o, null));
        assertTrue(f.compareAndSet(o, null, "c"));
        assertEquals("c", o.s);
    }

    @Test
    void theSettingDecides() {
        assertTrue(Access.isRaw("raw", false));
        assertFalse(Access.isRaw("raw", true), "raw access checks no address");
        assertFalse(Access.isRaw("varhandle", false));
        boolean raw = Access.isRaw(System.getProperty(Access.PROPERTY, "raw"), Mem.CHECKPTR);
        assertEquals(raw ? RawInt.class : HandleInt.class, Mem.INT.getClass());
        assertEquals(raw ? RawLong.class : HandleLong.class, Struct.P.longField("link").getClass());
        assertEquals(raw, HeapInt.of(MethodHandles.lookup(), Fields.class, "i").handle() == null);
        assertEquals(raw, HeapLong.of(MethodHandles.lookup(), Fields.class, "l").handle() == null);
        assertEquals(raw, HeapRef.of(MethodHandles.lookup(), Fields.class, "s", String.class).handle() == null);
    }

    @Test
    void anotherSettingIsOneSentence() {
        Access.check("raw");
        Access.check("varhandle");
        assertEquals("gmp.access is \"unsafe\": use raw or varhandle",
                assertThrows(IllegalArgumentException.class, () -> Access.check("unsafe")).getMessage());
    }
}
