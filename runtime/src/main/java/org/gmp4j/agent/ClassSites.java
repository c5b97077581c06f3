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
 * The linked points of one class, found by the class's name. The class refers to this object (as a {@link ClassValue}), and this object
 * refers weakly to the class and its sites. So the class and the sites can be collected with the class's loader. A site is also collected
 * when another agent has changed the class and no code links to the site. Each thread that links a point removes the entries of collected
 * classes and sites, because a program without a scheduler has no sysmon to do that.
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
    /**
     * Adds the only element of the second array to the first array, unless the first array has it already. It is no lambda: if the linking
     * of a lambda once fails for lack of memory or stack, it fails for ever.
     */
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
    /** The name of the class's loader, or null. */
    final @Nullable String loader;
    /** The newest site, from which {@link Site.Ref#before} leads to the older ones. Any thread that links a point adds one by a CAS. */
    private Site.@Nullable Ref last;
    /** Whether this object is in {@link #BY_NAME}. */
    private volatile boolean listed;

    private ClassSites(Class<?> type) {
        super(type, GONE);
        className = type.getName();
        loader = type.getClassLoader() == null ? null : type.getClassLoader().getName();
    }

    /** Adds a site of the class, so that the class's name leads to it. Any thread may call this. It takes no lock. */
    static void add(Class<?> type, Site site) {
        ClassSites sites = OF_CLASS.get(type);
        Site.Ref ref = new Site.Ref(site, sites, GONE);
        site.ref = ref;
        Site.Ref before;
        do {
            before = sites.last(); // The acquire's partner is another thread's release below.
            ref.before = before;
        } while (!LAST.weakCompareAndSetRelease(sites, before, ref));
        if (!sites.listed) { // The thread that added the first site may not have come here yet.
            BY_NAME.merge(sites.className, new ClassSites[] {sites}, JOIN);
            sites.listed = true;
        }
        expunge();
    }

    /** Returns the classes with sites to which a frame of a stack trace may belong. */
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

    /** Returns the newest site; null when there is none. */
    Site.@Nullable Ref last() {
        return (Site.Ref) LAST.getAcquire(this);
    }

    /**
     * Removes a collected site from the list. A thread that has just read its reference continues from there, because {@code gone.before}
     * stays.
     */
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
                return; // No site was added during the search, so gone is not in the list.
            }
        }
    }

    /** Adds to {@code fresh} all sites that are not armed, except those of loops that C2 may vectorise. */
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

    /** Removes collected classes and sites. */
    static void expunge() {
        for (Reference<?> gone = GONE.poll(); gone != null; gone = GONE.poll()) {
            if (gone instanceof ClassSites sites) {
                remove(sites);
            } else if (gone instanceof Site.Ref ref) {
                ref.owner.unlink(ref);
            }
        }
    }

    /** Removes a collected class. */
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

    /** Returns the number of sites of a class. */
    static int sites(Class<?> c) {
        int n = 0;
        for (Site.Ref r = OF_CLASS.get(c).last(); r != null; r = r.before) {
            n++;
        }
        return n;
    }

    /** Returns the number of classes that have sites. */
    static int classes() {
        return BY_NAME.values().stream().mapToInt(a -> a.length).sum();
    }
}
