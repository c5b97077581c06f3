// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.Map;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Searches for code outside of all schedulers of the runtime that may still run and could make a goroutine ready. While there is such code,
 * a scheduler whose goroutines are all asleep is not deadlocked.
 *
 * <table>
 * <caption>The code that counts</caption>
 * <tr><th>code</th><th>counts</th></tr>
 * <tr><td>a live platform thread, daemon or not</td><td>yes, unless a row below says no</td></tr>
 * <tr><td>a daemon in the root thread group, where only the JVM and the JDK make threads</td> <td>no, except a thread that runs a signal
 * handler. (A non-daemon thread in that group counts, because the program needs it. For example RMI's thread lives while objects are
 * exported.)</td></tr>
 * <tr><td>a thread that the JDK made for itself: {@code InnocuousThread} without a context class loader; JFR's threads; carriers, whose
 * virtual threads are checked instead</td><td>no, except a thread that waits for a process, and a thread that passes JFR's events to the
 * program</td></tr>
 * <tr><td>{@code InnocuousThread} with a context class loader, which runs the program's code: the pools of asynchronous channels</td>
 * <td>yes, except the threads of {@code Cleaner} (Go does not wait for finalizers either), of file watches, and of the timeouts of virtual
 * threads</td></tr>
 * <tr><td>{@code DestroyJavaVM}. It readies no goroutine. But it ends the process once all other threads are daemons, and such an end is
 * no deadlock.</td><td>yes, except while the process cannot end, because a non-daemon thread waits for a goroutine's end</td></tr>
 * <tr><td>a thread of the runtime: {@link OwnThread}</td><td>no</td></tr>
 * <tr><td>a thread that waits for a goroutine's end: {@link EndLatch}</td><td>no</td></tr>
 * <tr><td>a live virtual thread of a scheduler that is not the runtime's, such as the JDK's, except the JDK's socket
 * pollers</td><td>yes</td></tr>
 * <tr><td>a shutdown hook, a signal handler</td><td>yes, unless the JDK or the runtime installed it</td></tr>
 * </table>
 *
 * <p>Threads start and end during a search. A thread that is listed, and has ended when it is checked, counts in this search, because it
 * may have started another thread. A search also takes a thread number ({@link Thread#threadId}) at its begin and at its end. If the two
 * numbers are not consecutive, a thread was made during the search. A search may still miss a virtual thread T that was made before
 * the search and is started during it. For example, another virtual thread V may start T after the search has passed T's place in the JDK's
 * set of threads, and end before the search comes to V's place. A search also misses the thread {@code DestroyJavaVM} in the moment between
 * the end of {@code main} and the thread's start. So {@code Checkdead} needs two searches, one after the other.
 *
 * <p>A search takes no lock that the program may hold for long. The JVM lists the platform threads. The virtual threads are read from the
 * JDK's concurrent sets. Only one thread at a time may use an object of this class.
 */
public final class Bystanders {
    private static final String INNOCUOUS = "jdk.internal.misc.InnocuousThread";
    private static final String CARRIER = "jdk.internal.misc.CarrierThread";
    /** The start of the name of a thread that waits for processes. */
    private static final String REAPER = "process reaper";
    /**
     * The starts of the names of {@code InnocuousThread}s that have a context class loader, but run no code of the program except cleaners.
     */
    private static final String[] SERVICES = {"VirtualThread-", "Cleaner-", "FileSystemWatch"};
    private static final String ENDS_THE_JVM = "DestroyJavaVM";
    private static final String JFR = "JFR ";
    /** The start of the name of a thread that calls the program: {@code RecordingStream.startAsync}. */
    private static final String JFR_STREAM = "JFR Event Stream ";
    private static final ThreadGroup ROOT = OwnThread.root();
    private static final int MORE = 16;
    private static final Predicate<Thread> COUNTS = new Counts();
    private static final Runnable NOTHING = new Nothing();

    /** The JDK's tables; null before the first search. */
    private static @Nullable Tables tables;

    /**
     * The JDK's tables of hooks, signal handlers and processes. A process stays in the table until the program is notified of its end. A
     * table is null if the JDK has no such field.
     */
    private record Tables(@Nullable Field hooks, @Nullable Field handlers, @Nullable Field processes) {
    }

    /** The thread that the last search found. As long as it counts, no search is needed. */
    private @Nullable Thread last;

    /** Makes a searcher for one scheduler. */
    public Bystanders() {
    }

    /** Returns a text for users that names a thread, hook or handler that counts. Returns null if there is none. */
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

    /** Takes and returns the process's next thread number. Virtual and platform threads get numbers from the same sequence. */
    private static long nextNumber() {
        return new OwnThread(NOTHING, "gmp-number").threadId();
    }

    private static String named(Thread t) {
        return (t.isVirtual() ? "virtual thread \"" : "thread \"") + t.getName() + "\" (#" + t.threadId() + ")";
    }

    /** The predicate of {@link #counts}. */
    private static final class Counts implements Predicate<Thread> {
        @Override
        public boolean test(Thread t) {
            return counts(t);
        }
    }

    /** The task of the threads that are never started. */
    private static final class Nothing implements Runnable {
        @Override
        public void run() {
            throw new IllegalStateException("only its thread's number is wanted");
        }
    }

    /**
     * Returns the first platform thread of the array that counts, or null. {@code DestroyJavaVM} counts only if no other thread counts, and
     * no non-daemon thread waits for a goroutine's end.
     */
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

    /** Returns whether a listed thread may run code that could make a goroutine ready, or has ended after it was listed. */
    private static boolean counts(Thread t) {
        if (t.isVirtual() ? Stack.of(t) != null || t.getName().startsWith("SubPoller-") : OwnThread.is(t)) {
            return false;
        }
        return !t.isAlive() || !EndLatch.keeps(t) && (t.isVirtual() || !isService(t));
    }

    /** Returns whether a platform thread belongs to the JVM or the JDK, and runs no code of the program now. */
    private static boolean isService(Thread t) {
        String name = t.getName();
        String type = t.getClass().getName();
        if (type.equals(INNOCUOUS)) {
            return t.getContextClassLoader() == null ? !name.startsWith(REAPER) || noProcess() : startsWithAny(name);
        }
        return t.isDaemon() && t.getThreadGroup() == ROOT && !(name.startsWith("SIG") && name.endsWith(" handler"))
                || type.equals(CARRIER) || name.equals(ENDS_THE_JVM) || name.startsWith(JFR) && !name.startsWith(JFR_STREAM);
    }

    /**
     * Returns whether the threads that wait for processes are all idle. The thread that starts a process puts the process into the JDK's
     * table, and then hands it to a waiting thread. The waiting thread completes the futures of the process's end, and then removes the
     * process from the table. The read of the table's field cannot begin the initialisation of {@code ProcessHandleImpl}, because that
     * class's initialiser makes the pool of the waiting threads, and the caller has found such a thread.
     */
    private static boolean noProcess() {
        Field processes = tables().processes;
        return processes != null && entries(processes, true).length == 0;
    }

    private static boolean startsWithAny(String name) {
        for (String s : SERVICES) {
            if (name.startsWith(s)) {
                return true;
            }
        }
        return false;
    }

    private static Tables tables() {
        Tables known = tables;
        if (known == null) {
            JdkThreads.openToUs("jdk.internal.misc");
            known = new Tables(field("java.lang.ApplicationShutdownHooks", "hooks"), field("jdk.internal.misc.Signal", "handlers"),
                    field("java.lang.ProcessHandleImpl", "completions"));
            tables = known;
        }
        return known;
    }

    private static @Nullable String handler() {
        Tables known = tables();
        for (Object hook : entries(known.hooks, true)) {
            if (hook instanceof Thread t && !OwnThread.is(t) && !isJdksHook(t)) {
                return "shutdown hook \"" + t.getName() + "\"";
            }
        }
        for (Object handler : entries(known.handlers, false)) {
            // The JVM's own handlers are of java.lang.Terminator; DEFAULT and IGNORE are of jdk.internal.misc.Signal.
            String type = handler.getClass().getName();
            if (!type.startsWith("java.lang.") && !type.startsWith("jdk.internal.misc.Signal$")) {
                return "signal handler " + type;
            }
        }
        return null;
    }

    /** Returns whether a hook is the JDK's own: a thread of a class of the JDK, such as the hook of {@code LogManager}, or JFR's thread. */
    private static boolean isJdksHook(Thread t) {
        return t.getClass() != Thread.class && t.getClass().getClassLoader() == null || t.getName().startsWith(JFR);
    }

    /** Returns the keys or the values of a static map, or none if {@code map} is null. */
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
