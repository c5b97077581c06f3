package org.gmp4j.stack;

import java.lang.reflect.Method;
import java.util.Arrays;

/**
 * Knows the JDK's socket pollers when it sees them ({@code sun.nio.ch.Poller} of JDK 25). They serve the whole process and
 * never end; they start when a socket is first waited on, and inherit the scheduler of whoever waits. They are virtual
 * threads named {@code SubPoller-N} that run {@code subPollerLoop}: they poll without blocking, yield after each poll that
 * found something, and park when there was nothing, until a platform thread, {@code MasterPoller}, sees an event.
 *
 * <p>In a JDK that has no such method, and with {@code -Dgmp.pollers=jdk}, the pollers are started before any goroutine and
 * so run on the JDK's own scheduler, whatever they are.
 */
public final class JdkPollers {
    private static final String POLLER = "sun.nio.ch.Poller";

    /** Whether the JDK is to run them itself. */
    private static final boolean JDK = "jdk".equals(System.getProperty("gmp.pollers"));
    /** Whether a poller's name is enough: in tests. */
    private static final boolean NAMED = "named".equals(System.getProperty("gmp.pollers"));

    private JdkPollers() {
    }

    /** Whether this is one. To be asked where the thread is started: its name alone could be a user's. */
    public static boolean isPoller(Thread vt) {
        return vt.getName().startsWith("SubPoller-") && (NAMED || Arrays.stream(new Throwable().getStackTrace())
                .anyMatch(frame -> frame.getClassName().startsWith(POLLER)));
    }

    /** Before there is a goroutine whose scheduler they could inherit: starts them now, if they are to be the JDK's. */
    static void prepare() {
        if (!JDK && known()) {
            return;
        }
        try {
            Class<?> unused = Class.forName(POLLER, true, null);
        } catch (ClassNotFoundException | LinkageError e) {
            return; // Then it has none, or none that work, and a socket will say so.
        }
    }

    private static boolean known() {
        try {
            Class<?> poller = Class.forName(POLLER, false, null);
            Method unused = poller.getDeclaredMethod("subPollerLoop", poller);
            return true;
        } catch (ReflectiveOperationException | LinkageError e) {
            System.err.printf("gmp4j does not know the socket pollers of this build of the JDK (%s): they stay on the JDK's "
                    + "threads, and blocking sockets are slower%n", Runtime.version());
            return false;
        }
    }
}
