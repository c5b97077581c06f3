// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;
import java.util.stream.Stream;

import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.NativeException;

/**
 * Puts pollers of ours in the place of the JDK's ({@code sun.nio.ch.Poller}), through which virtual threads wait for
 * sockets, pipes and selectors. The JDK's come in three kinds, which one object of {@code Poller}'s has: readers, writers and a master for
 * selectors. Each gets one of ours ({@link PollerClass}) in front, which asks {@link Waits} whether the calling thread is a
 * goroutine. If it is, its scheduler registers the descriptor, and readies the goroutine; no thread of the JDK's is in between.
 * All other virtual threads wait in the JDK's poller as before.
 *
 * <p>Both have one map of waiting threads. So what is closed or shut down by another thread, or seen ready by the JDK's poller,
 * is found by either, and a wait that began in the JDK's before the change ends there. The runtime never looks into the map, whose
 * bins are locks that a goroutine may hold: it finds the waiter by the descriptor ({@code netpoll.Netpoller}). A waiting goroutine is
 * unparked by a thread that closes the channel in the same way as by the poller, and finds out by itself that the channel is closed.
 *
 * <p>The change comes when the first wait of a virtual thread has initialised the JDK's pollers, which start threads: a service whose
 * threads wait in selectors has none of it. Sysmon sees it ({@link #look}), and a thread makes the change. A thread that waits before it
 * is made waits in the JDK's poller. No class of the JDK's is initialised earlier than the JDK does: one that finds too few descriptors,
 * threads or memory then can never be used.
 *
 * <p>In a JDK whose pollers we do not know, and with {@code -Dgmp.pollers=jdk}, they stay as they are, and run on the JDK's own
 * threads.
 */
public final class JdkPollers {
    private static final String POLLER = "sun.nio.ch.Poller";
    private static final boolean JDK = "jdk".equals(System.getProperty("gmp.pollers"));
    /** Whether to find them different from what we know: in tests. */
    private static final boolean UNKNOWN = "unknown".equals(System.getProperty("gmp.pollers"));

    /** What a goroutine's wait becomes. */
    public interface Waits {
        /**
         * The calling virtual thread is about to wait for a descriptor, as the only one in this direction.
         *
         * @return false if it is no goroutine: the JDK's poller is to do it
         */
        boolean register(int fd, boolean write) throws IOException;

        /** The wait is over. False if {@link #register} returned false. */
        boolean deregister(int fd, boolean write);

        /** Loads and links all that the others need; on a thread of its own. */
        void rehearse();
    }

    private static final long RETRY_NANOS = 1_000_000_000;

    private static final Class<?> JDK_POLLER = jdkPoller();
    private static final AtomicBoolean BEGUN = new AtomicBoolean(JDK);
    /** There is one before sysmon looks the first time. */
    @SuppressWarnings("NullAway.Init")
    private static volatile Waits waits;

    private JdkPollers() {
    }

    /** Loads the JDK's class, and does not initialise it; one that is initialised where there is none: the change says so. */
    private static Class<?> jdkPoller() {
        try {
            return Class.forName(POLLER, false, null);
        } catch (ClassNotFoundException e) {
            return Object.class;
        }
    }

    /** From the first scheduler on. */
    public static void use(Waits w) {
        waits = w;
    }

    /** Returns what {@link #use} was given last. */
    public static Waits waits() {
        return waits;
    }

    /** From sysmon: whether virtual threads have come to wait for descriptors. Takes no lock. */
    public static void look() {
        if (!BEGUN.getPlain() && JdkThreads.initialized(JDK_POLLER)) {
            begin();
        }
    }

    private static void begin() {
        if (BEGUN.getAndSet(true)) {
            return;
        }
        try {
            Thread t = new OwnThread(new Changer(), "gmp-sockets");
            t.start();
        } catch (OutOfMemoryError e) {
            BEGUN.set(false); // No thread to be had just now. Sockets work without.
        }
    }

    /** On a thread of its own. (A method reference would be linked on sysmon, maybe without memory.) */
    private static final class Changer implements Runnable {
        @Override
        public void run() {
            change();
        }
    }

    private static void change() {
        Inheritance.beginPlain(); // Sysmon has started it, and it may start the JDK's pollers.
        try {
            while (!changed()) {
                LockSupport.parkNanos(RETRY_NANOS);
                boolean _ = Thread.interrupted();
            }
        } catch (Throwable t) {
            System.err.printf("gmp4j does not know the socket pollers of this build of the JDK (%s; %s): they stay on the JDK's "
                    + "threads, and blocking sockets are slower%n", Runtime.version(), t);
        }
    }

    /** Makes the change; returns whether there was memory for it, and descriptors, of which it opens some for a moment. */
    private static boolean changed() throws ReflectiveOperationException {
        try {
            JdkThreads.openToUs("sun.nio.ch");
            waits.rehearse();
            new Change(JDK_POLLER).all();
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        } catch (NativeException e) {
            if (e.errno() != Errno.EMFILE && e.errno() != Errno.ENFILE) {
                throw e;
            }
            return false;
        }
    }

    /** The change itself, with all that it needs to know of the JDK. */
    private static final class Change {
        private final Class<?> poller;
        private final Constructor<?> make;
        private final long map;

        Change(Class<?> poller) throws ReflectiveOperationException {
            this.poller = poller;
            String startPoll = JdkThreads.VERSION.startPoll;
            String stopPoll = JdkThreads.VERSION.stopPoll;
            List<Method> known = new ArrayList<>(List.of(poller.getDeclaredMethod(startPoll, int.class),
                    poller.getDeclaredMethod(stopPoll, int.class, boolean.class), poller.getDeclaredMethod("poll", int.class)));
            Stream.of(poller.getDeclaredMethods()).filter(m -> m.getName().equals("close") && m.getParameterCount() == 0)
                    .forEach(known::add);
            if (known.get(2).getReturnType() != int.class || Stream.of(poller.getDeclaredMethods())
                    .anyMatch(m -> Modifier.isAbstract(m.getModifiers()) && !known.contains(m))) {
                throw new NoSuchMethodException("Poller.poll as it was, or another method is abstract");
            }
            make = JdkThreads.define(poller, PollerClass.NAME, PollerClass.bytes(startPoll, stopPoll, known.size() > 3))
                    .getDeclaredConstructor(poller, IntPredicate.class, IntPredicate.class);
            make.setAccessible(true);
            map = offset(poller, UNKNOWN ? "unknown" : "map");
        }

        private static long offset(Class<?> in, String name) throws ReflectiveOperationException {
            return JdkThreads.offset(in.getDeclaredField(name));
        }

        /** All that may fail comes first: it changes all, or nothing. */
        void all() throws ReflectiveOperationException {
            Field all = poller.getDeclaredField(JdkThreads.VERSION.pollers);
            all.setAccessible(true);
            Object pollers = all.get(null);
            Class<?> group = pollers.getClass();
            Object[] read = (Object[]) JdkThreads.get(pollers, offset(group, "readPollers"));
            Object[] write = (Object[]) JdkThreads.get(pollers, offset(group, "writePollers"));
            boolean hasMaster = false; // In JDK 27 not every kind of group has one.
            for (Field f : group.getDeclaredFields()) {
                hasMaster |= f.getName().equals("masterPoller");
            }
            long master = hasMaster ? offset(group, "masterPoller") : 0;
            Object old = hasMaster ? JdkThreads.get(pollers, master) : null;
            Object[] newRead = inFront(read, false);
            Object[] newWrite = inFront(write, true);
            Object newMaster = old == null ? null : inFront(old, false);
            VarHandle.fullFence(); // What is in them before they are seen.
            if (newMaster != null) {
                JdkThreads.put(pollers, master, newMaster);
            }
            System.arraycopy(newRead, 0, read, 0, read.length);
            System.arraycopy(newWrite, 0, write, 0, write.length);
        }

        private Object[] inFront(Object[] jdk, boolean write) throws ReflectiveOperationException {
            Object[] ours = (Object[]) Array.newInstance(poller, jdk.length);
            for (int i = 0; i < jdk.length; i++) {
                ours[i] = inFront(jdk[i], write);
            }
            return ours;
        }

        private Object inFront(Object jdk, boolean write) throws ReflectiveOperationException {
            IntPredicate register = fd -> {
                try {
                    return waits.register(fd, write);
                } catch (IOException e) {
                    throw JdkThreads.sneaky(e); // Poller.implRegister may.
                }
            };
            IntPredicate deregister = fd -> waits.deregister(fd, write);
            Object ours = make.newInstance(jdk, register, deregister);
            JdkThreads.put(ours, map, JdkThreads.get(jdk, map)); // Final, but of no constant that a compiler would trust.
            return ours;
        }
    }

    /**
     * Whether a thread that is being started is one of the JDK's pollers, which inherit the scheduler of whoever is the first
     * to wait for a socket. To be asked where it is started: its name alone could be a user's.
     */
    public static boolean isPoller(Thread vt) {
        if (vt.getName().startsWith("SubPoller-")) {
            for (StackTraceElement frame : new Throwable().getStackTrace()) {
                if (frame.getClassName().startsWith(POLLER)) {
                    return true;
                }
            }
        }
        return false;
    }
}
