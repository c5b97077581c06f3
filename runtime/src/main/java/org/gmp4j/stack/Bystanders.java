// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.Map;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Looks for code outside of all our schedulers that may still run, and could make a goroutine ready then. While there is any, goroutines
 * that are all asleep are no deadlock.
 *
 * <table>
 * <caption>What counts</caption>
 * <tr><th>what</th><th>counts</th></tr>
 * <tr><td>a live platform thread, daemon or not</td><td>yes, unless a row below says no</td></tr>
 * <tr><td>one in the root thread group, where only the JVM and the JDK make threads</td>
 * <td>no; but the thread of a signal's handler does</td></tr>
 * <tr><td>one that the JDK made for itself: {@code InnocuousThread} without a context class loader; JFR's; carriers, whose
 * virtual threads are looked at instead</td><td>no; but one that waits for a process does</td></tr>
 * <tr><td>{@code InnocuousThread} with a context class loader, which runs the program's code: the pools of asynchronous channels</td>
 * <td>yes; but not those of {@code Cleaner}, as Go does not wait for finalizers either</td></tr>
 * <tr><td>one of the runtime's: {@link OwnThreads}</td><td>no</td></tr>
 * <tr><td>one that waits for a goroutine's end: {@link EndLatch}</td><td>no</td></tr>
 * <tr><td>a live virtual thread of another scheduler, but for the JDK's socket pollers</td><td>yes</td></tr>
 * <tr><td>a shutdown hook, a signal handler</td><td>yes, unless the JDK or the runtime installed it</td></tr>
 * </table>
 *
 * <p>It takes no lock that the program may hold for long: threads are listed by the JVM, virtual threads by concurrent sets. One thread at
 * a time calls this.
 */
public final class Bystanders {
    private static final String INNOCUOUS = "jdk.internal.misc.InnocuousThread";
    private static final String CARRIER = "jdk.internal.misc.CarrierThread";
    /** What a thread that waits for a process is named until it has told of the end; then it is a plain "process reaper" again. */
    private static final String REAPER = "process reaper (pid ";
    /** What {@code InnocuousThread}s with a context class loader are named that run nothing of the program's but cleaning actions. */
    private static final String[] SERVICES = {"VirtualThread-", "Cleaner-", "FileSystemWatch"};
    private static final ThreadGroup ROOT = OwnThreads.root();
    private static final int MORE = 16;
    private static final Predicate<Thread> COUNTS = new Counts();

    /** The JDK's tables of hooks and of signal handlers; null where it has none by that name. Made at the first look. */
    private static @Nullable Tables tables;

    private record Tables(@Nullable Field hooks, @Nullable Field handlers) {
    }

    /** The thread found last: as long as it counts nothing else has to be looked at. */
    private @Nullable Thread last;

    /** For one scheduler. */
    public Bystanders() {
        // Nothing is known yet.
    }

    /** One thing that counts, named for a user; null for none. */
    public @Nullable String any() {
        Thread before = last;
        if (before != null && counts(before)) {
            return named(before);
        }
        last = thread();
        try {
            return last != null ? named(last) : handler();
        } catch (ConcurrentModificationException e) { // The table of hooks is read without the JDK's lock.
            return "a shutdown hook that is just being added";
        }
    }

    private static String named(Thread t) {
        return (t.isVirtual() ? "virtual thread \"" : "thread \"") + t.getName() + "\" (#" + t.threadId() + ")";
    }

    /** No lambda: sysmon asks, perhaps for the first time when the heap is full. */
    private static final class Counts implements Predicate<Thread> {
        @Override
        public boolean test(Thread t) {
            return counts(t);
        }
    }

    private static @Nullable Thread thread() {
        for (Thread t : platformThreads()) {
            if (counts(t)) {
                return t;
            }
        }
        return JdkContainer.virtualThread(COUNTS);
    }

    private static Thread[] platformThreads() {
        for (int room = ROOT.activeCount() + MORE;; room *= 2) {
            Thread[] all = new Thread[room];
            int n = ROOT.enumerate(all, true);
            if (n < room) {
                return Arrays.copyOf(all, n);
            }
        }
    }

    /** Whether a thread may run code that could make a goroutine ready. */
    private static boolean counts(Thread t) {
        if (!t.isAlive() || EndLatch.keeps(t)) {
            return false;
        }
        return t.isVirtual() ? Stack.of(t) == null && !t.getName().startsWith("SubPoller-") : !isService(t);
    }

    /** Whether a platform thread is the runtime's or the JVM's own, and runs nothing for the program now. */
    private static boolean isService(Thread t) {
        ThreadGroup group = t.getThreadGroup();
        String name = t.getName();
        if (group == OwnThreads.GROUP || group == null) { // Null: it has just ended.
            return true;
        }
        String type = t.getClass().getName();
        if (type.equals(INNOCUOUS)) {
            return t.getContextClassLoader() == null ? !name.startsWith(REAPER) : startsWithAny(name);
        }
        return group == ROOT && !(name.startsWith("SIG") && name.endsWith(" handler")) || type.equals(CARRIER)
                || name.equals("DestroyJavaVM") || name.startsWith("JFR ");
    }

    private static boolean startsWithAny(String name) {
        for (String s : SERVICES) {
            if (name.startsWith(s)) {
                return true;
            }
        }
        return false;
    }

    private static @Nullable String handler() {
        Tables known = tables;
        if (known == null) {
            JdkThreads.openToUs("jdk.internal.misc");
            known = new Tables(field("java.lang.ApplicationShutdownHooks", "hooks"), field("jdk.internal.misc.Signal", "handlers"));
            tables = known;
        }
        for (Object hook : entries(known.hooks, true)) {
            if (hook instanceof Thread t && t.getThreadGroup() != OwnThreads.GROUP && !isJdksHook(t)) {
                return "shutdown hook \"" + t.getName() + "\"";
            }
        }
        for (Object handler : entries(known.handlers, false)) {
            // The JVM's are java.lang.Terminator's; DEFAULT and IGNORE are jdk.internal.misc.Signal's.
            String type = handler.getClass().getName();
            if (!type.startsWith("java.lang.") && !type.startsWith("jdk.internal.misc.Signal$")) {
                return "signal handler " + type;
            }
        }
        return null;
    }

    /** Whether the JDK has made a hook for itself: a thread of a class of its own, as that of {@code LogManager}, or JFR's. */
    private static boolean isJdksHook(Thread t) {
        return t.getClass() != Thread.class && t.getClass().getClassLoader() == null || t.getName().startsWith("JFR ");
    }

    /** The keys or the values of a static map; none where that is not there. */
    private static Object[] entries(@Nullable Field map, boolean keys) {
        try {
            Map<?, ?> m = map == null ? null : (Map<?, ?>) map.get(null);
            return m == null ? new Object[0] : keys ? m.keySet().toArray() : m.values().toArray();
        } catch (IllegalAccessException e) {
            return new Object[0];
        }
    }

    private static @Nullable Field field(String type, String name) {
        try {
            Field f = Class.forName(type, false, null).getDeclaredField(name);
            f.setAccessible(true);
            return Map.class.isAssignableFrom(f.getType()) ? f : null;
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null;
        }
    }
}
