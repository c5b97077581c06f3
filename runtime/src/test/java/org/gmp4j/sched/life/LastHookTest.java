// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.life;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.Task;
import org.gmp4j.affinity.StealOrder;
import org.gmp4j.config.Config;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.net.TcpConn;
import org.gmp4j.net.TcpListener;
import org.gmp4j.report.Report;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sysmon.Sysmon;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.timer.TimerHeaps;
import org.junit.jupiter.api.Test;

/** When the last shutdown hook has run, no thread of the runtime sleeps in native code, where HotSpot's exit would wait for it. */
class LastHookTest {
    static final class Program {
        private static final int PS = 4;

        private Program() {
        }

        public static void main(String[] args) throws Exception {
            Gmp gmp = Gmp.builder().procs(PS).idleThreads(Duration.ofDays(1)).build();
            gmp.run(() -> {
                Go.lockOSThread(); // Has the template thread made.
                Go.unlockOSThread();
            });
            AtomicInteger running = new AtomicInteger();
            for (int i = 0; i < PS; i++) { // Each P has an M, and all but one of them sleep on their notes.
                gmp.go(() -> {
                    int _ = running.incrementAndGet();
                    while (running.get() < PS) {
                        Thread.onSpinWait();
                    }
                });
            }
            TcpListener l = TcpListener.listen("127.0.0.1:0");
            TcpConn here = TcpConn.dial("127.0.0.1:" + l.addr().getPort());
            TcpConn there = gmp.call(l::accept);
            Task<Integer> read = gmp.submit(() -> there.read(new byte[1], 0, 1));
            while ((long) gmp.metrics().read("/sched/netpoll/waiting:goroutines") == 0) {
                Thread.onSpinWait();
            }
            Chan<Integer> none = Chan.make();
            var _ = none.recvOkWithin(Duration.ofNanos(1)); // A timer outside all schedulers: it has a thread of its own, as such a read.
            FutureTask<Integer> came = new FutureTask<>(() -> here.read(new byte[2], 0, 2));
            new Thread(came).start();
            while (threads().stream().noneMatch(t -> t.getName().equals("gmp4j-net"))) {
                Thread.onSpinWait();
            }
            last().run();
            while (!threads().stream().allMatch(t -> t.getState() == Thread.State.TIMED_WAITING)) {
                Thread.onSpinWait();
            }
            System.out.print(threads().size() > PS + 3);
            here.write(new byte[1], 0, 1);
            System.out.print(" " + read.get());
            System.out.print(" " + gmp.call(() -> gmp.submit(() -> 5).get()));
            Object _ = gmp.call(() -> {
                there.write(new byte[2], 0, 2);
                return there;
            });
            System.out.println(" " + came.get() + " " + none.recvOkWithin(Duration.ofNanos(1)));
            System.exit(0);
        }

        private static Runnable last() throws ReflectiveOperationException {
            Field hooks = Class.forName("java.lang.Shutdown").getDeclaredField("hooks");
            hooks.setAccessible(true);
            return ((Runnable[]) hooks.get(null))[9];
        }

        private static List<Thread> threads() {
            return Thread.getAllStackTraces().keySet().stream()
                    .filter(t -> t.getName().matches("gmp(\\d+-(M\\d+|sysmon)|-template|4j-timers|4j-net)")).toList();
        }
    }

    /** They sleep in Java code, and still serve. */
    @Test
    void theySleepInJavaCode() {
        Result r = new ChildJvm(Program.class).run();
        assertEquals("true 1 5 2 null\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** The hook meets a scheduler that a thread has closed meanwhile. */
    static final class Closed {
        private Closed() {
        }

        public static void main(String[] args) throws Exception {
            List<String> wakes = new ArrayList<>();
            Netpoll poller = new Netpoll() {
                @Override
                public long poll(Scheduler s, long delay) {
                    return Netpoll.NONE.poll(s, delay);
                }

                @Override
                public void wake(Scheduler s) {
                    wakes.add(s.isStopped() ? "closed" : "open");
                    Netpoll.NONE.wake(s);
                }

                @Override
                public boolean anyWaiters(Scheduler s) {
                    return false;
                }

                @Override
                public void close(Scheduler s) {
                    Netpoll.NONE.close(s);
                }
            };
            Scheduler s = Schedinit.schedinit(new Config(1, null, Placement.NONE, StealOrder.UNIFORM, false, 0, 10_000_000, 10_000_000, 10,
                    -1, 1 << 20, null, false, false, 0, DebugVars.OFF), new TimerHeaps(), poller, Sysmon::new, Report.ALL);
            Runnable last = Program.last();
            wakes.clear();
            last.run();
            System.out.print(wakes);
            boolean _ = Closing.close(s, -1);
            LiveSchedulers.add(s);
            wakes.clear();
            last.run();
            System.out.println(wakes);
            System.exit(0);
        }
    }

    /** It leaves the structs and the descriptor of a closed scheduler alone, which may belong to another one already. */
    @Test
    void besideAClose() {
        Result r = new ChildJvm(Closed.class).run();
        assertEquals("[open][]\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
