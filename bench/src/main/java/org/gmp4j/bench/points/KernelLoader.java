// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.points;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.agent.Points;

/** A copy of the kernels' classes of its own, plain or with preemption points; each copy has its own compiled code. */
public final class KernelLoader extends ClassLoader {
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final int ALL_LEVELS = 100;

    private final boolean points;

    /** Makes a loader with a new copy of the kernels. */
    public KernelLoader(boolean points) {
        super("kernels-" + COUNT.incrementAndGet(), Kernel.class.getClassLoader());
        this.points = points;
    }

    /** Makes a new kernel of this copy, by its simple name. */
    public Kernel kernel(String name) {
        try {
            return (Kernel) loadClass(Kernels.class.getName() + "$" + name).getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("no kernel " + name, e);
        }
    }

    /** Arms all points of a kernel that were reached; its code is thrown away and compiled again. */
    public void arm(Kernel kernel) {
        String type = kernel.getClass().getName();
        for (var m : kernel.getClass().getDeclaredMethods()) {
            Points.arm(new StackTraceElement[] {new StackTraceElement(getName(), null, null, type, m.getName(), null, 1)},
                    ALL_LEVELS);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(Kernels.class.getName())) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> c = findLoadedClass(name);
            if (c == null) {
                byte[] b = bytes(name);
                byte[] changed = points ? Points.addTo(b) : null;
                c = changed == null ? defineClass(name, b, 0, b.length) : defineClass(name, changed, 0, changed.length);
            }
            return c;
        }
    }

    private static byte[] bytes(String name) {
        try (InputStream in = Kernels.class.getResourceAsStream(name.substring(name.lastIndexOf('.') + 1) + ".class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
