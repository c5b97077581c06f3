// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.report.Histograms;

/**
 * The client: requests arrive as a Poisson process, whatever the server does. Latencies count from the moment when a request
 * was meant to be sent, so what waits for a free connection, or for this thread, counts too. It warms itself up against an
 * echo of its own before it connects, so that a young server is measured by a grown client. Arguments: mix, requests a
 * second, connections, seconds to warm up, seconds to measure, seed.
 *
 * <table>
 * <caption>What it says and hears</caption>
 * <tr><td>it says {@code ready}</td><td>it is warm itself; it hears the server's port and connects</td></tr>
 * <tr><td>{@code begin}</td><td>the server has answered everything; it hears a line and measures</td></tr>
 * <tr><td>{@code end}</td><td>everything is answered; it hears a line</td></tr>
 * <tr><td>{@link Tally}</td><td>and ends</td></tr>
 * <tr><td>{@code failed:} and why</td><td>at any time, and ends</td></tr>
 * </table>
 */
final class Client implements AutoCloseable {
    /** What its last line begins with when it is not one of figures. */
    static final String FAILED = "failed: ";

    /** So many requests without a connection are not going to be answered in time. */
    private static final int MOST_WAITING = 1_000_000;
    private static final long GIVE_UP_NANOS = 20_000_000_000L;
    private static final int REHEARSALS = 5;
    private static final double REHEARSAL_SECONDS = 0.3;
    private static final double REHEARSAL_PART = 0.001;
    private static final double REHEARSAL_RATE = 50_000;
    private static final int REHEARSAL_CONNECTIONS = 32;

    private final Selector selector = Selector.open();
    private final List<SocketChannel> channels = new ArrayList<>();
    private final ArrayDeque<Connection> idle = new ArrayDeque<>();
    private final ArrayDeque<Request> waiting = new ArrayDeque<>();
    private final Histogram shorts = Histograms.latencies();
    private final Histogram longs = Histograms.latencies();
    private final Histogram late = Histograms.latencies();
    private final Echo echo;
    private final Mix mix;
    private final Consumer<SelectionKey> receive = this::receive;
    private long next;
    private long queued;
    private int open;

    private record Request(long intended, long nanos, boolean counts) {
    }

    private static final class Connection {
        private final SocketChannel channel;
        private final ByteBuffer buffer;
        /** The one that is to be answered; null for none. */
        private Request request;

        Connection(SocketChannel channel, ByteBuffer buffer) {
            this.channel = channel;
            this.buffer = buffer;
        }
    }

    private Client(Echo echo, int port, Mix mix, int connections) throws IOException {
        this.echo = echo;
        this.mix = mix;
        ByteBuffer buffers = ByteBuffer.allocateDirect(connections * Long.BYTES);
        for (int i = 0; i < connections; i++) {
            SocketChannel c = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            channels.add(c);
            c.setOption(StandardSocketOptions.TCP_NODELAY, true);
            c.configureBlocking(false);
            Connection connection = new Connection(c, buffers.slice(i * Long.BYTES, Long.BYTES));
            c.register(selector, SelectionKey.OP_READ, connection);
            idle.add(connection);
        }
    }

    @Override
    public void close() throws IOException {
        for (SocketChannel c : channels) {
            c.close();
        }
        selector.close();
    }

    /** Runs it. */
    public static void main(String[] args) {
        run(args, System.in, System.out, REHEARSAL_SECONDS);
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** Runs the client, with rehearsals that take so long each. */
    static void run(String[] args, InputStream in, PrintStream out, double rehearsalSeconds) {
        try {
            measure(args, new Ear(in), out, rehearsalSeconds);
        } catch (IOException e) {
            out.println(FAILED + e.getMessage());
        } catch (UncheckedIOException e) {
            out.println(FAILED + e.getCause().getMessage());
        }
    }

    private static void measure(String[] args, Ear ear, PrintStream out, double rehearsalSeconds) throws IOException {
        double rate = Double.parseDouble(args[1]);
        SplittableRandom random = new SplittableRandom(Long.parseLong(args[5]));
        Mix mix = Mix.of(args[0]);
        Echo echo = new Echo();
        try (echo) {
            rehearse(echo, mix, ear, out, rehearsalSeconds);
        }
        int port = Integer.parseInt(ear.hear());
        try (Client client = new Client(echo, port, mix, Integer.parseInt(args[2]))) {
            client.run(rate, Double.parseDouble(args[3]), false, random);
            out.println("begin");
            ear.hear();
            double took = client.run(rate, Double.parseDouble(args[4]), true, random);
            out.println("end");
            ear.hear();
            out.println(new Tally(client.shorts, client.longs, client.late, client.queued, took));
        }
    }

    /** The lines that it receives. A thread waits for them, as a pipe whose writer has gone looks like a silent one. */
    private static final class Ear {
        private static final String END = "";

        private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

        Ear(InputStream in) {
            Thread.ofPlatform().daemon().start(() -> {
                try (Scanner scanner = new Scanner(in, StandardCharsets.UTF_8)) {
                    while (scanner.hasNextLine()) {
                        lines.add(scanner.nextLine());
                    }
                }
                lines.add(END);
            });
        }

        boolean hasHeard() {
            return !lines.isEmpty();
        }

        /** Reads a line. */
        String hear() throws IOException {
            try {
                String line = lines.take();
                if (line.equals(END)) {
                    throw new IOException("nobody told the client to go on");
                }
                return line;
            } catch (InterruptedException e) {
                throw new IOException("interrupted", e);
            }
        }
    }

    /** Rehearses until a line comes, so that a server that starts meanwhile starts beside a busy CPU. */
    private static void rehearse(Echo echo, Mix mix, Ear ear, PrintStream out, double seconds) throws IOException {
        SplittableRandom random = new SplittableRandom(0);
        for (int i = 0; i < REHEARSALS; i++) { // From the start: what was compiled for one selector is not for the next.
            try (Client client = new Client(echo, echo.port(), mix, REHEARSAL_CONNECTIONS)) {
                double _ = client.run(REHEARSAL_RATE, seconds, true, random);
                if (i == REHEARSALS - 1) {
                    out.println("ready");
                    while (!ear.hasHeard()) {
                        var _ = client.run(REHEARSAL_RATE, REHEARSAL_PART, true, random);
                    }
                }
            }
        }
        System.gc();
    }

    /** Sends for so long, and waits for all answers; how many seconds that took. */
    private double run(double rate, double seconds, boolean counts, SplittableRandom random) throws IOException {
        long begin = System.nanoTime();
        long end = begin + (long) (seconds * 1e9);
        next = begin;
        while (next < end || open > 0) {
            step(1e9 / rate, end, counts, random);
            echo.answer();
        }
        return (System.nanoTime() - begin) / 1e9;
    }

    /** Does one step. As a method of its own it is compiled long before the method that calls it in a loop. */
    private void step(double gap, long end, boolean counts, SplittableRandom random) throws IOException {
        long now = System.nanoTime();
        while (next <= now && next < end) {
            open++;
            if (counts) {
                late.recordValue(now - next);
                queued += idle.size() > waiting.size() ? 0 : 1;
            }
            waiting.add(new Request(next, mix.next(random), counts));
            if (waiting.size() > MOST_WAITING) {
                throw behind();
            }
            next += (long) (random.nextExponential() * gap);
        }
        while (!waiting.isEmpty() && !idle.isEmpty()) {
            send(idle.poll(), waiting.poll());
        }
        selector.selectNow(receive); // It never sleeps: its wake-up would count.
        if (now - end > GIVE_UP_NANOS) {
            throw behind();
        }
    }

    private IOException behind() {
        return new IOException("the server falls behind, " + open + " requests are not answered");
    }

    private void send(Connection c, Request r) throws IOException {
        c.request = r;
        c.buffer.clear().putLong(r.nanos).flip();
        while (c.buffer.hasRemaining()) {
            c.channel.write(c.buffer);
        }
        c.buffer.clear();
    }

    private void receive(SelectionKey key) {
        Connection c = (Connection) key.attachment();
        Request r = c.request;
        try {
            if (r == null || c.channel.read(c.buffer) < 0) { // Nothing comes unasked but the end.
                throw new IOException("the server closed a connection");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (!c.buffer.hasRemaining()) {
            c.request = null;
            if (r.counts) {
                (mix.isShort(r.nanos) ? shorts : longs).recordValue(System.nanoTime() - r.intended);
            }
            open--;
            idle.add(c);
        }
    }
}
