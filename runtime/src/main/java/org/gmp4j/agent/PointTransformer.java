// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.concurrent.atomic.LongAdder;

import org.gmp4j.agent.PointScan.MethodPoints;
import org.jspecify.annotations.Nullable;

/**
 * Adds points to classes when they load. A class that cannot be changed stays as it is, and counts as {@link LeftAlone#FAILED}. Call
 * {@link Points#initialize} before the JVM may call {@link #transform}.
 */
final class PointTransformer implements ClassFileTransformer {
    private static final String OURS = "org/gmp4j/";
    private static final String PROGRAMS = "org/gmp4j/bench/";
    private static final String BINDINGS = "org/gmp4j/ffi/";

    static final LongAdder CLASSES = new LongAdder();
    static final LongAdder METHODS = new LongAdder();
    static final LongAdder POINTS = new LongAdder();

    private final PointOptions options;
    private final ClassLoader platform = ClassLoader.getPlatformClassLoader();
    private final @Nullable CodeSource runtime = codeSource(PointTransformer.class.getProtectionDomain());

    PointTransformer(PointOptions options) {
        this.options = options;
    }

    @Override
    public byte @Nullable [] transform(@Nullable Module module, @Nullable ClassLoader loader, @Nullable String name,
            @Nullable Class<?> loaded, @Nullable ProtectionDomain domain, byte[] classFile) {
        try {
            String known = name == null ? PointScan.of(classFile).name() : name; // A program may define a class without naming it.
            if (!isMeant(module, loader, known, domain)) {
                LeftAlone.EXCLUDED.count();
                return null;
            }
            return addPoints(PointScan.of(classFile), loader);
        } catch (Throwable t) { // After any failure the class loads unchanged.
            LeftAlone.FAILED.count();
            return null;
        }
    }

    /** Returns the class with points, or null when it gets none. */
    static byte @Nullable [] addPoints(byte[] classFile) {
        return addPoints(PointScan.of(classFile), null);
    }

    private static byte @Nullable [] addPoints(PointScan scan, @Nullable ClassLoader loader) {
        LeftAlone why = scan.leftAlone();
        if (why == null && !Origin.sees(loader)) {
            why = LeftAlone.UNSEEN;
        }
        if (why != null) {
            why.count();
            return null;
        }
        byte[] changed = PointWriter.write(scan);
        CLASSES.increment();
        METHODS.add(scan.found().size());
        for (MethodPoints m : scan.found()) {
            POINTS.add(m.count());
        }
        return changed;
    }

    /** Returns whether a loaded class may get points, by its kind, its name and its origin. */
    boolean isMeant(Instrumentation instrumentation, Class<?> c) {
        return !c.isHidden() && instrumentation.isModifiableClass(c)
                && isMeant(c.getModule(), c.getClassLoader(), c.getName().replace('.', '/'), c.getProtectionDomain());
    }

    /** Returns whether a class may get points, by its name and its origin. */
    boolean isMeant(@Nullable Module module, @Nullable ClassLoader loader, String name, @Nullable ProtectionDomain domain) {
        boolean jdk = isJdk(module, loader);
        return options.includes(name, jdk, !jdk && Origin.isAgents(loader, domain, name)) && !isOurs(name, domain);
    }

    private boolean isJdk(@Nullable Module module, @Nullable ClassLoader loader) {
        if (loader == null || loader == platform) {
            return true;
        }
        String name = module == null ? null : module.getName();
        return name != null && (name.startsWith("java.") || name.startsWith("jdk."));
    }

    /** Returns whether the class is of the runtime. Such classes get no points: their loops run on the Ms or yield by themselves. */
    private boolean isOurs(String name, @Nullable ProtectionDomain domain) {
        return isOurs(name) && (name.startsWith(BINDINGS) || runtime == null || runtime.equals(codeSource(domain)));
    }

    /** Returns whether the class is of the runtime, by its name. */
    static boolean isOurs(String name) {
        return name.startsWith(OURS) && !name.startsWith(PROGRAMS);
    }

    private static @Nullable CodeSource codeSource(@Nullable ProtectionDomain domain) {
        return domain == null ? null : domain.getCodeSource();
    }
}
