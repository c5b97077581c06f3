// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.sched.PointHook;
import org.junit.jupiter.api.Test;

/** Which loops keep their points unarmed when points are armed from the start, and what is armed later. */
class VectorLoopsTest {
    /** Loops, each in a method whose name says what it is; "yes" is one that C2 may vectorise. */
    @SuppressWarnings("unused")
    static final class Shapes {
        private Shapes() {
        }

        static int yesSum(int[] a) {
            int s = 0;
            for (int i = 0; i < a.length; i++) {
                s += a[i];
            }
            return s;
        }

        static void yesFill(double[] a, double v) {
            for (int i = 0; i < a.length; i += 2) {
                a[i] = v;
            }
        }

        static void yesMax(float[] a, float[] b) {
            for (int i = 0; i < a.length; i++) {
                a[i] = Math.max(a[i], b[i]);
            }
        }

        static int yesLambdaBytes(byte[] a) {
            int n = 0;
            for (byte b : a) {
                n += Byte.toUnsignedInt(b);
            }
            return n;
        }

        static long yesSegment(MemorySegment m) {
            long s = 0;
            for (long i = 0; i < m.byteSize(); i++) {
                s += m.get(ValueLayout.JAVA_BYTE, i);
            }
            return s;
        }

        static int yesBuffer(IntBuffer b) {
            int s = 0;
            for (int i = 0; i < b.limit(); i++) {
                s += b.get(i);
            }
            return s;
        }

        static long noGenerator(long n) {
            long h = n;
            for (long i = 0; i < n; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
            }
            return h;
        }

        static int noString(String t) {
            int h = 0;
            for (int i = 0; i < t.length(); i++) {
                h = h * 31 + t.charAt(i);
            }
            return h;
        }

        static int noCall(int[] a) {
            int s = 0;
            for (int i = 0; i < a.length; i++) {
                s += yesSum(a);
            }
            return s;
        }

        static int noCallWithElements(int[] a) {
            int s = 0;
            for (int i = 0; i < a.length; i++) {
                s += twice(a[i]);
            }
            return s;
        }

        private static int twice(int x) {
            return 2 * x;
        }

        static int noObjects(String[] a) {
            int s = 0;
            for (int i = 0; i < a.length; i++) {
                s += a[i] == null ? 0 : 1;
            }
            return s;
        }

        static int noList(List<Integer> l) {
            int s = 0;
            for (int i : l) {
                s += i;
            }
            return s;
        }

        static int noSearch(int[] next, int at) {
            int x = at;
            while (next[x] != x) {
                x = next[x];
            }
            return x;
        }

        static void noSpin(AtomicBoolean b) {
            while (!b.get()) {
            }
        }
    }

    /** An outer loop is none; the inner one is. */
    @SuppressWarnings("unused")
    static final class Nested {
        private Nested() {
        }

        static int sums(int[][] all) {
            int s = 0;
            for (int i = 0; i < all.length; i++) {
                int[] a = all[i];
                for (int k = 0; k < a.length; k++) {
                    s += a[k];
                }
            }
            return s;
        }
    }

    private static byte[] bytes(Class<?> c) throws IOException {
        try (InputStream in = c.getResourceAsStream("/" + c.getName().replace('.', '/') + ".class")) {
            return in.readAllBytes();
        }
    }

    @Test
    void byTheirShape() throws IOException {
        byte[] b = bytes(Shapes.class);
        Map<String, String> wrong = new LinkedHashMap<>();
        var methods = java.lang.classfile.ClassFile.of().parse(b).methods();
        List<String> seen = new ArrayList<>();
        for (PointScan.MethodPoints m : PointScan.of(b).found()) {
            String name = methods.get(m.index()).methodName().stringValue();
            seen.add(name);
            assertEquals(1, m.vectors().length, name);
            if (m.vectors()[0] != name.startsWith("yes")) {
                wrong.put(name, "vectors " + m.vectors()[0]);
            }
        }
        assertEquals(Map.of(), wrong);
        assertEquals(14, seen.size());
    }

    @Test
    void theInnermostAlone() throws IOException {
        PointScan.MethodPoints m = PointScan.of(bytes(Nested.class)).found().getFirst();
        assertEquals(2, m.vectors().length);
        assertFalse(m.vectors()[0]);
        assertTrue(m.vectors()[1]);
    }

    /** Linked while points are eager: armed at once, and not to be disarmed. */
    @Test
    void eagerPointsAreArmedWhenLinked() {
        assertTrue(new Site("m", 0, false, true).isArmed);
        assertFalse(new Site("m", 0, true, true).isArmed, "it may be vectorised");
        assertFalse(new Site("m", 0, false, false).isArmed);
    }

    /** Those linked before are armed too, and none is disarmed that C2 does not vectorise. */
    @Test
    void allAreArmed() {
        Site plain = new Site("m", 0, false, false);
        Site another = new Site("m", 0, false, false);
        Site vector = new Site("m", 0, true, false);
        ClassSites.add(VectorLoopsTest.class, plain);
        ClassSites.add(VectorLoopsTest.class, another);
        ClassSites.add(VectorLoopsTest.class, vector);
        try {
            long before = Points.counters().armings();
            assertFalse(Points.armAll(0), "each may take as long as a loop");
            assertEquals(before + 1, Points.counters().armings());
            while (!Points.armAll(0)) {
                Thread.onSpinWait();
            }
            assertTrue(plain.isArmed);
            assertTrue(another.isArmed);
            assertFalse(vector.isArmed, "it may be vectorised");
            int _ = Points.disarm(0);
            assertTrue(plain.isArmed, "for good");
        } finally {
            Points.setEager(false);
            int _ = Points.disarmAll();
        }
        assertFalse(plain.isArmed);
    }

    /** A class whose points are linked by one test alone. */
    private static final class LinkedMeanwhile {
    }

    /** One that is being linked while all are armed, and not seen then, is armed at sysmon's next look. */
    @Test
    void onesLinkedMeanwhileAreArmedLater() throws InterruptedException {
        Object[] linked = new Object[1];
        Thread linker = new Thread(() -> linked[0] = Points.link(MethodHandles.lookup().in(LinkedMeanwhile.class), "point",
                Object.class, "m", 0));
        try {
            ClassSites[] none = ClassSites.BY_NAME.compute(LinkedMeanwhile.class.getName(), (_, sites) -> {
                linker.start(); // It has made the point when it waits for this to end.
                while (linker.isAlive() && linker.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
                Points.setEager(true);
                return sites;
            });
            assertNull(none);
            linker.join();
            Points.armLearnt();
            assertTrue(((Site) linked[0]).isArmed);
        } finally {
            Points.setEager(false);
            int _ = Points.disarmAll();
        }
    }

    /** The point where a goroutine was stopped is armed, once, and one of a loop that may be vectorised is not. */
    @Test
    void aPointThatStoppedSomebodyIsLearnt() {
        Points.setHook(() -> { }, () -> true);
        try {
            for (boolean vector : new boolean[] {false, true}) {
                Site site = new Site("m", 0, vector, false);
                ClassSites.add(VectorLoopsTest.class, site);
                long armings = Points.counters().armings();
                site.run();
                site.run();
                assertFalse(site.isArmed, "not on the goroutine");
                Points.armLearnt();
                assertEquals(!vector, site.isArmed);
                assertEquals(armings + (vector ? 0 : 1), Points.counters().armings());
                assertEquals(armings + (vector ? 0 : 1), Points.counters().armings(), "once");
            }
            Site passed = new Site("m", 0, false, false);
            ClassSites.add(VectorLoopsTest.class, passed);
            Points.setHook(() -> { });
            passed.run();
            Points.armLearnt();
            assertFalse(passed.isArmed, "it stopped nobody");
        } finally {
            PointHook.restore();
            int _ = Points.disarmAll();
        }
    }
}
