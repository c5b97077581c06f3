// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.text;
import static org.gmp4j.net.Io.thrown;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Chan;
import org.gmp4j.DeadlockDetection;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.SpinPolicy;
import org.gmp4j.net.Io.Pair;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.SchedStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
            } else if (args[0].equals("FoundBySpinner")) {
                foundBySpinner(l, SpinPolicy.latency(Duration.ofMillis(200)));
            } else if (args[0].equals("FoundByOneThatSpinsOn")) {
                foundBySpinner(l, SpinPolicy.busy());
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

        /** The last that a goroutine waits for comes while one M spins and another sleeps in the poller, and is found by the first. */
        private static void foundBySpinner(TcpListener l, SpinPolicy spin) throws IOException {
            Gmp gmp = Gmp.builder().procs(2).spin(spin)
                    .deadlockDetection(DeadlockDetection.STRICT).build();
            AtomicInteger wanted = new AtomicInteger();
            AtomicLong sched = new AtomicLong();
            gmp.go(io(() -> {
                sched.set(sched());
                TcpConn c = l.accept();
                for (boolean found = false; !found;) {
                    long looks = SchedStat.NREADY.getOpaque(sched.get());
                    wanted.incrementAndGet();
                    int _ = c.read(new byte[1], 0, 1);
                    found = SchedStat.NREADY.getOpaque(sched.get()) > looks;
                    for (long end = System.nanoTime() + 2_000_000; found && System.nanoTime() < end;) {
                        found = Schedt.LASTPOLL.getVolatile(sched.get()) == 0; // It may have been woken to spin instead.
                    }
                }
                Chan.make().recv();
            }));
            TcpConn c = TcpConn.dial(text(l));
            for (int written = 0;; written++) {
                while (wanted.get() == written || Schedt.NETPOLLWAITERS.getVolatile(sched.get()) == 0) {
                    Thread.onSpinWait();
                }
                for (int i = 0; i < 100_000 && Schedt.LASTPOLL.getVolatile(sched.get()) != 0; i++) {
                    Thread.onSpinWait(); // For another to sleep.
                }
                c.write(new byte[1], 0, 1); // All else would wake that too.
            }
        }

        private static long sched() {
            GStack st = GStack.enter();
            try {
                return st.scheduler().sched;
            } finally {
                GStack.exit(st);
            }
        }
    }

    @Test
    void netpollWaiters() {
        Result r = new ChildJvm(Program.class).run("NetpollWaiters");
        assertEquals("accepted\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"NetpollDeadlock", "FoundBySpinner", "FoundByOneThatSpinsOn"})
    void netpollDeadlock(String program) {
        new ChildJvm(Program.class).fatal(program, "fatal error: all goroutines are asleep - deadlock!\n");
    }
}
