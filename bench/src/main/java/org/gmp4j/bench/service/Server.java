// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.gmp4j.Gmp;
import org.gmp4j.SpinPolicy;

/**
 * The server: a goroutine or virtual thread for each connection, which reads how many nanoseconds of CPU time a request
 * needs, computes for so long, and answers with the number. Arguments: {@code jdk}, or {@code gmp}, the quantum in
 * microseconds and the spin policy. Prints its port and how many rounds of its loop take a nanosecond; ends with its standard
 * input. Its twin in Go is bench/peers/go/service.
 */
final class Server {
    private static final int BACKLOG = 16_384;
    private static final int CALIBRATIONS = 40;
    private static final long CALIBRATION_ROUNDS = 1_000_000;

    private static volatile long sink;

    private Server() {}

    /** Runs it. */
    public static void main(String[] args) throws IOException {
        double perNano = calibrate();
        Executor executor = args[0].equals("jdk")
                ? Executors.newVirtualThreadPerTaskExecutor()
                : Gmp.builder()
                        .quantum(Duration.ofNanos(Long.parseLong(args[1]) * 1_000))
                        .spin(SpinPolicy.parse(args[2]))
                        .build()
                        .newThreadPerTaskExecutor();
        ServerSocket listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
        Thread acceptor = new Thread(() -> {
            try {
                for (;;) {
                    Socket s = listener.accept();
                    executor.execute(() -> serve(s, perNano));
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        acceptor.setDaemon(true);
        acceptor.start();
        System.out.println(listener.getLocalPort() + " " + perNano);
        while (System.in.read() >= 0) {
            // Until the parent closes it, or ends.
        }
        System.exit(0); // A trace is written now, where one was asked for.
    }

    private static void serve(Socket socket, double perNano) {
        try (socket) {
            socket.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            for (;;) {
                long nanos = in.readLong();
                sink += work((long) (nanos * perNano));
                out.writeLong(nanos);
            }
        } catch (IOException e) {
            return; // The client is done, or was ended. A connection that fails is for it to tell.
        }
    }

    /**
     * A random number generator (xorshift): no call, nothing to vectorise, and each step needs the last, so that a round takes
     * as long however it is compiled.
     */
    private static long work(long rounds) {
        long h = rounds | 1;
        for (long i = 0; i < rounds; i++) {
            h ^= h << 13;
            h ^= h >>> 7;
            h ^= h << 17;
        }
        return h;
    }

    /** Rounds a nanosecond, on this CPU with nothing beside: the best of some, the first of which are not compiled yet. */
    private static double calibrate() {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < CALIBRATIONS; i++) {
            long start = System.nanoTime();
            sink += work(CALIBRATION_ROUNDS);
            best = Math.min(best, System.nanoTime() - start);
        }
        return (double) CALIBRATION_ROUNDS / best;
    }
}
