// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import org.gmp4j.Gmp;
import org.gmp4j.affinity.StealOrder;
import org.gmp4j.config.Config;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.report.Report;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.sched.life.Schedinit;
import org.gmp4j.struct.M;
import org.gmp4j.sysmon.Sysmon;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.timer.TimerHeaps;
import org.junit.jupiter.api.Test;

/** SCHED_FIFO, seen from outside. */
class RealtimeTest {
    private static final int PRIORITY_FIELD = 40;

    /** Priority and policy of a thread of this process, as in {@code /proc/PID/stat}: {@code "10 1"} for FIFO with priority 10. */
    private static String of(long tid) {
        try {
            String stat = Files.readString(Path.of("/proc/self/task/" + tid + "/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" "); // From the third.
            return fields[PRIORITY_FIELD - 3] + " " + fields[PRIORITY_FIELD - 2];
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean permitted() throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        Thread t = new Thread(() -> {
            try {
                OsThread.setScheduler(0, OsThread.SCHED_FIFO | OsThread.RESET_ON_FORK, 11);
                done.set(true);
            } catch (NativeException e) {
                done.set(false);
            }
        });
        t.start();
        t.join();
        return done.get();
    }

    /** The threads of this process that have the name of sysmon of the scheduler {@code fifo}. */
    private static List<String> monitors() {
        return Stream.of(Path.of("/proc/self/task").toFile().list()).filter(tid -> {
            try {
                return Files.readString(Path.of("/proc/self/task", tid, "comm")).startsWith("fifo-sysmon");
            } catch (IOException e) {
                return false; // The thread has ended.
            }
        }).toList();
    }

    @Test
    void theThreadsOfAScheduler() throws InterruptedException {
        assumeTrue(permitted());
        String usual = of(OsThread.gettid());
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).realtime(10).name("fifo"))) {
            String started = gmp.call(() -> {
                assertEquals("10 1", of(M.PROCID.get(Machine.current().mp)));
                String[] of = new String[1];
                Thread t = Thread.ofPlatform().start(() -> of[0] = of(OsThread.gettid()));
                t.join();
                return of[0];
            });
            assertEquals("0 0", started);
            while (monitors().size() != 1) { // It gives itself its name when it begins.
                Thread.onSpinWait();
            }
            String monitor = monitors().getFirst();
            while (!of(Long.parseLong(monitor)).equals("11 1")) { // It takes its policy after its name.
                Thread.onSpinWait();
            }
            assertEquals(false, gmp.scheduler().realtime.isRefused());
        }
        assertEquals(usual, of(OsThread.gettid()));
    }

    /** The kernel refuses a priority that there is not as it does one that is not permitted. */
    @Test
    void refused() throws InterruptedException {
        Scheduler s = Schedinit.schedinit(new Config(1, null, Placement.NONE, StealOrder.UNIFORM, false, 0, 10_000_000, 10_000_000, 10, -1,
                1 << 20, null, false, false, 200, DebugVars.OFF), new TimerHeaps(), Netpoll.NONE, Sysmon::new, Report.ALL);
        CountDownLatch ran = new CountDownLatch(1);
        Newproc.newproc(s, ran::countDown);
        ran.await();
        assertTrue(s.realtime.isRefused());
        assertTrue(Closing.close(s, -1));
    }

    @Test
    void badPriorities() {
        for (int p : new int[] {-1, 99, 1000}) {
            assertEquals("realtime is " + p + ": use a priority from 1 to 98, or 0 for the usual policy",
                    assertThrows(IllegalArgumentException.class, () -> Gmp.builder().realtime(p).build()).getMessage());
        }
    }
}
