// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.gmp4j.sched.PointHook;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stopping code that calls nothing. */
class PointsTest {
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(20);
    /** The time, ms, in which C2 compiles a hog, and nothing stops it. */
    private static final long RUNS = 250;

    /** What the hook throws on the hog's thread; it unwinds the hog. */
    private static final class Stop extends Error {
        private static final long serialVersionUID = 1;

        Stop() {
            super(null, null, false, false);
        }
    }

    /** A thread that runs a method of a copy of {@link Hogs}. */
    private static final class Hog {
        final Thread thread;
        volatile Throwable end;

        Hog(String method) throws ReflectiveOperationException {
            this(method, PointLoader.ofCopy(Hogs.class), Thread.ofPlatform().daemon());
        }

        Hog(String method, ClassLoader loader, Thread.Builder kind) throws ReflectiveOperationException {
            Method m = loader.loadClass(Hogs.class.getName()).getDeclaredMethod(method);
            m.setAccessible(true);
            thread = kind.unstarted(() -> {
                try {
                    m.invoke(null);
                } catch (InvocationTargetException e) {
                    end = e.getCause();
                } catch (IllegalAccessException e) {
                    end = e;
                }
            });
            Points.setHook(() -> {
                if (Thread.currentThread() == thread) {
                    throw new Stop();
                }
            });
            thread.start();
        }

        void await(boolean running) throws InterruptedException {
            thread.join(running ? RUNS : TimeUnit.NANOSECONDS.toMillis(PATIENCE));
            assertEquals(running, thread.isAlive());
        }

        void stopped() throws InterruptedException {
            await(false);
            assertSame(Stop.class, end == null ? null : end.getClass());
        }
    }

    /** Before each as well: another class's test may have left points wanted. */
    @BeforeEach
    @AfterEach
    void reset() {
        Points.setWanted(false);
        PointHook.restore();
        Points.disarmAll();
    }

    @ParameterizedTest
    @ValueSource(strings = {"forever", "counting", "sums", "nested", "calling", "insideTry", "insideLock", "insideLambda",
            "states"})
    void nudgedLoopsStopWithNothingArmed(String method) throws Exception {
        Hog hog = new Hog(method);
        hog.await(true);
        Points.setWanted(true);
        long end = System.nanoTime() + PATIENCE;
        while (hog.thread.isAlive() && System.nanoTime() < end) {
            Points.nudge();
            hog.thread.join(1);
        }
        hog.stopped();
        assertEquals(List.of(), Points.armed());
    }

    /** What sysmon does, without the nudge. The first arming comes before the wish, which alone stops code that C2 has not compiled yet. */
    private static void arm(Hog hog) throws InterruptedException {
        Points.arm(hog.thread.getStackTrace(), 0);
        Points.setWanted(true);
        long end = System.nanoTime() + PATIENCE;
        for (int level = 0; hog.thread.isAlive() && System.nanoTime() < end; level++) {
            Points.arm(hog.thread.getStackTrace(), level);
            hog.thread.join(10);
        }
        hog.stopped();
    }

    @ParameterizedTest
    @ValueSource(strings = {"forever", "counting", "sums", "nested", "calling", "recursion", "insideTry", "insideLock",
            "insideLambda", "states"})
    void armedLoopsAndRecursionsStop(String method) throws Exception {
        Hog hog = new Hog(method);
        hog.await(true);
        arm(hog);
        assertFalse(Points.armed().isEmpty());
    }

    @Test
    void virtualThreadsStop() throws Exception {
        Hog nudged = new Hog("sums", PointLoader.ofCopy(Hogs.class), Thread.ofVirtual());
        nudged.await(true);
        Points.setWanted(true);
        while (nudged.thread.isAlive()) {
            Points.nudge();
            nudged.thread.join(1);
        }
        nudged.stopped();
        Points.setWanted(false);
        Hog armed = new Hog("recursion", PointLoader.ofCopy(Hogs.class), Thread.ofVirtual());
        armed.await(true);
        arm(armed);
    }

    @Test
    void nothingStopsWhileNobodyWants() throws Exception {
        Hog hog = new Hog("sums");
        hog.await(true);
        long before = Points.counters().reached();
        Points.nudge();
        Points.arm(hog.thread.getStackTrace(), 9);
        hog.await(true);
        assertEquals(before, Points.counters().reached());
        Points.setWanted(true);
        hog.stopped();
    }

    private static StackTraceElement frame(ClassLoader loader, String method) {
        return new StackTraceElement(loader == null ? null : loader.getName(), null, null, Hogs.class.getName(), method, null,
                1);
    }

    private static List<String> armed() {
        return Points.armed().stream().map(s -> s.substring(Hogs.class.getName().length() + 1)).toList();
    }

    /** Outermost loops of the topmost method with points, then inwards, then outwards along the stack. */
    @Test
    void levels() throws Exception {
        ClassLoader loader = PointLoader.ofCopy(Hogs.class);
        for (String method : List.of("nested", "calling")) { // link the points of three methods
            Hog hog = new Hog(method, loader, Thread.ofPlatform().daemon());
            hog.await(true);
            Points.setWanted(true);
            while (hog.thread.isAlive()) {
                Points.nudge();
                hog.thread.join(1);
            }
            hog.stopped();
            Points.setWanted(false);
        }
        StackTraceElement[] stack = {new StackTraceElement("java.lang.Object", "wait", null, 1), frame(loader, "nested"),
                frame(loader, "nested"), frame(loader, "notThere"), frame(loader, "inner"), frame(loader, "calling")};
        assertTrue(Points.any());
        assertTrue(Points.arm(stack, 0));
        assertEquals(List.of("nested 0"), armed());
        assertTrue(Points.arm(stack, 0), "the level is armed already: the next");
        assertEquals(List.of("nested 0", "nested 1"), armed());
        assertTrue(Points.arm(stack, 3));
        assertEquals(List.of("inner 0", "nested 0", "nested 1", "nested 2"), armed());
        assertTrue(Points.arm(stack, 4));
        assertTrue(armed().contains("calling 0"));
        assertFalse(Points.arm(stack, 5));
        assertFalse(Points.arm(new StackTraceElement[0], 5));
        assertEquals(5, Points.disarmAll());
        assertEquals(List.of(), Points.armed());
        for (int i = 0; i < 5; i++) {
            assertTrue(Points.arm(stack, 0));
        }
        assertFalse(Points.arm(stack, 0));
    }

    /** Of two classes of one name the loader's name decides, where the frame gives one. */
    @Test
    void classLoadersByName() throws Exception {
        List<ClassLoader> loaders = List.of(PointLoader.ofCopy(Hogs.class), PointLoader.ofCopy(Hogs.class));
        for (ClassLoader loader : loaders) {
            Hog hog = new Hog("forever", loader, Thread.ofPlatform().daemon());
            hog.await(true);
            arm(hog);
            Points.setWanted(false);
        }
        Points.disarmAll();
        assertFalse(Points.arm(new StackTraceElement[] {frame(ClassLoader.getSystemClassLoader(), "forever")}, 0));
        assertTrue(Points.arm(new StackTraceElement[] {frame(loaders.getFirst(), "forever")}, 0));
        assertEquals(1, Points.counters().armed());
        assertTrue(Points.arm(new StackTraceElement[] {frame(null, "forever")}, 0));
        assertTrue(Points.counters().armed() >= 2);
    }

    @Test
    void disarmsWhatIsIdleAndBacksOff() throws Exception {
        ClassLoader loader = PointLoader.ofCopy(Hogs.class);
        Hog hog = new Hog("sums", loader, Thread.ofPlatform().daemon());
        hog.await(true);
        Points.setHook(() -> {
        }, () -> true);
        StackTraceElement[] stack = {frame(loader, "sums")};
        assertTrue(Points.arm(stack, 0));
        assertEquals(0, Points.disarm(TimeUnit.HOURS.toNanos(1)));
        Points.setWanted(true);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(300);
        while (System.nanoTime() < end) {
            assertEquals(0, Points.disarm(TimeUnit.MILLISECONDS.toNanos(250)), "in use");
            Thread.sleep(1);
        }
        Points.setHook(() -> {
        }, () -> false); // From here on it is passed, and stops no goroutine.
        Thread.sleep(20);
        assertEquals(1, Points.disarm(TimeUnit.MILLISECONDS.toNanos(10)));
        Points.setWanted(false);
        for (int i = 0; i < 4; i++) {
            assertTrue(Points.arm(stack, 0));
            Points.disarmAll();
        }
        assertTrue(Points.arm(stack, 0));
        Thread.sleep(20);
        assertEquals(0, Points.disarm(TimeUnit.MILLISECONDS.toNanos(10)), "stays armed longer");
        for (int i = 0; i < 20; i++) {
            Points.disarmAll();
            assertTrue(Points.arm(stack, 0));
        }
        Thread.sleep(5);
        assertEquals(0, Points.disarm(0), "stays armed for ever");
        Points.setHook(() -> {
            throw new Stop();
        });
        Points.setWanted(true);
        hog.stopped();
    }

    /** A point that should stop no goroutine costs nothing after so many calls of the hook; calls that stop one do not count. */
    @Test
    void patienceEnds() throws Exception {
        int[] calls = {0};
        boolean[] stops = {false};
        Points.setHook(() -> {
            if (++calls[0] == 1_000) {
                throw new Stop();
            }
        }, () -> stops[0]);
        Method rounds = PointLoader.ofCopy(Hogs.class).loadClass(Hogs.class.getName()).getDeclaredMethod("rounds", int.class);
        rounds.setAccessible(true);
        Points.want(100);
        var _ = rounds.invoke(null, 900);
        assertEquals(101, calls[0]);
        var _ = rounds.invoke(null, 900);
        assertEquals(101, calls[0], "until points are wanted again");
        Points.want(100);
        stops[0] = true;
        assertThrows(InvocationTargetException.class, () -> rounds.invoke(null, 900));
    }

    @Test
    void countersCount() throws Exception {
        Points.Counters before = Points.counters();
        Hog hog = new Hog("nested");
        hog.await(true);
        arm(hog);
        Points.disarmAll();
        Points.nudge();
        Points.Counters after = Points.counters();
        assertEquals(before.classes() + 1, after.classes());
        assertTrue(after.methods() >= before.methods() + 10);
        assertTrue(after.points() > after.methods());
        assertEquals(before.linked() + 3, after.linked());
        assertEquals(0, after.armed());
        assertTrue(after.armings() > before.armings());
        assertEquals(after.armings() - before.armings(), after.disarmings() - before.disarmings());
        assertEquals(before.nudges() + 1, after.nudges());
        assertTrue(after.reached() > before.reached());
    }

    /** Linked, armed and even still armed: the sites do not hold the class. */
    @Test
    void classesUnload() throws Exception {
        int before = ClassSites.classes();
        List<WeakReference<ClassLoader>> loaders = Stream.of("forever", "nested", "recursion").map(method -> {
            try {
                PointLoader loader = PointLoader.ofCopy(Hogs.class);
                Hog hog = new Hog(method, loader, Thread.ofPlatform().daemon());
                hog.await(true);
                arm(hog);
                Points.setWanted(false);
                Points.setHook(() -> {
                });
                return new WeakReference<ClassLoader>(loader);
            } catch (ReflectiveOperationException | InterruptedException e) {
                throw new AssertionError(e);
            }
        }).toList();
        assertFalse(Points.armed().isEmpty());
        long end = System.nanoTime() + PATIENCE;
        while (loaders.stream().anyMatch(l -> l.get() != null) && System.nanoTime() < end) {
            System.gc();
            Thread.sleep(10);
        }
        loaders.forEach(l -> assertNull(l.get()));
        do { // the collector hands its references over in its own time
            Points.arm(new StackTraceElement[0], 0);
        } while (ClassSites.classes() > before && System.nanoTime() < end);
        assertTrue(ClassSites.classes() <= before, ClassSites.classes() + " classes, " + before + " before");
    }

    private static final class Loader extends ClassLoader {
        Class<?> define(String name) {
            byte[] b = AgentProgram.looper(name);
            return defineClass(name, b, 0, b.length);
        }
    }

    /** Without a scheduler, whose sysmon would do it. */
    @Test
    void classesThatAreGoneAreForgottenWhereOthersLink() {
        int before = ClassSites.classes();
        for (int i = 0; i < 20; i++) {
            var _ = link(new Loader().define("gone.Looper" + i));
        }
        long end = System.nanoTime() + PATIENCE;
        do {
            System.gc();
            var _ = link(Loader.class);
        } while (ClassSites.classes() > before + 1 && System.nanoTime() < end);
        assertTrue(ClassSites.classes() <= before + 1, ClassSites.classes() + " classes, " + before + " before");
    }

    private static Object link(Class<?> c) {
        return Points.link(MethodHandles.lookup().in(c), "point", Object.class, "m", 0);
    }

    /** A class that an older gmp4j wove has call sites, which it links by a method of its own. */
    @Test
    void classesWovenByAnOlderCopy() throws Throwable {
        var _ = Class.forName(Woven.class.getName()); // Its initialiser makes GmpPoint.
        MethodHandle link = MethodHandles.lookup().findStatic(Class.forName("java.lang.invoke.GmpPoint"), "link",
                MethodType.fromMethodDescriptorString("(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;"
                        + "Ljava/lang/invoke/MethodType;Ljava/lang/String;I)Ljava/lang/invoke/CallSite;", null));
        MethodHandle point = ((CallSite) link.invokeExact(MethodHandles.lookup(), "preemptionPoint",
                MethodType.methodType(boolean.class), "m", 0)).dynamicInvoker();
        assertFalse((boolean) point.invokeExact());
        Points.setHook(() -> {
            throw new Stop();
        });
        Points.setWanted(true);
        assertThrows(Stop.class, () -> {
            boolean _ = (boolean) point.invokeExact();
        });
    }
}
