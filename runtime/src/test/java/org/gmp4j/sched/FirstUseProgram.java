// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.context.Context;
import org.gmp4j.net.TcpConn;
import org.gmp4j.net.TcpListener;
import org.gmp4j.net.UdpConn;
import org.gmp4j.sync.ErrGroup;
import org.gmp4j.sync.SingleFlight;
import org.gmp4j.synctest.Synctest;

/**
 * What a program uses for the first time where the stack has almost ended: each is tried in frame after frame from the innermost on, until
 * it is not refused any more. A class that had no room as it was initialised would be lost, and with it the operation, with another error.
 */
final class FirstUseProgram {
    private static final Map<String, Callable<?>> OPS = new LinkedHashMap<>();
    private static int refused;

    static {
        OPS.put("timeout", () -> Context.background().withTimeout(Duration.ofNanos(1)).done().recv());
        OPS.put("deadline", () -> Context.background().withDeadline(Instant.now()).done().recv());
        OPS.put("sockets", FirstUseProgram::sockets);
        OPS.put("udp", () -> {
            UdpConn.listen("127.0.0.1:0").close();
            return null;
        });
        OPS.put("group", () -> {
            ErrGroup g = new ErrGroup();
            g.go(Thread::onSpinWait);
            g.await();
            return null;
        });
        OPS.put("flight", () -> new SingleFlight<String, String>().runChan("key", () -> "value").recv().get());
        OPS.put("bubble", () -> {
            Synctest.test(() -> Go.sleep(Duration.ofHours(1)));
            return null;
        });
    }

    private FirstUseProgram() {
    }

    private static Object sockets() throws IOException {
        try (TcpListener l = TcpListener.listen("127.0.0.1:0"); TcpConn c = TcpConn.dial("127.0.0.1:" + l.addr().getPort());
                TcpConn d = l.accept()) {
            c.write(new byte[3], 0, 3);
            return d.read(new byte[3], 0, 3);
        }
    }

    public static void main(String[] args) {
        try (Gmp gmp = Gmp.builder().procs(2).maxStack(256 << 10).build()) {
            OPS.forEach((name, op) -> {
                refused = 0;
                gmp.run(() -> {
                    boolean _ = deep(op);
                });
                System.out.println(name + " " + (refused > 0));
            });
        }
        System.exit(0);
    }

    /** Whether it was done, further in. */
    private static boolean deep(Callable<?> op) {
        try {
            if (deep(op)) {
                return true;
            }
        } catch (StackOverflowError e) {
            refused++;
        }
        try {
            Object _ = op.call();
            return true;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
