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
 * Replaces the JDK's pollers ({@code sun.nio.ch.Poller}), through which virtual threads wait for sockets, pipes and selectors. One object
 * of a class inside {@code Poller} has the JDK's pollers, of three kinds: readers, writers, and a master for selectors. A {@code GmpPoller}
 * ({@link PollerClass}) replaces each of them, and asks {@link Waits} whether the calling thread is a goroutine. If it is, the goroutine's
 * scheduler registers the descriptor and readies the goroutine, without a thread of the JDK. Otherwise GmpPoller passes the call to the
 * JDK's poller, in which all other virtual threads wait as before.
 *
 * <p>A GmpPoller and the JDK's poller behind it share one map of waiting threads. A thread that closes or shuts down a channel finds the
 * waiting thread in this map, and so does the JDK's poller when a descriptor is ready. A wait that began in the JDK's poller before the
 * change ends there. The runtime itself never reads the map, because the map's bins are locks that a goroutine may hold. The runtime finds
 * the waiter by the descriptor ({@code netpoll.Netpoller}). A thread that closes a channel unparks the waiting goroutine as the poller
 * does, and the goroutine finds the channel closed.
 *
 * <p>The change is made after the first wait of a virtual thread has initialised the JDK's pollers, which start threads. A service whose
 * threads wait in selectors never initialises them. Sysmon notices the initialisation ({@link #look}) and starts a thread that makes the
 * change. The runtime initialises no class of the JDK earlier than the JDK does. If an initialiser found too few descriptors or threads, or
 * too little memory, its class could never be used.
 *
 * <p>The JDK's pollers stay as they are, and run on the JDK's own threads, in a JDK with unknown pollers and with
 * {@code -Dgmp.pollers=jdk}.
 */
public final class JdkPollers {
    private static final String POLLER = "sun.nio.ch.Poller";
    /** Whether to treat the JDK's pollers as unknown, for tests. */
    private static final boolean UNKNOWN = "unknown".equals(System.getProperty("gmp.pollers"));

    /** Carries out the waits of goroutines for descriptors. */
    public interface Waits {
        /**
         * Registers the calling virtual thread, which is about to wait for a descriptor. No other thread waits for the descriptor in this
         * direction.
         *
         * @return false if the caller is not a goroutine, so that the JDK's poller has to register it
         */
        boolean register(int fd, boolean write) throws IOException;

        /** Ends the registration after the wait. Returns false if {@link #register} returned false. */
        boolean deregister(int fd, boolean write);

        /** Loads and links the classes that the other methods need. Called on a thread that may block. */
        void rehearse();
    }

    private static final long RETRY_NANOS = 1_000_000_000;

    private static final Class<?> JDK_POLLER = jdkPoller();
    /** Whether the change has begun, or must not begin. */
    private static final AtomicBoolean BEGUN = new AtomicBoolean("jdk".equals(System.getProperty("gmp.pollers")));
    /** Written by {@link #use}. Not null once sysmon runs. */
    @SuppressWarnings("NullAway.Init")
    private static volatile Waits waits;

    private JdkPollers() {
    }

    /**
     * Returns the JDK's class, without initialising it. If the JDK has no such class, returns an initialised class, so that the change
     * begins and fails.
     */
    private static Class<?> jdkPoller() {
        try {
            return Class.forName(POLLER, false, null);
        } catch (ClassNotFoundException e) {
            return Object.class;
        }
    }

    /** Sets the object that carries out the waits. Called before the first scheduler runs. */
    public static void use(Waits w) {
        waits = w;
    }

    /** Returns the object that the last {@link #use} has set. */
    public static Waits waits() {
        return waits;
    }

    /** Starts the change if virtual threads have begun to wait for descriptors. Called by sysmon. Takes no lock. */
    public static void look() {
        if (!BEGUN.get() && JdkThreads.initialized(JDK_POLLER) && !BEGUN.getAndSet(true)) {
            try {
                new OwnThread(new Changer(), "gmp-sockets").start();
            } catch (OutOfMemoryError e) {
                BEGUN.set(false); // No thread can be made now. The next call tries again; until then sockets work without the change.
            }
        }
    }

    /** The body of the thread that makes the change. */
    private static final class Changer implements Runnable {
        @Override
        public void run() {
            Inheritance.beginPlain(); // This thread may start the JDK's pollers, which must not inherit sysmon's attributes from it.
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
    }

    /**
     * Tries to make the change. Returns false if there was too little memory, or too few descriptors. (The rehearsal opens some descriptors
     * for a moment.)
     */
    private static boolean changed() throws ReflectiveOperationException {
        try {
            JdkThreads.openToUs("sun.nio.ch");
            waits.rehearse();
            new Change().all();
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

    /** Makes the change. The constructor looks up the members of the JDK's classes that the change needs. */
    private static final class Change {
        private final Constructor<?> make;
        private final long map;

        Change() throws ReflectiveOperationException {
            String startPoll = JdkThreads.VERSION.startPoll;
            String stopPoll = JdkThreads.VERSION.stopPoll;
            List<Method> known = new ArrayList<>(List.of(JDK_POLLER.getDeclaredMethod(startPoll, int.class),
                    JDK_POLLER.getDeclaredMethod(stopPoll, int.class, boolean.class), JDK_POLLER.getDeclaredMethod("poll", int.class)));
            Stream.of(JDK_POLLER.getDeclaredMethods()).filter(m -> m.getName().equals("close") && m.getParameterCount() == 0)
                    .forEach(known::add);
            if (known.get(2).getReturnType() != int.class || Stream.of(JDK_POLLER.getDeclaredMethods())
                    .anyMatch(m -> Modifier.isAbstract(m.getModifiers()) && !known.contains(m))) {
                throw new NoSuchMethodException("Poller.poll as it was, or another method is abstract");
            }
            make = JdkThreads.define(JDK_POLLER, PollerClass.NAME, PollerClass.bytes(startPoll, stopPoll, known.size() > 3))
                    .getDeclaredConstructor(JDK_POLLER, IntPredicate.class, IntPredicate.class);
            make.setAccessible(true);
            map = offset(JDK_POLLER, UNKNOWN ? "unknown" : "map");
        }

        private static long offset(Class<?> in, String name) throws ReflectiveOperationException {
            return JdkThreads.offset(in.getDeclaredField(name));
        }

        /** Replaces all pollers. All steps that may fail come before the first replacement. So if a step fails, no poller is replaced. */
        void all() throws ReflectiveOperationException {
            Field all = JDK_POLLER.getDeclaredField(JdkThreads.VERSION.pollers);
            all.setAccessible(true);
            Object pollers = all.get(null);
            Class<?> group = pollers.getClass();
            Object[] read = (Object[]) JdkThreads.get(pollers, offset(group, "readPollers"));
            Object[] write = (Object[]) JdkThreads.get(pollers, offset(group, "writePollers"));
            boolean hasMaster = false; // In JDK 27 not every kind of group has a master.
            for (Field f : group.getDeclaredFields()) {
                hasMaster |= f.getName().equals("masterPoller");
            }
            long master = hasMaster ? offset(group, "masterPoller") : 0;
            Object old = hasMaster ? JdkThreads.get(pollers, master) : null;
            Object[] newRead = inFront(read, false);
            Object[] newWrite = inFront(write, true);
            Object newMaster = old == null ? null : inFront(old, false);
            VarHandle.fullFence(); // The new pollers' fields are written before another thread sees the pollers.
            if (newMaster != null) {
                JdkThreads.put(pollers, master, newMaster);
            }
            System.arraycopy(newRead, 0, read, 0, read.length);
            System.arraycopy(newWrite, 0, write, 0, write.length);
        }

        private Object[] inFront(Object[] jdk, boolean write) throws ReflectiveOperationException {
            Object[] ours = (Object[]) Array.newInstance(JDK_POLLER, jdk.length);
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
                    throw JdkThreads.sneaky(e); // Poller.implRegister declares IOException.
                }
            };
            IntPredicate deregister = fd -> waits.deregister(fd, write);
            Object ours = make.newInstance(jdk, register, deregister);
            JdkThreads.put(ours, map, JdkThreads.get(jdk, map)); // The field is final, but its object is not a constant for compilers.
            return ours;
        }
    }

    /**
     * Returns whether a virtual thread that the caller is starting is one of the JDK's pollers. The JDK's pollers inherit the scheduler of
     * the first virtual thread that waits for a socket. Call this within the thread's start, because it searches the caller's frames for
     * the JDK's class. The name is not enough, because a user's thread may have it too.
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
