// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Syscall;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.upkeep.Upkeep;
import org.gmp4j.struct.G;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link Traceback}. */
class TracebackTest {
    private static final long MINUTE = 60_000_000_000L;

    /** A goroutine that waits for long says so, whatever it waits for; the next wait begins at nothing. */
    @Test
    void minutes() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                Scheduler s = GStack.current().scheduler();
                long[] g = new long[1];
                Thread[] t = new Thread[1];
                Chan<Integer> c = Chan.make();
                Go.go(() -> {
                    g[0] = GStack.current().gp();
                    t[0] = Thread.currentThread();
                    c.recv();
                    c.recv();
                    LockSupport.park();
                });
                waited(s, g, "chan receive");
                c.send(1);
                assertTrue(text(s).contains("[runnable]:\n"), () -> text(s));
                waited(s, g, "chan receive");
                c.send(2);
                waited(s, g, "park");
                LockSupport.unpark(t[0]);
            });
        }
    }

    /** One that the JDK parks without a P may begin to wait after sysmon's last look: it has its time at once. */
    @Test
    void withoutAP() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                GStack[] waits = new GStack[1];
                Go.go(() -> {
                    waits[0] = GStack.current();
                    Syscall.enter(waits[0]);
                    LockSupport.park();
                    Syscall.exit(waits[0]);
                });
                TestGmp.awaitOthers();
                assertTrue(G.WAITSINCE.getOpaque(waits[0].gp()) != 0);
                LockSupport.unpark(waits[0].thread);
            });
        }
    }

    /** It begins to wait; it is seen; two minutes and a half go by. */
    private static void waited(Scheduler s, long[] g, String reason) {
        TestGmp.awaitOthers();
        assertEquals(0, G.WAITSINCE.getOpaque(g[0]));
        look(s);
        long since = G.WAITSINCE.getOpaque(g[0]);
        assertTrue(since != 0);
        assertFalse(text(s).contains("minutes"));
        G.WAITSINCE.setOpaque(g[0], since - 5 * MINUTE / 2);
        look(s);
        assertTrue(text(s).contains(" [" + reason + ", 2 minutes]:\n"), () -> text(s));
    }

    private static void look(Scheduler s) {
        Upkeep upkeep = new Upkeep(s);
        int part = 0;
        do {
            part = upkeep.timeWaits(part, System.nanoTime());
        } while (part != 0);
    }

    private static String text(Scheduler s) {
        return Traceback.all(s);
    }
}
