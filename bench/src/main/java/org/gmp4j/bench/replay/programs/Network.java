// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Descriptors;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.stack.JdkPollers;
import org.gmp4j.wait.Limits;

/** What programs of descriptors share: a scheduler with a poller, and reads of one byte. */
final class Network {
    private Network() {
    }

    /** Returns a program of the group "net", whose scheduler has a poller for descriptors. */
    static Program of(String name, String what, int procs, int parts, Consumer<Loop> body) {
        return Program.ofLoop(name, what, () -> {
            Loop loop = new Loop(procs, parts, body);
            loop.withNetwork();
            return loop;
        }).in("net");
    }

    /** Reads a byte, on a goroutine. Returns the count, or a negative error. */
    static long readByte(PollFd fd) {
        return fd.read(MemorySegment.ofArray(new byte[1]), Limits.DEFAULT);
    }

    /** Reads a byte that must come. */
    static void checkByte(PollFd fd) {
        long n = readByte(fd);
        check(IoResult.count(n) == 1, "a read has returned " + n);
    }

    /** Waits for a socket of the JDK's, as its channels do. */
    static void await(int d) {
        JdkPollers.Waits waits = (JdkPollers.Waits) Descriptors.jdkWaits();
        try {
            check(waits.register(d, false), "the scheduler's poller does not serve a socket");
            LockSupport.park();
            boolean _ = waits.deregister(d, false);
        } catch (IOException e) {
            Case.failed(e);
        }
    }

    /** Reads a byte from a socket of the JDK's. */
    static void awaitByte(int d) {
        while (Descriptors.read(d, MemorySegment.ofArray(new byte[1])) != 1) {
            await(d);
        }
    }
}
