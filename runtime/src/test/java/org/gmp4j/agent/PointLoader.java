// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A class loader of some classes of its own, with points where they are wanted, and with a name of its own. */
public final class PointLoader extends ClassLoader {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final Map<String, byte[]> own = new HashMap<>();

    PointLoader(ClassLoader parent) {
        super("points-" + COUNT.incrementAndGet(), parent);
        assertNull(JdkPoint.PROBLEM);
    }

    /** A loader of this class and its nested classes, copied with points. */
    public static PointLoader ofCopy(Class<?> type) {
        PointLoader loader = new PointLoader(type.getClassLoader());
        loader.add(type, true);
        return loader;
    }

    PointLoader add(Class<?> type, boolean points) {
        byte[] b = bytes(type);
        add(type.getName(), points ? withPoints(b) : b);
        for (Class<?> c : type.getDeclaredClasses()) {
            add(c, points);
        }
        return this;
    }

    PointLoader add(String name, byte[] classFile) {
        own.put(name, classFile);
        return this;
    }

    public Class<?> load(String name) {
        try {
            return loadClass(name);
        } catch (ClassNotFoundException e) {
            throw new NoClassDefFoundError(name);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> c = findLoadedClass(name);
            if (c == null && own.get(name) instanceof byte[] b) {
                c = defineClass(name, b, 0, b.length);
            }
            return c != null ? c : super.loadClass(name, resolve);
        }
    }

    /** The class file with points, or as it is where it gets none. */
    static byte[] withPoints(byte[] classFile) {
        assertNull(JdkPoint.PROBLEM);
        byte[] changed = PointTransformer.addPoints(classFile);
        return changed == null ? classFile : changed;
    }

    static byte[] bytes(Class<?> type) {
        String file = type.getName().substring(type.getName().lastIndexOf('.') + 1) + ".class";
        try (InputStream in = type.getResourceAsStream(file)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
