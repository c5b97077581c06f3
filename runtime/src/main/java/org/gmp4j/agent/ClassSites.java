// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

/**
 * The linked points of one class, found by the class's name. The class holds this (as a {@link ClassValue}), this holds
 * the class weakly, and its sites too: they are collected when the class's loader is, and when another agent has changed the class so
 * that no code links to them. Each thread that links the first point of a class removes what is gone: a program may have
 * no scheduler whose sysmon would.
 */
final class ClassSites extends WeakReference<Class<?>> {
    private static final ClassSites[] NONE = {};
    /** Package-private for the test. */
    static final Map<String, ClassSites[]> BY_NAME = new ConcurrentHashMap<>();
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<>();
    private static final ClassValue<ClassSites> OF_CLASS = new ClassValue<>() {
        @Override
        protected ClassSites computeValue(Class<?> type) {
            return new ClassSites(type);
        }
    };
    /** Adds the second's one to the first, once. No lambda: one that has no memory or stack as it is linked is lost for good. */
    private static final BiFunction<ClassSites[], ClassSites[], ClassSites[]> JOIN = new BiFunction<>() {
        @Override
        public ClassSites[] apply(ClassSites[] all, ClassSites[] one) {
            for (ClassSites sites : all) {
                if (sites == one[0]) {
                    return all;
                }
            }
            ClassSites[] joined = Arrays.copyOf(all, all.length + 1);
            joined[all.length] = one[0];
            return joined;
        }
    };
    private static final VarHandle LAST;

    static {
        try {
            LAST = MethodHandles.lookup().findVarHandle(ClassSites.class, "last", Site.Ref.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final String className;
    /** The loader's name, or null. */
    final @Nullable String loader;
    /** A stack through {@link Site.Ref#before}; any thread that links pushes. */
    private Site.@Nullable Ref last;
    /** Whether it is in {@link #BY_NAME}. */
    private volatile boolean listed;

    private ClassSites(Class<?> type) {
        super(type, GONE);
        className = type.getName();
        loader = type.getClassLoader() == null ? null : type.getClassLoader().getName();
    }

    /** Notes a site of the class, which can be found by the class's name then; from any thread, without a lock. */
    static void add(Class<?> type, Site site) {
        ClassSites sites = OF_CLASS.get(type);
        Site.Ref ref = new Site.Ref(site, sites, GONE);
        site.ref = ref;
        Site.Ref before;
        do {
            before = sites.last(); // pairs with the release of the push
            ref.before = before;
        } while (!LAST.weakCompareAndSetRelease(sites, before, ref));
        if (!sites.listed) { // By the one who pushed the first, who may have come no further: so whoever comes here first lists it.
            BY_NAME.merge(sites.className, new ClassSites[] {sites}, JOIN);
            sites.listed = true;
        }
        expunge();
    }

    /** The classes that a frame of a stack trace may mean; they have sites. */
    static ClassSites[] of(StackTraceElement frame) {
        ClassSites[] all = BY_NAME.getOrDefault(frame.getClassName(), NONE);
        String loader = frame.getClassLoaderName();
        if (all.length < 2 || loader == null) {
            return all;
        }
        ClassSites[] ofLoader = new ClassSites[all.length];
        int n = 0;
        for (ClassSites sites : all) {
            if (loader.equals(sites.loader)) {
                ofLoader[n++] = sites;
            }
        }
        return Arrays.copyOf(ofLoader, n);
    }

    /** The newest; null when there is none any more. */
    Site.@Nullable Ref last() {
        return (Site.Ref) LAST.getAcquire(this);
    }

    /** Takes out of the list what no code links to. Those who read the list meanwhile go on from there. */
    private synchronized void unlink(Site.Ref gone) {
        while (!LAST.compareAndSet(this, gone, gone.before)) {
            Site.Ref newest = last();
            for (Site.Ref r = newest; r != null; r = r.before) {
                if (r.before == gone) {
                    r.before = gone.before;
                    return;
                }
            }
            if (newest == last()) {
                return; // It is not in the list. Else a push came between, and it is no longer the newest.
            }
        }
    }

    /** Adds all that are not armed, but for loops that C2 may vectorise. */
    static void addUnarmed(List<Site> fresh) {
        for (ClassSites[] all : BY_NAME.values()) {
            for (ClassSites sites : all) {
                for (Site.Ref r = sites.last(); r != null; r = r.before) {
                    Site s = r.get();
                    if (s != null && !s.isArmed && !s.vector) {
                        fresh.add(s);
                    }
                }
            }
        }
    }

    /** Forgets the classes and the sites that are gone. */
    static void expunge() {
        for (Reference<?> gone = GONE.poll(); gone != null; gone = GONE.poll()) {
            if (gone instanceof ClassSites sites) {
                remove(sites);
            } else if (gone instanceof Site.Ref ref) {
                ref.owner.unlink(ref);
            }
        }
    }

    /** Without a lambda, which would be linked on sysmon, and maybe without memory: see {@link Points#rehearse}. */
    private static void remove(ClassSites gone) {
        for (ClassSites[] all = BY_NAME.get(gone.className); all != null; all = BY_NAME.get(gone.className)) {
            ClassSites[] rest = new ClassSites[all.length];
            int n = 0;
            for (ClassSites sites : all) {
                if (sites != gone) {
                    rest[n++] = sites;
                }
            }
            if (n == 0 ? BY_NAME.remove(gone.className, all) : BY_NAME.replace(gone.className, all, Arrays.copyOf(rest, n))) {
                return;
            }
        }
    }

    static boolean any() {
        return !BY_NAME.isEmpty();
    }

    /** How many sites a class has. */
    static int sites(Class<?> c) {
        int n = 0;
        for (Site.Ref r = OF_CLASS.get(c).last(); r != null; r = r.before) {
            n++;
        }
        return n;
    }

    /** How many classes have sites. */
    static int classes() {
        return BY_NAME.values().stream().mapToInt(a -> a.length).sum();
    }
}
