// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.text;
import static org.gmp4j.net.Io.thrown;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;

import org.gmp4j.net.Io.Pair;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With ever less stack left an operation is done, or refused by a StackOverflowError, and then nothing has happened. */
class OverflowTest {
    private static final int STACK = 512 << 10;
    private static final String UNIX = "@gmp4j-overflow-" + ProcessHandle.current().pid() + "-";
    /** How many there were in this process: one that could not be closed keeps its name. */
    private static int listeners;

    private int done;
    private int refused;

    /** Calls {@code op} from as deep as the stack goes, and on each frame on the way back. */
    private void sweep(Io.Body op, int depth) throws IOException {
        try {
            sweep(op, depth + 1);
        } catch (StackOverflowError deepest) {
            refused++;
        }
        if (depth % 16 == 0) {
            try {
                op.run();
                done++;
            } catch (StackOverflowError e) {
                refused++;
            }
        }
    }

    private static void timesOut(Io.Body body) {
        IOException e = thrown(body);
        assertTrue(e instanceof SocketTimeoutException, () -> "" + e);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void operationsAreDoneOrRefused(boolean goroutine) throws Exception {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).maxStack(STACK)); Pair p = Pair.open();
                TcpListener l = TcpListener.listen(LOOPBACK); TcpListener idle = TcpListener.listen(LOOPBACK);
                UdpConn udp = UdpConn.listen(LOOPBACK); UnixListener unix = UnixListener.listen(UNIX + "l");
                UnixgramConn gram = UnixgramConn.listen(UNIX + "d")) {
            MemorySegment[] pieces = {MemorySegment.ofArray(new byte[1]), MemorySegment.ofArray(new byte[1])};
            ByteBuffer b = ByteBuffer.allocateDirect(1);
            Io.Body[] ops = {
                () -> {
                    p.a().setReadDeadlineAfter(Duration.ofNanos(20_000));
                    timesOut(() -> p.a().read(b.clear()));
                },
                () -> assertEquals(1, p.b().write(b.clear())),
                () -> TcpConn.dial(text(l)).close(),
                () -> {
                    idle.setDeadlineAfter(Duration.ofNanos(20_000));
                    timesOut(() -> idle.accept().close());
                },
                () -> {
                    udp.setReadDeadlineAfter(Duration.ofNanos(20_000));
                    timesOut(() -> udp.readFrom(b.clear()));
                },
                () -> {
                    UdpConn.dial(Addresses.text(udp.localAddr())).close();
                    assertEquals(1, udp.writeTo(b.clear(), udp.localAddr()));
                    udp.setReadDeadline(null);
                    assertEquals(1, udp.read(pieces));
                },
                () -> UnixConn.dial(unix.addr()).close(),
                () -> UnixListener.listen(UNIX + ++listeners).close(), // A name of its own: the close may be what is refused.
                () -> UnixgramConn.dial(gram.localAddr()).close(),
                () -> {
                    gram.setReadDeadlineAfter(Duration.ofNanos(20_000));
                    timesOut(() -> gram.readFrom(b.clear()));
                },
                () -> {
                    p.b().setReadDeadlineAfter(Duration.ofNanos(20_000));
                    timesOut(() -> p.b().read(pieces));
                },
            };
            for (Io.Body op : ops) {
                op.run();
                done = 0;
                refused = 0;
                Throwable[] failed = new Throwable[1];
                Runnable all = () -> {
                    try {
                        sweep(op, 0);
                    } catch (Throwable t) {
                        failed[0] = t;
                    }
                };
                if (goroutine) {
                    gmp.run(all);
                } else {
                    Thread t = new Thread(null, all, "deep", STACK);
                    t.start();
                    t.join();
                }
                if (failed[0] != null) {
                    throw new AssertionError(failed[0]);
                }
                assertTrue(done > 0 && refused > 0, () -> "done " + done + ", refused " + refused);
            }
            p.a().setReadDeadline(null); // No call has kept a turn: all works, and closes.
            int written = done;
            assertTrue(p.a().read(ByteBuffer.allocate(1)) == 1 && written > 0);
        }
    }
}
