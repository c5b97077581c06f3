// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ToDoubleFunction;
import java.util.function.UnaryOperator;

import org.HdrHistogram.Histogram;

/**
 * Loads a web server from platform threads of this process, which have a connection each and send a request when the last was answered.
 *
 * @param thread what answers say that they were made on; empty if the server does not tell
 * @param expected the answer to a body
 */
record Load(String path, int connections, String thread, UnaryOperator<byte[]> expected) {
    private static final int BODY = 100;
    private static final long LONGEST = TimeUnit.MINUTES.toNanos(1);
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /** Of one load; {@code late} are the answers that took longer than a second. */
    record Figures(double perSecond, double p50Micros, double p99Micros, double cpuMicros, double late) {
        static final Figures ONE = new Figures(1, 1, 1, 1, 1);

        /** The median of what is read of each pair, divided. */
        static double ratio(List<Figures> a, List<Figures> b, ToDoubleFunction<Figures> of) {
            double[] ratios = new double[a.size()];
            for (int i = 0; i < ratios.length; i++) {
                ratios[i] = of.applyAsDouble(a.get(i)) / of.applyAsDouble(b.get(i));
            }
            Arrays.sort(ratios);
            return ratios[ratios.length / 2];
        }
    }

    /** For so long; every answer is checked. */
    Figures run(Process server, InetSocketAddress address, long nanos) throws Exception {
        Histogram all = new Histogram(LONGEST, 3);
        AtomicReference<Throwable> failed = new AtomicReference<>();
        double cpu = cpuSeconds(server);
        long begin = System.nanoTime();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            byte[] body = new byte[BODY];
            Arrays.fill(body, (byte) i);
            body[0] = 1;
            clients.add(Thread.ofPlatform().start(() -> {
                Histogram mine = new Histogram(LONGEST, 3);
                try {
                    while (System.nanoTime() - begin < nanos) {
                        connection(address, body, mine, begin, nanos);
                    }
                } catch (IOException | RuntimeException e) {
                    failed.set(e);
                }
                synchronized (all) {
                    all.add(mine);
                }
            }));
        }
        for (Thread client : clients) {
            client.join();
        }
        if (failed.get() != null) {
            throw new IOException("a client failed", failed.get());
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        return new Figures(
                all.getTotalCount() / seconds,
                all.getValueAtPercentile(50) / 1e3,
                all.getValueAtPercentile(99) / 1e3,
                (cpuSeconds(server) - cpu) * 1e6 / all.getTotalCount(),
                all.getCountBetweenValues(SECOND, LONGEST));
    }

    /** Until the time is over, or the server closes the connection; some do after a hundred requests. */
    private void connection(InetSocketAddress address, byte[] body, Histogram latency, long begin, long nanos) throws IOException {
        byte[] answer = expected.apply(body);
        try (HttpConnection connection = new HttpConnection(address)) {
            boolean last = false;
            for (long t = System.nanoTime(); !last && t - begin < nanos; ) {
                HttpConnection.Answer got = connection.post(path, body);
                long now = System.nanoTime();
                latency.recordValue(Math.min(LONGEST, now - t));
                t = now;
                last = got.last();
                if (!Arrays.equals(answer, got.body()) || !got.thread().equals(thread)) {
                    throw new IOException("a wrong answer, from a " + got.thread());
                }
            }
        }
    }

    /** CPU time that it has used, in seconds. */
    private static double cpuSeconds(Process p) {
        return p.info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
    }
}
