// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;
import static org.gmp4j.bench.replay.programs.Network.await;
import static org.gmp4j.bench.replay.programs.Network.awaitByte;
import static org.gmp4j.bench.replay.programs.Network.checkByte;
import static org.gmp4j.bench.replay.programs.Network.of;
import static org.gmp4j.bench.replay.programs.Network.readByte;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Go;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Descriptors;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.wait.Limits;

/** Programs of events that come late, while another goroutine keeps the poller watched, of waits that end early, and of writes. */
final class Sockets {
    private static final long FAR = 2_000_000_000L;

    private Sockets() {
    }

    static List<Program> all() {
        return List.of(
                of("net-edge", "bytes come between a read that finds nothing and its wait", 2, 5, Sockets::edge),
                of("net-jdk-two", "the same, of threads that wait for sockets of the JDK's", 2, 5, Sockets::jdkTwo),
                of("net-jdk-stale", "an event of a file that was closed ends no wait for the next file of its number", 2, 4,
                        Sockets::jdkStale),
                of("net-interrupt", "an interrupt alone ends a read", 2, 1, Sockets::interrupt),
                of("net-interrupt-late", "an interrupt of one reader ends no read of the next", 2, 2, Sockets::interruptLate),
                of("net-turn-limited", "a reader gives up its turn", 2, 3, Sockets::turnLimited),
                of("net-second-close", "each close returns when the number is free", 2, 3, Sockets::secondClose),
                of("net-deadline-later", "a deadline that was moved ends a read later", 2, 1, Sockets::deadlineLater).waking(0, 1),
                of("net-short-end", "an end that comes with the last bytes is seen after them", 2, 2, Sockets::shortEnd),
                of("net-short-limit", "a read with a limit finds what is there", 1, 2, l -> shortRead(l, 0)),
                of("net-short-deadline", "a read with a deadline finds what is there", 1, 2, l -> shortRead(l, 1)),
                of("net-short-interrupt", "a read that is interrupted finds what is there", 1, 2, l -> shortRead(l, 2)),
                of("net-short-switched", "a read does not wait for what came while others ran", 1, 2, l -> shortRead(l, 3)),
                of("net-write", "a writer waits for room again and again", 2, 1, Sockets::write),
                of("net-write-read", "a goroutine reads while another waits for room", 2, 2, Sockets::writeAndRead),
                of("net-write-end", "a limit or a close ends a write that waits for room", 2, 2, Sockets::writeEnds),
                of("net-write-slow", "a write has one limit for all its waits", 2, 1, Sockets::writeSlowly));
    }

    /** Adds a lane that sends a byte whenever the last one was read, and then one to the descriptor that keeps the poller watched. */
    private static void sends(Loop l, int to, int n, int watched) {
        l.lane("sends", () -> {
            for (int i = 0; i < n; i++) {
                int _ = Descriptors.add(to, 1);
                l.until(i + 1);
            }
            int _ = Descriptors.add(watched, 1);
        });
    }

    private static void edge(Loop l) {
        int d = Descriptors.open();
        int watched = Descriptors.open();
        PollFd other = new PollFd(watched);
        l.go(() -> {
            checkByte(other);
            l.done();
        });
        l.go(() -> {
            PollFd fd = new PollFd(d);
            for (int i = 0; i < 4; i++) {
                checkByte(fd);
                l.done();
            }
        });
        sends(l, d, 4, watched);
    }

    private static void jdkTwo(Loop l) {
        int d = Descriptors.open();
        int watched = Descriptors.open();
        Thread _ = l.thread(() -> {
            awaitByte(watched);
            l.done();
        });
        Thread _ = l.thread(() -> {
            for (int i = 0; i < 4; i++) {
                awaitByte(d);
                l.done();
            }
        });
        sends(l, d, 4, watched);
    }

    /** An unpark ends the wait for the first file, whose event may be on its way. */
    private static void jdkStale(Loop l) {
        int d = Descriptors.open();
        int watched = Descriptors.open();
        AtomicBoolean unparked = new AtomicBoolean();
        AtomicBoolean answered = new AtomicBoolean();
        int _ = Descriptors.add(d, 1);
        Thread t = l.thread(() -> {
            while (!unparked.get()) {
                await(d);
            }
            Descriptors.close(d);
            int again = Descriptors.open();
            check(again == d, "the number is not free");
            l.lane("answers", () -> {
                l.until(2);
                answered.set(true);
                int _ = Descriptors.add(again, 1);
            });
            l.done();
            while (!answered.get()) {
                await(again);
                check(answered.get() || !Descriptors.isWatched(again), "a wait has ended without an event, and is registered");
            }
            int _ = Descriptors.add(watched, 1);
            l.done();
        });
        Thread _ = l.thread(() -> {
            awaitByte(watched);
            l.done();
        });
        l.lane("unparks", () -> {
            LockSupport.unpark(t);
            unparked.set(true);
        });
        l.lane("later", () -> {
            l.until(1);
            Case.spin(20);
            l.done();
        });
    }

    private static void interrupt(Loop l) {
        PollFd fd = new PollFd(Descriptors.open());
        Thread reader = l.thread(() -> {
            check(IoResult.error(readByte(fd)) == IoResult.INTERRUPTED, "a read has ended though nothing came");
            l.done();
        });
        l.lane("interrupts", () -> reader.interrupt());
    }

    /** The first reader has an identity, so an interrupt ends its waits; the second has none. */
    private static void interruptLate(Loop l) {
        int rounds = 8;
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        Thread reader = l.thread(() -> {
            for (int i = 0; i < rounds; i++) {
                long n = readByte(fd);
                check(IoResult.count(n) == 1 || IoResult.error(n) == IoResult.INTERRUPTED && Thread.interrupted(),
                        "a read has returned " + n);
                boolean _ = Thread.interrupted();
            }
            l.done();
        });
        l.go(() -> {
            for (int i = 0; i < rounds; i++) {
                checkByte(fd);
            }
            l.done();
        });
        l.lane("interrupts", () -> {
            for (int i = 0; i < rounds; i++) {
                reader.interrupt();
                Thread.onSpinWait();
            }
        });
        l.lane("sends", () -> {
            for (int i = 0; i < 2 * rounds; i++) {
                int _ = Descriptors.add(d, 1);
                Case.spin(2);
            }
        });
    }

    private static void turnLimited(Loop l) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        l.go(() -> {
            checkByte(fd);
            l.done();
        });
        l.go(() -> {
            long n = fd.read(MemorySegment.ofArray(new byte[1]), Limits.within(Duration.ofNanos(3_000)));
            check(IoResult.count(n) == 1 || IoResult.error(n) == IoResult.TIMED_OUT, "a read has returned " + n);
            l.done();
        });
        l.go(() -> {
            checkByte(fd);
            l.done();
        });
        l.lane("sends", () -> {
            for (int i = 0; i < 3; i++) {
                Case.spin(3);
                int _ = Descriptors.add(d, 1);
            }
        });
        l.end(() -> check(Inside.isAtRest(fd), "nobody reads, and a reader is counted or a unit is left"));
    }

    /** The third goroutine uses the descriptor while the others close it. */
    private static void secondClose(Loop l) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        AtomicInteger firsts = new AtomicInteger();
        l.go(2, () -> {
            int _ = firsts.addAndGet(fd.close() ? 1 : 0);
            check(!Descriptors.isOpen(d), "a close has returned, and the descriptor is open");
            l.done();
        });
        l.go(() -> {
            boolean _ = fd.use(n -> {
                Case.spin(4);
                check(Descriptors.isOpen(n), "a descriptor was closed while it was used");
            });
            l.done();
        });
        l.end(() -> check(firsts.get() == 1, firsts.get() + " closes were the first"));
    }

    /** The alarm of the earlier deadline rings, and finds that the deadline is later. */
    private static void deadlineLater(Loop l) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        long end = l.now() + FAR / 2;
        l.go(() -> {
            check(fd.setDeadline(20_000, true, false) && fd.setDeadline(60_000, true, false), "it is closed");
            long due = l.now() + 40_000;
            check(IoResult.error(readByte(fd)) == IoResult.TIMED_OUT, "a read has ended though nothing came");
            check(l.now() >= due && l.now() < end, "a deadline that was moved has ended a read at another time");
            l.done();
        });
    }

    /** A read that takes less than it has room for has left the socket empty, and the next one may begin with a wait. */
    private static void shortEnd(Loop l) {
        int d = Descriptors.open();
        l.go(() -> {
            PollFd fd = PollFd.ofTcp(d);
            int got = 0;
            for (int n = 1; n != 0; got += n) {
                long read = fd.read(MemorySegment.ofArray(new byte[4]), Limits.DEFAULT);
                n = (int) IoResult.count(read);
                check(IoResult.error(read) == 0, "a read has returned " + read);
            }
            check(got == 2, "of 2 bytes " + got + " were read");
            l.done();
        });
        l.lane("sends", () -> {
            int _ = Descriptors.add(d, 1);
            Descriptors.addLast(d, 1);
            l.done();
        });
    }

    /** The second read comes when its byte is there, and another goroutine would have the P for longer than its limit. */
    private static void shortRead(Loop l, int how) {
        int d = Descriptors.open();
        int _ = Descriptors.add(d, 1);
        AtomicInteger turns = new AtomicInteger();
        Thread reader = l.thread(() -> {
            PollFd fd = PollFd.ofTcp(d);
            MemorySegment room = MemorySegment.ofArray(new byte[4]);
            check(IoResult.count(fd.read(room, Limits.DEFAULT)) == 1, "what has come is not there");
            check(IoResult.error(fd.read(room, Limits.within(Duration.ofNanos(1_000)))) == IoResult.TIMED_OUT, "nothing has come");
            int _ = Descriptors.add(d, 1);
            check(IoResult.count(fd.read(room, Limits.DEFAULT)) == 1, "what has come is not there");
            if (how == 3) {
                Go.gosched();
            }
            int _ = Descriptors.add(d, 1);
            if (how == 1) {
                check(fd.setDeadline(20_000, true, false), "it is closed");
            } else if (how == 2) {
                Thread.currentThread().interrupt();
            }
            int before = turns.get();
            long n = fd.read(room, how == 0 ? Limits.within(Duration.ofNanos(20_000)) : Limits.DEFAULT);
            check(IoResult.count(n) == 1, "a read has returned " + n + " though a byte was there");
            check(how != 3 || turns.get() == before, "a read has waited though a byte was there");
            l.done();
        });
        l.go(() -> {
            while (l.doneCount() == 0) {
                turns.incrementAndGet();
                Case.spin(100);
                Go.gosched();
            }
            l.done();
        });
    }

    private static void write(Loop l) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        Descriptors.room(d, 1);
        l.go(() -> {
            check(IoResult.count(fd.write(MemorySegment.ofArray(new byte[4]), Limits.DEFAULT)) == 4, "a write has ended early");
            check(Descriptors.roomOf(d) == 0, "another number of bytes was written than there was room for");
            l.done();
        });
        l.lane("makes room", () -> {
            for (int i = 0; i < 3; i++) {
                while (Descriptors.roomOf(d) != 0) {
                    Thread.onSpinWait();
                }
                Descriptors.room(d, 1);
            }
        });
    }

    private static void writeAndRead(Loop l) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        Descriptors.room(d, 0);
        l.go(() -> {
            check(IoResult.count(fd.write(MemorySegment.ofArray(new byte[2]), Limits.DEFAULT)) == 2, "a write has ended early");
            l.done();
        });
        l.go(() -> {
            checkByte(fd);
            checkByte(fd);
            l.done();
        });
        l.lane("makes room", () -> Descriptors.room(d, 2));
        l.lane("sends", () -> {
            int _ = Descriptors.add(d, 1);
            int _ = Descriptors.add(d, 1);
        });
    }

    private static void writeEnds(Loop l) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        Descriptors.room(d, 1);
        l.go(() -> {
            long n = fd.write(MemorySegment.ofArray(new byte[2]), Limits.within(Duration.ofNanos(10_000)));
            check(IoResult.count(n) == 1 && IoResult.error(n) == IoResult.TIMED_OUT, "a write without room has returned " + n);
            l.done();
            n = fd.write(MemorySegment.ofArray(new byte[2]), Limits.DEFAULT);
            check(IoResult.count(n) == 0 && IoResult.error(n) == IoResult.CLOSED, "a write without room has returned " + n);
            l.done();
        });
        l.lane("go", () -> {
            l.until(1);
            l.go(() -> check(fd.close(), "the first close was not the first"));
        });
    }

    /** Each wait of the write is shorter than its limit. */
    private static void writeSlowly(Loop l) {
        int d = Descriptors.open();
        PollFd fd = new PollFd(d);
        Descriptors.room(d, 0);
        l.go(() -> {
            long end = l.now() + 200_000;
            long n = fd.write(MemorySegment.ofArray(new byte[100]), Limits.within(Duration.ofNanos(20_000)));
            check(IoResult.error(n) == IoResult.TIMED_OUT && l.now() < end, "a write to a slow reader has returned " + n);
            l.done();
        });
        l.lane("makes room", () -> {
            for (int i = 0; i < 60 && l.doneCount() == 0; i++) {
                Case.spin(10);
                Descriptors.room(d, 1);
            }
        });
    }
}
