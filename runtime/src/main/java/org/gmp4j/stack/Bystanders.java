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
 * <tr><td>a daemon in the root thread group, where only the JVM and the JDK make threads</td>
 * <td>no; but the thread of a signal's handler does. (One that is no daemon keeps the process alive for the program: that of RMI's while
 * objects are exported.)</td></tr>
 * <tr><td>one that the JDK made for itself: {@code InnocuousThread} without a context class loader; JFR's; carriers, whose
 * virtual threads are looked at instead</td><td>no; but one that waits for a process does, and one that calls the program with JFR's
 * events</td></tr>
 * <tr><td>{@code InnocuousThread} with a context class loader, which runs the program's code: the pools of asynchronous channels</td>
 * <td>yes; but not those of {@code Cleaner}, as Go does not wait for finalizers either</td></tr>
 * <tr><td>{@code DestroyJavaVM}, which ends the process when all other threads are daemons</td><td>yes: the process ends anyway; but not
 * while one that is no daemon waits for a goroutine's end</td></tr>
 * <tr><td>one of the runtime's: {@link OwnThread}</td><td>no</td></tr>
 * <tr><td>one that waits for a goroutine's end: {@link EndLatch}</td><td>no</td></tr>
 * <tr><td>a live virtual thread of another scheduler, but for the JDK's socket pollers</td><td>yes</td></tr>
 * <tr><td>a shutdown hook, a signal handler</td><td>yes, unless the JDK or the runtime installed it</td></tr>
 * </table>
 *
 * <p>Threads start and end while this looks. One that starts another and ends must not hide it. So a thread that is listed and has ended
 * by the time it is looked at counts this once: it may have started another since. And a look during which a thread was made finds that: it
 * takes a number of those that threads get ({@link Thread#threadId}), before and after. A thread may still hide that was made before the
 * look, when it starts behind the look's back, and the virtual thread that starts it ends before the look comes there; and the JVM has
 * neither {@code main} nor {@code DestroyJavaVM} for a moment. So {@code Checkdead} asks for two looks one after the other.
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
    private static final String ENDS_THE_JVM = "DestroyJavaVM";
    private static final String JFR = "JFR ";
    /** What a thread is named that calls the program: {@code RecordingStream.startAsync}. */
    private static final String JFR_STREAM = "JFR Event Stream ";
    private static final ThreadGroup ROOT = OwnThread.root();
    private static final int MORE = 16;
    private static final Predicate<Thread> COUNTS = new Counts();
    private static final Runnable NOTHING = new Nothing();

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
        if (before != null && before.isAlive() && counts(before)) {
            return named(before);
        }
        last = null;
        long number = nextNumber();
        Thread found = JdkContainer.virtualThread(COUNTS);
        if (found == null) {
            found = counting(platformThreads());
        }
        if (found != null) {
            last = found;
            return named(found);
        }
        try {
            String handler = handler();
            return handler != null || nextNumber() == number + 1 ? handler : "a thread that was just made";
        } catch (ConcurrentModificationException e) { // The table of hooks is read without the JDK's lock.
            return "a shutdown hook that is just being added";
        }
    }

    /** The number that the next thread of the process would have got, virtual or not. */
    private static long nextNumber() {
        return new OwnThread(NOTHING, "gmp-number").threadId();
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

    /** What the threads run that are never started; no lambda for the same reason. */
    private static final class Nothing implements Runnable {
        @Override
        public void run() {
            throw new IllegalStateException("only its thread's number is wanted");
        }
    }

    /** The first of some platform threads that counts; null for none. */
    static @Nullable Thread counting(Thread[] platform) {
        Thread ends = null;
        boolean keptAlive = false;
        for (Thread t : platform) {
            if (counts(t)) {
                return t;
            }
            if (t.getName().equals(ENDS_THE_JVM)) {
                ends = t;
            }
            keptAlive |= !t.isDaemon() && EndLatch.keeps(t);
        }
        return keptAlive ? null : ends;
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

    /** Whether a thread that was listed may run code that could make a goroutine ready, or has ended since it was listed. */
    private static boolean counts(Thread t) {
        if (t.isVirtual() ? Stack.of(t) != null || t.getName().startsWith("SubPoller-") : OwnThread.is(t)) {
            return false;
        }
        return !t.isAlive() || !EndLatch.keeps(t) && (t.isVirtual() || !isService(t));
    }

    /** Whether a platform thread is the JVM's own, and runs nothing for the program now. */
    private static boolean isService(Thread t) {
        String name = t.getName();
        String type = t.getClass().getName();
        if (type.equals(INNOCUOUS)) {
            return t.getContextClassLoader() == null ? !name.startsWith(REAPER) : startsWithAny(name);
        }
        return t.isDaemon() && t.getThreadGroup() == ROOT && !(name.startsWith("SIG") && name.endsWith(" handler"))
                || type.equals(CARRIER) || name.equals(ENDS_THE_JVM) || name.startsWith(JFR) && !name.startsWith(JFR_STREAM);
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
            if (hook instanceof Thread t && !OwnThread.is(t) && !isJdksHook(t)) {
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
        return t.getClass() != Thread.class && t.getClass().getClassLoader() == null || t.getName().startsWith(JFR);
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
