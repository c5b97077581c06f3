// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;
import static org.gmp4j.bench.replay.programs.Network.await;
import static org.gmp4j.bench.replay.programs.Network.awaitByte;
import static org.gmp4j.bench.replay.programs.Network.checkByte;
import static org.gmp4j.bench.replay.programs.Network.of;
import static org.gmp4j.bench.replay.programs.Network.readByte;

import java.util.List;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Go;
import org.gmp4j.bench.replay.Descriptors;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.sched.upkeep.Upkeep;
import org.gmp4j.struct.Schedt;

/** Programs of goroutines that wait for descriptors: bytes that come at any moment, closes, deadlines, and numbers that are used again. */
final class Net {
    private static final long LONG = 1_000_000_000;

    private Net() {
    }

    static List<Program> all() {
        return List.of(
                of("net-read", "a goroutine reads what comes byte by byte", 2, 3, Net::read),
                of("net-readers", "two goroutines read one descriptor in turn", 2, 2, Net::readers),
                of("net-many", "three goroutines read three descriptors, and meet", 3, 3, Net::many),
                of("net-busy", "a byte comes while another goroutine yields again and again", 1, 2, Net::busy),
                of("net-close", "a close ends the reads, and then nobody uses the number", 2, 3, Net::close),
                of("net-reused", "a number is used again while an event of the old file is on its way", 2, 2, Net::reused),
                of("net-deadline", "a deadline ends a read, and one that was moved does not", 2, 2, Net::deadline).waking(0, 1),
                of("net-deadline-past", "a deadline in the past ends a read that waits", 2, 1, Net::deadlinePast),
                of("net-cancelled", "an interrupt ends a read, or the next", 2, 2, Net::interrupted),
                of("net-timer", "a timer is set while the M in the poller sleeps", 2, 3, Net::timer).waking(0, 1),
                of("net-jdk", "a thread waits for a socket of the JDK's", 2, 2, Net::jdk),
                of("net-jdk-reused", "the same, for two sockets of one number", 2, 2, Net::jdkReused),
                of("net-jdk-limited", "the same, with a wait that gives up", 2, 2, Net::jdkLimited));
    }

    private static boolean isClosed(PollFd fd) {
        return IoResult.error(readByte(fd)) == IoResult.CLOSED;
    }

    private static void read(Loop l) {
        int d = Descriptors.open();
        l.lane("sends", () -> {
            for (int i = 0; i < 3; i++) {
                int _ = Descriptors.add(d, 1);
                l.until(i);
            }
        });
        l.go(() -> {
            PollFd fd = new PollFd(d);
            for (int i = 0; i < 3; i++) {
                checkByte(fd);
                l.done();
            }
        });
    }

    private static void readers(Loop l) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        l.go(2, () -> {
            checkByte(fd);
            l.done();
        });
        l.lane("sends", () -> {
            int _ = Descriptors.add(d, 1);
            int _ = Descriptors.add(d, 1);
        });
    }

    private static void many(Loop l) {
        for (int i = 0; i < 3; i++) {
            int d = Descriptors.open();
            PollFd fd = new PollFd(d);
            l.go(() -> {
                checkByte(fd);
                l.meet(3);
            });
            l.lane("sends" + i, () -> Descriptors.add(d, 1));
        }
        watches(l, 3);
    }

    /** Does sysmon's part while Ms are away from the poller: wakes another M if a P is idle, or else polls. */
    private static void watches(Loop l, int parts) {
        l.lane("sysmon", () -> {
            Upkeep upkeep = new Upkeep(l.s);
            while (l.doneCount() < parts) {
                Thread.onSpinWait();
                long last = Schedt.LASTPOLL.getVolatile(l.s.sched);
                if (last != 0 && Schedt.NPIDLE.getVolatile(l.s.sched) != 0) {
                    upkeep.watchPoller();
                } else if (last != 0 && Schedt.LASTPOLL.compareAndSet(l.s.sched, last, l.now())) {
                    upkeep.pollNetwork();
                }
            }
        });
    }

    private static void busy(Loop l) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        l.go(() -> {
            checkByte(fd);
            l.done();
        });
        l.go(() -> {
            while (l.doneCount() == 0) {
                Go.gosched();
                Thread.onSpinWait();
            }
            l.done();
        });
        l.lane("sends", () -> Descriptors.add(d, 1));
    }

    private static void close(Loop l) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        l.go(2, () -> {
            check(isClosed(fd), "a read has ended though nothing came");
            l.done();
        });
        l.go(() -> {
            check(fd.close(), "the first close was not the first");
            check(Descriptors.open() == d, "the number was not free when close returned");
            l.done();
        });
    }

    /** The first goroutine leaves with the bytes that have come, and closes the descriptor; the second gets its number. */
    private static void reused(Loop l) {
        int d = Descriptors.open();
        l.go(() -> {
            PollFd fd = new PollFd(d);
            checkByte(fd);
            check(fd.close(), "the first close was not the first");
            int again = Descriptors.open();
            PollFd other = new PollFd(again);
            l.lane("answers", () -> Descriptors.add(again, 1));
            l.done();
            checkByte(other);
            l.done();
        });
        l.lane("sends", () -> Descriptors.add(d, 2));
    }

    private static void deadline(Loop l) {
        int d = Descriptors.open();
        long end = l.now() + LONG;
        l.go(() -> {
            PollFd fd = new PollFd(d);
            check(fd.setDeadline(20_000, true, false), "it is closed");
            check(IoResult.error(readByte(fd)) == IoResult.TIMED_OUT, "a read has ended though nothing came");
            check(l.now() < end, "a deadline came late");
            l.done();
            long moved = l.now() + 10_000;
            check(fd.setDeadline(10_000, true, false) && fd.setDeadline(2 * LONG, true, false), "it is closed");
            boolean inTime = l.now() < moved;
            check(IoResult.count(readByte(fd)) == 1 || !inTime, "a deadline that was moved has ended a read");
            l.done();
        });
        l.lane("sends", () -> {
            l.until(1);
            for (int i = 0; i < 30; i++) {
                Thread.onSpinWait();
            }
            int _ = Descriptors.add(d, 1);
        });
    }

    private static void deadlinePast(Loop l) {
        PollFd fd = new PollFd(Descriptors.open());
        l.go(() -> {
            check(IoResult.error(readByte(fd)) == IoResult.TIMED_OUT, "a read has ended though nothing came");
            l.done();
        });
        l.lane("ends", () -> check(fd.setDeadline(0, true, false), "it is closed"));
    }

    private static void interrupted(Loop l) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        Thread reader = l.thread(() -> {
            long n = readByte(fd);
            check(IoResult.count(n) == 1 || IoResult.error(n) == IoResult.INTERRUPTED, "a read has returned " + n);
            boolean _ = Thread.interrupted();
            l.done();
            if (IoResult.count(n) != 1) {
                l.until(2);
                checkByte(fd);
            }
        });
        l.lane("interrupts", () -> reader.interrupt());
        l.lane("sends", () -> {
            int _ = Descriptors.add(d, 1);
            l.done();
        });
    }

    private static void timer(Loop l) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        long end = l.now() + LONG;
        l.go(() -> {
            checkByte(fd);
            l.done();
        });
        l.lane("go", () -> {
            for (int i = 0; i < 2; i++) {
                int before = i;
                l.go(() -> {
                    Loop.sleep(20_000);
                    check(l.now() < end, "a sleep lasted as long as the poller's");
                    l.done();
                });
                l.until(before + 1);
            }
            int _ = Descriptors.add(d, 1);
        });
    }

    private static void jdk(Loop l) {
        int d = Descriptors.open();
        Thread _ = l.thread(() -> {
            for (int i = 0; i < 2; i++) {
                awaitByte(d);
                l.done();
            }
        });
        l.lane("sends", () -> {
            int _ = Descriptors.add(d, 1);
            l.until(1);
            int _ = Descriptors.add(d, 1);
        });
    }

    private static void jdkReused(Loop l) {
        int d = Descriptors.open();
        Thread _ = l.thread(() -> {
            awaitByte(d);
            Descriptors.close(d);
            l.done();
            int again = Descriptors.open();
            l.lane("answers", () -> Descriptors.add(again, 1));
            awaitByte(again);
            l.done();
        });
        l.lane("sends", () -> Descriptors.add(d, 1));
    }

    /** An unpark ends each wait too, as a limit of time does. After that the descriptor counts no waiter. */
    private static void jdkLimited(Loop l) {
        int d = Descriptors.open();
        Thread t = l.thread(() -> {
            await(d);
            l.done();
            awaitByte(d);
            l.done();
        });
        l.lane("unparks", () -> LockSupport.unpark(t));
        l.lane("sends", () -> {
            l.until(1);
            int _ = Descriptors.add(d, 1);
        });
        l.end(() -> check(!l.s.netpoll().anyWaiters(l.s), "nobody waits for the network, and somebody is counted"));
    }
}
