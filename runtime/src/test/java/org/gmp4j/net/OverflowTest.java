package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.text;
import static org.gmp4j.net.Io.thrown;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
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

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void operationsAreDoneOrRefused(boolean goroutine) throws Exception {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).maxStack(STACK)); Pair p = Pair.open();
                TcpListener l = TcpListener.listen(LOOPBACK)) {
            ByteBuffer b = ByteBuffer.allocateDirect(1);
            Io.Body[] ops = {
                () -> {
                    p.a().setReadDeadlineAfter(Duration.ofNanos(20_000));
                    IOException e = thrown(() -> p.a().read(b.clear()));
                    assertTrue(e instanceof SocketTimeoutException, () -> "" + e);
                },
                () -> assertEquals(1, p.b().write(b.clear())),
                () -> TcpConn.dial(text(l)).close(),
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
            p.a().setReadDeadline(null); // Nobody has kept a turn: all works, and closes.
            int written = done;
            assertTrue(p.a().read(ByteBuffer.allocate(1)) == 1 && written > 0);
        }
    }
}
