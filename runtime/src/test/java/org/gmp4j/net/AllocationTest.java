// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.io;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;

import com.sun.management.ThreadMXBean;
import org.gmp4j.net.Io.Pair;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A request that is waited for, read and answered takes no memory, once the code is compiled. */
class AllocationTest {
    private static final int ROUNDS = 3_000;
    private static final int TRIES = 60;
    /** Bytes for a wait: 32 to 48, as it is compiled. Its own poller takes 96. */
    private static final int OF_THE_JDK = 48;
    private static final double MOST = 2; // Bytes a round: what others in the process do meanwhile.

    private interface Ping {
        void once(TcpConn c, boolean first) throws IOException;
    }

    @ParameterizedTest
    @ValueSource(strings = {"segment", "heap", "vectored"})
    void aRequest(String memory) throws Exception {
        try (Pair p = Pair.open(); Arena arena = Arena.ofShared()) {
            Ping a = ping(memory, arena);
            Ping b = ping(memory, arena);
            Duration limit = Duration.ofMinutes(1);
            rounds(MOST, () -> {
                p.b().setReadDeadlineAfter(limit); // As a server does for each request.
                b.once(p.b(), false);
            }, () -> a.once(p.a(), true));
        }
    }

    /** Of plain sockets: what the JDK itself takes for its two waits of a round, and nothing beside. */
    @Test
    void plainSockets() throws Exception {
        try (ServerSocket l = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket a = new Socket(l.getInetAddress(), l.getLocalPort());
                Socket b = l.accept()) {
            byte[] ours = new byte[16];
            byte[] theirs = new byte[16];
            rounds(2 * OF_THE_JDK + MOST, () -> {
                assertEquals(8, b.getInputStream().read(theirs));
                b.getOutputStream().write(theirs, 0, 8);
            }, () -> {
                a.getOutputStream().write(ours, 0, 8);
                assertEquals(8, a.getInputStream().read(ours));
            });
        }
    }

    private static void rounds(double most, Io.Body answer, Io.Body ask) throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        double[] each = new double[TRIES];
        Arrays.fill(each, most);
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(io(() -> {
                for (int i = 0; i < TRIES; i++) {
                    long before = threads.getTotalThreadAllocatedBytes();
                    WaitGroup all = new WaitGroup();
                    all.go(io(() -> {
                        for (int k = 0; k < ROUNDS; k++) {
                            answer.run();
                        }
                    }));
                    for (int k = 0; k < ROUNDS; k++) {
                        ask.run();
                    }
                    all.await();
                    each[i] = (double) (threads.getTotalThreadAllocatedBytes() - before) / ROUNDS;
                    if (each[i] < most) {
                        return;
                    }
                }
            }));
        }
        assertTrue(Arrays.stream(each).anyMatch(n -> n < most), () -> "bytes a round: " + Arrays.toString(each));
    }

    private static Ping ping(String memory, Arena arena) {
        MemorySegment s = memory.equals("heap") ? MemorySegment.ofArray(new byte[8]) : arena.allocate(8);
        MemorySegment[] pieces = {s.asSlice(0, 4), s.asSlice(4)};
        return (c, first) -> {
            if (first) {
                write(c, memory, s, pieces);
            }
            assertEquals(8, c.read(s));
            if (!first) {
                write(c, memory, s, pieces);
            }
        };
    }

    private static void write(TcpConn c, String memory, MemorySegment s, MemorySegment[] pieces) throws IOException {
        assertEquals(8, memory.equals("vectored") ? c.write(pieces) : c.write(s));
    }
}
