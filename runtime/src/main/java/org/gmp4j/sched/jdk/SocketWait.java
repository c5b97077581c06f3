// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.jdk;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Syscall;
import org.gmp4j.struct.P;

/**
 * Waits of goroutines for sockets in the JDK, and the P of a goroutine that waits pinned.
 *
 * <p>A goroutine that the JDK unmounts for a wait leaves its M free to search for work and to poll. A goroutine that is pinned, in a class
 * initialiser or below a native frame, sleeps with its M and its P. If no other M sleeps in the poller, only sysmon's poll finds the socket
 * ready, and that poll may come 10 ms later. Only the attempt to unmount shows that a goroutine is pinned. Between that attempt and the
 * wait the JDK does not call the runtime. So this class predicts from earlier waits. Once a poller has found the goroutine parked and
 * pinned, its next waits first hand the P to an M that watches the network. The hand-offs end with a wait in which the goroutine is
 * unmounted. In that wait the hand-off was needless: the goroutine's M is free, and has to find a P.
 *
 * <p>Rejected: to ask the JVM whether the goroutine is pinned, which walks the stack in each wait. Rejected too: to let the M wait for the
 * descriptor itself, by poll(2). A close, a time-out and an interrupt only unpark the thread, which does not end that call.
 */
public final class SocketWait {
    private static final int STAY_SHIFT = 48;

    private SocketWait() {
    }

    /**
     * Begins a wait for a descriptor. Called by the goroutine inside {@link GStack#enter}, after it has registered the descriptor and
     * before the JDK parks it.
     */
    public static void begins(GStack st) {
        st.waitTicket = st.ticket();
        if (st.waitsPinned) {
            Syscall.entersyscallblock(st, true);
        }
    }

    /** Ends the wait. */
    public static void ended(GStack st) {
        if (st.ticket() != st.waitTicket) { // The JDK has unmounted the goroutine.
            st.waitsPinned = false;
        } else {
            st.waitTicket = GStack.NO_TICKET; // Otherwise a later park under this ticket would count as this wait.
        }
    }

    /**
     * Returns a number for the calling goroutine's present stay on its P; 0 while it has no P. Each switch of the P begins a stay with
     * another number. If a switch comes between the reads of the two counters, the result is a number that no stay has.
     */
    public static long stay(GStack st) {
        long pp = st.machine().pp();
        return pp == 0 ? 0
                : (long) P.ID.get(pp) + 1 << STAY_SHIFT | P.NSWITCH.getOpaque(pp) + P.SCHEDTICK.getOpaque(pp) & (1L << STAY_SHIFT) - 1;
    }
}
