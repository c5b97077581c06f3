// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.struct.P;

/**
 * What waits for sockets need to know of the calling goroutine, and the P of one that waits pinned.
 *
 * <p>A goroutine that the JDK unmounts for a wait leaves its M to look for work and to poll. One that is pinned, in a class initialiser or
 * beside a native frame, sleeps with its M and its P; if no other M sleeps in the poller, its socket is found ready by sysmon's poll, as
 * late as 10 ms. Only the attempt to unmount tells that a goroutine is pinned, and the JDK makes that attempt after its last call of ours.
 * So this goes by earlier waits: once a poller has found the goroutine parked pinned, the next waits give the P up before they begin, to
 * an M that watches the network, until a wait in which the goroutine is unmounted. That one costs its M a look for a P.
 *
 * <p>Rejected: to ask the JVM whether the goroutine is pinned, which walks the stack in each wait; and to have the M wait for the
 * descriptor itself, by poll(2): a close, a time-out and an interrupt unpark the thread, which does not end that call.
 */
public final class SocketWait {
    private static final int STAY_SHIFT = 48;

    private SocketWait() {
    }

    /** The JDK is about to park the calling goroutine until a descriptor is ready; inside {@link GStack#enter}, behind the registration. */
    public static void begins(GStack st) {
        st.waitTicket = st.ticket;
        if (st.waitsPinned) {
            Syscall.entersyscallblock(st, true);
        }
    }

    /** That wait is over. */
    public static void ended(GStack st) {
        if (st.ticket != st.waitTicket) { // The JDK unmounted it.
            st.waitsPinned = false;
        }
    }

    /**
     * A number for the calling goroutine's stay on its P: another one after each switch. 0 while it has no P. A switch between the reads
     * gives a number of neither stay.
     */
    public static long stay(GStack st) {
        long pp = st.machine().pp();
        return pp == 0 ? 0
                : (long) P.ID.get(pp) + 1 << STAY_SHIFT | P.NSWITCH.getOpaque(pp) + P.SCHEDTICK.getOpaque(pp) & (1L << STAY_SHIFT) - 1;
    }
}
