// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

import org.gmp4j.Gmp;
import org.gmp4j.SpinPolicy;
import org.gmp4j.net.TcpConn;
import org.gmp4j.net.TcpListener;

/**
 * The server: a goroutine or virtual thread for each connection, which reads how many nanoseconds of CPU time a request
 * needs, computes for so long, and answers with the number. Arguments: {@code jdk}; or {@code gmp}, or
 * {@code net} for the sockets of {@code org.gmp4j.net}, the quantum in microseconds, and the spin policy. Prints its port and how many
 * rounds of its loop take a nanosecond; ends with its standard input. Its twin in Go is bench/peers/go/service.
 */
final class Server {
    /**
     * Options of its JVM, whichever the scheduler: {@link #work} stays a method of its own. C2 put it into some callers, depending on what
     * was compiled first, and there a round took up to twice as long, as it kept its state in memory.
     */
    static final List<String> JVM = List.of("-XX:CompileCommand=quiet",
            "-XX:CompileCommand=dontinline," + Server.class.getName() + "::work");

    private static final int BACKLOG = 16_384;
    private static final int CALIBRATIONS = 400;
    private static final long CALIBRATION_ROUNDS = 100_000;

    private static final ValueLayout.OfLong NANOS = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static volatile long sink;

    private Server() {
    }

    /** Runs it. */
    public static void main(String[] args) throws IOException {
        double perNano = calibrate();
        int port = switch (args[0]) {
            case "jdk" -> plain(Executors.newVirtualThreadPerTaskExecutor(), perNano);
            case "net" -> net(gmp(args), perNano);
            default -> plain(gmp(args).newThreadPerTaskExecutor(), perNano);
        };
        System.out.println(port + " " + perNano);
        while (System.in.read() >= 0) {
            // Until the parent closes it, or ends.
        }
        System.exit(0); // A trace is written now, where one was asked for.
    }

    private static Gmp gmp(String[] args) {
        Quantum quantum = Quantum.parse(args[1]);
        return Gmp.builder()
                .quantum(quantum.least(), quantum.most())
                .spin(SpinPolicy.parse(args[2]))
                .build();
    }

    /** Serves plain sockets; the port. */
    private static int plain(Executor executor, double perNano) throws IOException {
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
        return listener.getLocalPort();
    }

    /** Serves sockets of {@code org.gmp4j.net}; the port. */
    private static int net(Gmp gmp, double perNano) throws IOException {
        TcpListener listener = TcpListener.listen("127.0.0.1:0");
        gmp.go(() -> {
            try {
                listener.serve(c -> serveNet(c, perNano));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        return listener.addr().getPort();
    }

    private static void serveNet(TcpConn conn, double perNano) {
        byte[] request = new byte[Long.BYTES];
        MemorySegment whole = MemorySegment.ofArray(request);
        try (conn) { // TCP_NODELAY is set from the start.
            for (;;) {
                long n = conn.read(whole);
                while (n > 0 && n < request.length) {
                    int more = conn.read(request, (int) n, request.length - (int) n);
                    n = more < 0 ? more : n + more;
                }
                if (n < 0) {
                    return; // The client is done.
                }
                sink += work((long) (whole.get(NANOS, 0) * perNano));
                conn.write(whole);
            }
        } catch (IOException e) {
            return; // It was ended.
        }
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
     * Computes by a random number generator (xorshift): no call, nothing to vectorise, and each step needs the last, so that a round takes
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

    /**
     * Rounds a nanosecond, on this CPU with nothing beside: the median of some times. The best ones may be better by 3 to 6 % than most
     * others, while the host gives the CPU a higher clock, and the server would have so much more to do than the next.
     */
    private static double calibrate() {
        long[] nanos = new long[CALIBRATIONS];
        for (int i = 0; i < CALIBRATIONS; i++) {
            long start = System.nanoTime();
            sink += work(CALIBRATION_ROUNDS);
            nanos[i] = System.nanoTime() - start;
        }
        Arrays.sort(nanos);
        return (double) CALIBRATION_ROUNDS / nanos[CALIBRATIONS / 2];
    }
}
