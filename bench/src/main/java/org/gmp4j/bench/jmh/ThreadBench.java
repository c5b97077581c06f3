// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Gmp;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Virtual threads that know nothing of us, on our Ps and on the JDK's own scheduler, on all CPUs each. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class ThreadBench {
    private static final int ROUNDS = 100_000;
    private static final int THREADS = 100_000;
    private static final int BATCH = 100;
    private static final int PAIRS = 8;
    private static final int ECHOES = 2_000;
    private static final int MESSAGE = 32;

    /** The scheduler that runs the threads. */
    @Param({"gmp4j", "jdk"})
    public String scheduler;

    private Gmp gmp;
    private ThreadFactory threads;

    /** Whose turn it is. */
    private volatile int turn;

    /** Starts the scheduler. */
    @Setup
    public void open() {
        if (scheduler.equals("gmp4j")) {
            gmp = Gmp.builder().build();
            threads = gmp.threadFactory();
        } else {
            threads = Thread.ofVirtual().factory();
        }
    }

    /** Ends it. */
    @TearDown
    public void close() {
        if (gmp != null) {
            gmp.close();
        }
    }

    /** A round trip of two threads that park until the other has unparked them. */
    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public void parkUnpark() throws InterruptedException {
        Thread[] both = new Thread[2];
        for (int i = 0; i < 2; i++) {
            int me = i;
            both[i] = threads.newThread(() -> side(both, me));
        }
        turn = 0;
        for (Thread t : both) {
            t.start();
        }
        for (Thread t : both) {
            t.join();
        }
    }

    private void side(Thread[] both, int me) {
        for (int i = 0; i < ROUNDS; i++) {
            while (turn != me) {
                LockSupport.park();
            }
            turn = 1 - me;
            LockSupport.unpark(both[1 - me]);
        }
    }

    /** A thread's start, empty run and join, in batches, from a thread of the same scheduler. */
    @Benchmark
    @OperationsPerInvocation(THREADS)
    public void startEnd() throws InterruptedException {
        Thread parent = threads.newThread(this::startAll);
        parent.start();
        parent.join();
    }

    private void startAll() {
        Thread[] batch = new Thread[BATCH];
        try {
            for (int n = 0; n < THREADS; n += BATCH) {
                for (int i = 0; i < BATCH; i++) {
                    batch[i] = threads.newThread(() -> {});
                    batch[i].start();
                }
                for (Thread t : batch) {
                    t.join();
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A message to a thread behind a loopback socket and back, 8 pairs at a time. */
    @Benchmark
    @OperationsPerInvocation(PAIRS * ECHOES)
    public void loopback() throws InterruptedException, IOException {
        try (ServerSocket server = new ServerSocket(0, PAIRS, InetAddress.getLoopbackAddress())) {
            Thread[] all = new Thread[2 * PAIRS];
            for (int i = 0; i < PAIRS; i++) {
                all[2 * i] = threads.newThread(() -> echo(server));
                all[2 * i + 1] = threads.newThread(() -> ask(server));
            }
            for (Thread t : all) {
                t.start();
            }
            for (Thread t : all) {
                t.join();
            }
        }
    }

    private static void echo(ServerSocket server) {
        try (Socket s = server.accept()) {
            s.setTcpNoDelay(true);
            byte[] buf = new byte[MESSAGE];
            while (s.getInputStream().readNBytes(buf, 0, MESSAGE) == MESSAGE) {
                s.getOutputStream().write(buf);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void ask(ServerSocket server) {
        try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
            s.setTcpNoDelay(true);
            byte[] buf = new byte[MESSAGE];
            for (int i = 0; i < ECHOES; i++) {
                s.getOutputStream().write(buf);
                if (s.getInputStream().readNBytes(buf, 0, MESSAGE) != MESSAGE) {
                    throw new IOException("the connection ended");
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
