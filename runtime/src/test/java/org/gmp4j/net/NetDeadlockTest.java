// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.text;
import static org.gmp4j.net.Io.thrown;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.time.Duration;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.net.Io.Pair;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Test;

/** Goroutines that wait for the network are not deadlocked; when none does any more all may be. */
class NetDeadlockTest {
    /** The programs, by name. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) throws IOException {
            TcpListener l = TcpListener.listen(LOOPBACK);
            if (args[0].equals("NetpollWaiters")) {
                String address = text(l);
                Thread later = new Thread(io(() -> {
                    try {
                        Thread.sleep(1_500); // Long after it could pass for one of ours.
                        TcpConn.dial(address).close();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }));
                later.start();
                Gmp.main(io(() -> l.accept().close()));
                System.out.println("accepted");
            } else {
                Gmp.main(io(() -> {
                    Pair p = Pair.open();
                    p.a().setReadDeadlineAfter(Duration.ofMillis(1));
                    IOException late = thrown(() -> p.a().read(new byte[1], 0, 1));
                    p.a().setReadDeadline(null);
                    for (int i = 0; i < 3; i++) {
                        Go.go(() -> {
                            IOException closed = thrown(() -> p.a().read(new byte[1], 0, 1));
                        });
                    }
                    Go.sleep(Duration.ofMillis(5));
                    p.b().write(new byte[1], 0, 1);
                    Go.sleep(Duration.ofMillis(5));
                    Go.go(p.a()::close);
                    Chan.make().recv();
                }));
            }
        }
    }

    @Test
    void netpollWaiters() {
        Result r = new ChildJvm(Program.class).run("NetpollWaiters");
        assertEquals("accepted\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    @Test
    void netpollDeadlock() {
        new ChildJvm(Program.class).fatal("NetpollDeadlock", "fatal error: all goroutines are asleep - deadlock!\n");
    }
}
