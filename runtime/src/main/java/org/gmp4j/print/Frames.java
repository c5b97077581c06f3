// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.print;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** Selects the frames of a stack that a user sees. */
public final class Frames {
    /** The frame under which a profile counts all places for which it has no room, as {@code _LostExternalCode} in Go. */
    public static final StackTraceElement OTHERS = new StackTraceElement("org.gmp4j.events.Places", "others", null, -1);

    private Frames() {
    }

    /**
     * Returns the frames to show: all except those of the runtime and of the JDK's switching code; all frames if that leaves none.
     *
     * @param system whether to show all frames
     */
    public static List<StackTraceElement> users(StackTraceElement[] all, boolean system) {
        List<StackTraceElement> frames = new ArrayList<>(all.length);
        for (StackTraceElement e : all) {
            if (e != null && (system || !internal(e))) {
                boolean _ = frames.add(e);
            }
        }
        // List.of would reject null elements, which an exception's own getStackTrace may return.
        return Collections.unmodifiableList(frames.isEmpty() ? Arrays.asList(all) : frames);
    }

    /** Appends the frames that {@link #users} returns, one per line. */
    public static void append(StringBuilder b, StackTraceElement[] all, boolean system) {
        for (StackTraceElement e : users(all, system)) {
            b.append('\t').append(e).append('\n');
        }
    }

    private static boolean internal(StackTraceElement e) {
        String c = e.getClassName();
        return c.startsWith("org.gmp4j.sched.") || c.startsWith("org.gmp4j.wait.") || c.startsWith("org.gmp4j.sysmon.")
                || c.startsWith("org.gmp4j.report.") || c.startsWith("org.gmp4j.queue.") || c.startsWith("org.gmp4j.lock.")
                || c.startsWith("org.gmp4j.struct.") || c.startsWith("org.gmp4j.stack.") || c.startsWith("org.gmp4j.ffi.")
                || c.startsWith("org.gmp4j.events.") || c.startsWith("org.gmp4j.chan.")
                || c.equals("org.gmp4j.Select") && !e.getMethodName().equals("run")
                || c.startsWith("org.gmp4j.") && e.getMethodName().equals("closedException") // It makes a ChanClosedException.
                || c.startsWith("java.lang.VirtualThread") || c.startsWith("jdk.internal.vm.Continuation")
                || c.startsWith("java.lang.System$") && e.getMethodName().equals("parkVirtualThread")
                || c.equals("java.lang.Thread") && e.getMethodName().equals("getStackTrace"); // The call that read the stack.
    }
}
