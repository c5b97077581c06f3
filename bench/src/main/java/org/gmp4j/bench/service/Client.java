// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * The client: requests arrive as a Poisson process, whatever the server does. Latencies count from the moment when a request
 * was meant to be sent, so what waits for a free connection, or for this thread, counts too. Arguments: port, mix, requests a second,
 * seconds to warm up, seconds to measure, seed. Prints {@code begin}, {@code end} and then a line of figures; or
 * {@code failed:} and why, at any time.
 */
final class Client {
    /** What its last line begins with when it is not one of figures. */
    static final String FAILED = "failed: ";

    private static final int CONNECTIONS = 400;
    /** So many requests without a connection are not going to be answered in time. */
    private static final int MOST_WAITING = 1_000_000;
    private static final long USUALLY_MOST_NANOS = 60_000_000_000L;
    private static final long GIVE_UP_NANOS = 20_000_000_000L;

    private final Selector selector = Selector.open();
    private final ArrayDeque<Connection> idle = new ArrayDeque<>();
    private final ArrayDeque<Request> waiting = new ArrayDeque<>();
    private final Histogram shorts = histogram();
    private final Histogram longs = histogram();
    private final Mix mix;
    private int open;

    private record Request(long intended, long nanos, boolean counts) {}

    private static final class Connection {
        private final SocketChannel channel;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(Long.BYTES);
        /** The one that is to be answered; null for none. */
        private Request request;

        Connection(SocketChannel channel) {
            this.channel = channel;
        }
    }

    private Client(int port, Mix mix) throws IOException {
        this.mix = mix;
        for (int i = 0; i < CONNECTIONS; i++) {
            SocketChannel c = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            c.setOption(StandardSocketOptions.TCP_NODELAY, true);
            c.configureBlocking(false);
            Connection connection = new Connection(c);
            c.register(selector, SelectionKey.OP_READ, connection);
            idle.add(connection);
        }
    }

    private static Histogram histogram() {
        Histogram h = new Histogram(USUALLY_MOST_NANOS, 3);
        h.setAutoResize(true); // Of a server that falls behind for long.
        return h;
    }

    /** Runs it. */
    public static void main(String[] args) {
        run(args, System.out);
    }

    static void run(String[] args, PrintStream out) {
        try {
            measure(args, out);
        } catch (IOException e) {
            out.println(FAILED + e.getMessage());
        } catch (UncheckedIOException e) {
            out.println(FAILED + e.getCause().getMessage());
        }
    }

    private static void measure(String[] args, PrintStream out) throws IOException {
        Client client = new Client(Integer.parseInt(args[0]), Mix.of(args[1]));
        double rate = Double.parseDouble(args[2]);
        SplittableRandom random = new SplittableRandom(Long.parseLong(args[5]));
        client.run(rate, Double.parseDouble(args[3]), false, random);
        out.println("begin");
        double took = client.run(rate, Double.parseDouble(args[4]), true, random);
        out.println("end");
        Histogram h = client.shorts;
        out.println(h.getValueAtPercentile(50) + " " + h.getValueAtPercentile(90) + " " + h.getValueAtPercentile(99)
                + " " + h.getValueAtPercentile(99.9) + " " + h.getMaxValue() + " "
                + (client.longs.getTotalCount() == 0 ? 0 : client.longs.getValueAtPercentile(50)) + " "
                + (h.getTotalCount() + client.longs.getTotalCount()) / took);
    }

    /** Sends for so long, and waits for all answers; how many seconds that took. */
    private double run(double rate, double seconds, boolean counts, SplittableRandom random) throws IOException {
        long begin = System.nanoTime();
        long end = begin + (long) (seconds * 1e9);
        long next = begin;
        while (next < end || open > 0) {
            long now = System.nanoTime();
            while (next <= now && next < end) {
                open++;
                waiting.add(new Request(next, mix.next(random), counts));
                if (waiting.size() > MOST_WAITING) {
                    throw behind();
                }
                next += (long) (random.nextExponential() * 1e9 / rate);
            }
            while (!waiting.isEmpty() && !idle.isEmpty()) {
                send(idle.poll(), waiting.poll());
            }
            selector.selectNow(this::receive); // It never sleeps: its wake-up would count.
            if (now - end > GIVE_UP_NANOS) {
                throw behind();
            }
        }
        return (System.nanoTime() - begin) / 1e9;
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
