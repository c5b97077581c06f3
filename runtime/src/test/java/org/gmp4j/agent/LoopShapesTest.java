// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodModel;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.gmp4j.sched.PointHook;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Points never change what a program computes: not unarmed, not armed, not while they come and go. */
class LoopShapesTest {
    private static final int[] NUMBERS = {0, 1, 2, 9, 100, 1_000};

    @AfterEach
    void disarm() {
        Points.setWanted(false);
        PointHook.restore();
        Points.disarmAll();
    }

    private static List<Method> shapes(Class<?> type) {
        return Stream.of(type.getDeclaredMethods())
                .filter(m -> Modifier.isStatic(m.getModifiers()) && !Modifier.isPrivate(m.getModifiers()) && !m.isSynthetic())
                .sorted(Comparator.comparing(Method::getName)).peek(m -> m.setAccessible(true)).toList();
    }

    private static List<Object> results(Class<?> type) throws ReflectiveOperationException {
        List<Object> results = new ArrayList<>();
        for (Method m : shapes(type)) {
            for (int n : NUMBERS) {
                results.add(m.getName() + " " + n + " " + m.invoke(null, n));
            }
        }
        return results;
    }

    private static StackTraceElement[] frames(Class<?> type) {
        return Stream.concat(Stream.of(type), Arrays.stream(type.getDeclaredClasses()))
                .flatMap(c -> Stream.concat(Stream.of("<init>"), Stream.of(c.getDeclaredMethods()).map(Method::getName))
                        .map(m -> new StackTraceElement(c.getName(), m, null, 1)))
                .toArray(StackTraceElement[]::new);
    }

    @Test
    void everyShapeHasPoints() {
        byte[] b = PointLoader.bytes(LoopShapes.class);
        List<MethodModel> methods = ClassFile.of().parse(b).methods();
        List<String> found = PointScan.of(b).found().stream().map(p -> methods.get(p.index()).methodName().stringValue())
                .toList();
        List<String> expected = new ArrayList<>(shapes(LoopShapes.class).stream().map(Method::getName).toList());
        expected.removeAll(List.of("constructors", "initializer", "lambdas", "recursion")); // elsewhere
        expected.addAll(List.of("fib", "lambda$lambdas$0", "lambda$lambdas$1"));
        assertEquals(List.of(), expected.stream().filter(m -> !found.contains(m)).toList());
    }

    @Test
    void unarmed() throws Exception {
        assertEquals(results(LoopShapes.class), results(PointLoader.ofCopy(LoopShapes.class).load(LoopShapes.class.getName())));
    }

    @Test
    void armed() throws Exception {
        Class<?> copy = PointLoader.ofCopy(LoopShapes.class).load(LoopShapes.class.getName());
        List<Object> expected = results(LoopShapes.class);
        long before = Points.counters().reached();
        results(copy); // links the points
        assertTrue(Points.arm(frames(copy), 1_000));
        assertEquals(List.of(), Points.armed().stream().filter(s -> s.contains("initializer")).toList());
        Points.setWanted(true);
        assertEquals(expected, results(copy));
        long reached = Points.counters().reached() - before;
        assertTrue(reached > 100_000, reached + " points reached");
    }

    @Test
    void armedAndDisarmedThousandTimesUnderLoad() throws Exception {
        Class<?> copy = PointLoader.ofCopy(LoopShapes.class).load(LoopShapes.class.getName());
        List<Object> expected = results(LoopShapes.class);
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger rounds = new AtomicInteger();
        List<Object> wrong = new ArrayList<>();
        Thread load = new Thread(() -> {
            try {
                while (!done.get()) {
                    List<Object> got = results(copy);
                    if (!got.equals(expected)) {
                        wrong.add(got);
                        return;
                    }
                    rounds.incrementAndGet();
                }
            } catch (Throwable e) {
                wrong.add(e);
            }
        }, "load");
        load.start();
        StackTraceElement[] frames = frames(copy);
        Points.setHook(Thread::yield);
        for (int i = 0; (i < 1_000 || rounds.get() < 20) && wrong.isEmpty(); i++) {
            Points.setWanted((i & 1) == 0);
            switch (i % 3) {
                case 0 -> Points.arm(frames, i % 400);
                case 1 -> Points.disarmAll();
                default -> Points.nudge();
            }
        }
        done.set(true);
        load.join();
        assertEquals(List.of(), wrong);
    }
}
