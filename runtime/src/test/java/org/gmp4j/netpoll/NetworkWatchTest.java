// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import static org.gmp4j.netpoll.EventWaits.add;
import static org.gmp4j.netpoll.EventWaits.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sysmon.Unwatched;
import org.junit.jupiter.api.Test;

/** Who watches the network while the M that has left the poller runs a goroutine and a P is idle. Here sysmon does nothing about it. */
final class NetworkWatchTest {
    private static final int LONG_ABSENCES = 4;
    private static final long ABSENCE = 5_000_000;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);

    /** After Ms have stayed away from the poller for long, the next M that leaves it wakes another, which goes there. */
    @Test
    void longAbsencesAreCovered() {
        int one = EventFd.create();
        int other = EventFd.create(); // The goroutine that waits for it wants the network to be watched.
        Semaphore rounds = new Semaphore(0);
        boolean[] watched = new boolean[1];
        try (Unwatched gmp = new Unwatched(2, TimeUnit.MINUTES.toNanos(1), new Netpoller())) {
            long sched = gmp.s.sched;
            gmp.s.go(() -> {
                for (int i = 0; i < LONG_ABSENCES; i++) {
                    long _ = await(one, 0);
                    for (long until = System.nanoTime() + ABSENCE; System.nanoTime() - until < 0;) {
                        Thread.onSpinWait();
                    }
                    rounds.release();
                }
                long _ = await(one, 0);
                for (long until = System.nanoTime() + PATIENCE; !watched[0] && System.nanoTime() - until < 0;) {
                    watched[0] = Schedt.LASTPOLL.getVolatile(sched) == 0;
                }
                rounds.release();
            });
            gmp.s.go(() -> {
                long _ = await(other, 0);
            });
            for (int i = 0; i <= LONG_ABSENCES; i++) {
                while (Schedt.NETPOLLWAITERS.getVolatile(sched) != 2 || Schedt.LASTPOLL.getVolatile(sched) != 0) {
                    Thread.onSpinWait();
                }
                add(one);
                rounds.acquireUninterruptibly();
            }
            add(other);
        }
        assertTrue(watched[0]);
        Fd.close(one);
        Fd.close(other);
    }
}
