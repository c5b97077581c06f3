// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Proxy;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;

import org.gmp4j.stack.JdkThreads;
import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.Test;

/** The first request for points, which defines the class of points inside the JDK. */
class OnDemandTest {
    /**
     * Prints which methods of the instrumentation are called, whether the class of points exists, and whether a class that points use on a
     * stack that may be nearly full is initialised.
     */
    static final class Program {
        private static final List<String> CALLED = new ArrayList<>();

        private Program() {
        }

        public static void main(String[] args) throws Throwable {
            if (args.length > 0 && args[0].equals("copy")) {
                pointsOfACopy();
            }
            Instrumentation records = (Instrumentation) Proxy.newProxyInstance(Program.class.getClassLoader(),
                    new Class<?>[] {Instrumentation.class}, (_, method, _) -> {
                        CALLED.add(method.getName());
                        return null;
                    });
            OnDemand.start(records, PointOptions.of(AgentOptions.of(null), new Properties(), PointOptions.When.DEMAND));
            System.out.println(CALLED + " " + isDefined() + " " + counting());
            if (args.length > 0 && args[0].equals("full")) {
                withAFullHeap();
            }
            for (int i = 0; i < 2; i++) {
                int failed = OnDemand.get().give(List.of(OnDemandTest.class)).size();
                System.out.println(CALLED + " " + isDefined() + " " + failed + " " + counting());
            }
        }

        /** Fills the heap but for some KB, in which a class could begin to be initialised. */
        private static void withAFullHeap() throws Throwable {
            List<Class<?>> classes = List.of(OnDemandTest.class);
            for (Class<?> c : new Class<?>[] {JdkPoint.class, PointClass.class, Points.class}) {
                String _ = c.getName(); // They are loaded, but not initialised.
            }
            Object[] hold = new Object[1 << 16];
            byte[] some = new byte[60 << 10];
            int n = 0;
            for (int size = 1 << 20; size >= 16;) {
                try {
                    hold[n] = new byte[size];
                    n++;
                } catch (OutOfMemoryError e) {
                    size /= 2;
                }
            }
            some = null;
            boolean refused = false;
            try {
                OnDemand.get().give(classes);
            } catch (OutOfMemoryError e) {
                refused = true;
            }
            hold = null;
            System.out.println(refused + " " + (int) MethodHandles.arrayElementGetter(int[].class).invokeExact(new int[] {7}, 0));
        }

        /** Returns whether the classes by which a contended LongAdder counts are initialised. */
        private static boolean counting() throws ClassNotFoundException {
            return JdkThreads.initialized(ThreadLocalRandom.class)
                    && JdkThreads.initialized(Class.forName("java.util.concurrent.atomic.Striped64$Cell", false, null));
        }

        private static boolean isDefined() {
            try {
                return Class.forName(JdkPoint.CLASS.replace('/', '.'), false, null) != null;
            } catch (ClassNotFoundException e) {
                return false;
            }
        }

        /** Makes the points of this JVM those of another copy of gmp4j. */
        private static void pointsOfACopy() throws ReflectiveOperationException, IOException {
            URL[] path = Arrays.stream(System.getProperty("java.class.path").split(":")).map(Program::url).toArray(URL[]::new);
            try (URLClassLoader copy = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
                byte[] file = PointLoader.bytes(LoopShapes.class);
                Object _ = Class.forName(Points.class.getName(), true, copy).getMethod("addTo", byte[].class).invoke(null, file);
            }
        }

        private static URL url(String entry) {
            try {
                return Path.of(entry).toUri().toURL();
            } catch (MalformedURLException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Test
    void nothingIsDefinedBefore() {
        ChildJvm.Result r = new ChildJvm(Program.class).run();
        assertEquals("""
                [] false false
                [addTransformer, retransformClasses] true 0 true
                [addTransformer, retransformClasses, retransformClasses] true 0 true
                """, r.out(), r::toString);
        assertEquals("", r.err(), r::toString);
    }

    /** The first request is refused. No class of the JDK is lost, and the next request is granted. */
    @Test
    void withAFullHeap() {
        ChildJvm.Result r = new ChildJvm(Program.class).with("-Xmx24m", "-XX:+UseSerialGC").run("full");
        assertEquals("""
                [] false false
                true 7
                [addTransformer, retransformClasses] true 0 true
                [addTransformer, retransformClasses, retransformClasses] true 0 true
                """, r.out(), r::toString);
        assertEquals("", r.err(), r::toString);
    }

    /** One sentence says why there are no points, and no class is transformed. */
    @Test
    void pointsOfAnotherCopy() {
        ChildJvm.Result r = new ChildJvm(Program.class).run("copy");
        assertEquals("""
                [] true false
                [] true 1 false
                [] true 1 false
                """, r.out(), r::toString);
        assertEquals(JdkPoint.ANOTHERS + "\n", r.err(), r::toString);
    }
}
