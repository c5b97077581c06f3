// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * Sends one HTTP/1.1 request again and again on kept-alive connections.
 *
 * <p>{@link #open} is an open loop: requests become due as a Poisson process has them arrive, whatever the service does, and one that finds
 * no free connection waits for one. {@link #closed} has each connection send as soon as it has its answer.
 *
 * <p>A connection that the service closes is opened again for the next request. If it breaks under a request before a byte of the
 * answer has come, the service may have closed it while the request was on its way: then the request is sent once more.
 *
 * <p>For one thread, but for {@link #stop}.
 */
final class HttpLoad implements AutoCloseable {
    /** Nearer to the next request than this the thread does not sleep: its wake-up would make the request late. */
    private static final long AWAKE_NANOS = 100_000;
    private static final long MOST_SLEEP_MILLIS = 50;
    private static final long PATIENCE_NANOS = 10_000_000_000L;
    private static final int BUFFER = 64 << 10;
    private static final int MOST_WAITING = 1 << 20;
    private static final int FEW_WAITING = 1 << 10;

    private final InetSocketAddress address;
    private final ByteBuffer request;
    private Answers answers;
    private final Selector selector = Selector.open();
    private final Alarm alarm = new Alarm(selector);
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER);
    private final List<Connection> connections = new ArrayList<>();
    /** Connections that can take a request: open ones, and closed ones that are opened for it. */
    private final ArrayDeque<Connection> idle = new ArrayDeque<>();
    private final Consumer<SelectionKey> ready = this::ready;

    /** When the requests became due that wait for a connection: a ring. */
    private long[] waiting = new long[FEW_WAITING];
    private int head;
    private int queued;
    /** Requests that are due and have no answer. */
    private int open;
    private long reopened;
    private IOException failure;
    private volatile boolean stopped;

    private static final class Connection {
        final HttpParser parser = new HttpParser();
        /** Null while it is closed. */
        SocketChannel channel;
        /** Whether it has a request that is to be answered. */
        boolean busy;
        long due;
        /** Whether the request was sent before, on a connection that broke. */
        boolean again;
        /** Whether a request was answered on it since it was opened. */
        boolean used;
    }

    HttpLoad(InetSocketAddress address, byte[] request, int connections, Answers answers) throws IOException {
        this.address = address;
        this.request = ByteBuffer.allocateDirect(request.length).put(request).flip();
        this.answers = answers;
        for (int i = 0; i < connections; i++) {
            Connection c = new Connection();
            this.connections.add(c);
            connect(c);
        }
    }

    /** Returns how often a connection was opened again. */
    long reopened() {
        return reopened;
    }

    /** Ends what runs, soon; from any thread. */
    void stop() {
        stopped = true;
        selector.wakeup();
    }

    @Override
    public void close() throws IOException {
        alarm.close();
        for (Connection c : connections) {
            if (c.channel != null) {
                c.channel.close();
            }
        }
        selector.close();
    }

    /** Sends so many requests a second between two times by nanoTime. Returns when all are answered, or have waited for long. */
    void open(double rate, long begin, long end, SplittableRandom random) throws IOException {
        double gap = 1e9 / rate;
        long next = begin + (long) (random.nextExponential() * gap);
        while (!stopped) {
            long now = System.nanoTime();
            while (next - now <= 0 && next - end < 0) {
                enqueue(next, now);
                next += (long) (random.nextExponential() * gap);
            }
            pump();
            boolean over = next - end >= 0;
            if (over && (open == 0 || now - end > PATIENCE_NANOS)) {
                break;
            }
            await(over ? end + PATIENCE_NANOS : next);
        }
        giveUp();
    }

    /**
     * Sends requests one after the other on each connection for so long, at least one, and reports them to {@code counting}.
     *
     * @return the nanoseconds until the last was answered
     */
    long closed(long nanos, Answers counting) throws IOException {
        answers = counting;
        long begin = System.nanoTime();
        long end = begin + nanos;
        long now = begin;
        while (!stopped && (now - end < 0 || open > 0) && now - end < PATIENCE_NANOS) {
            while (!idle.isEmpty() && now - end < 0) {
                open++;
                send(idle.poll(), now);
            }
            await(now + PATIENCE_NANOS);
            now = System.nanoTime();
        }
        giveUp();
        return now - begin;
    }

    /** Counts all requests without an answer as broken. */
    private void giveUp() throws IOException {
        long now = System.nanoTime();
        for (; queued > 0; queued--) {
            broken(waiting[head++ & waiting.length - 1], now);
        }
        for (Connection c : connections) {
            if (c.busy) {
                c.busy = false;
                broken(c.due, now);
                disconnect(c);
                idle.add(c);
            }
        }
    }

    private void enqueue(long due, long now) throws IOException {
        if (queued == waiting.length) {
            if (queued == MOST_WAITING) {
                throw new IOException("falls behind: " + open + " requests are not answered");
            }
            long[] more = Arrays.copyOf(waiting, 2 * queued);
            for (int i = 0; i < queued; i++) {
                more[i] = waiting[head + i & waiting.length - 1];
            }
            waiting = more;
            head = 0;
        }
        waiting[head + queued++ & waiting.length - 1] = due;
        open++;
        answers.sent(due, now);
    }

    private void pump() throws IOException {
        while (queued > 0 && !idle.isEmpty()) {
            long due = waiting[head & waiting.length - 1];
            head++;
            queued--;
            send(idle.poll(), due);
        }
    }

    /** Waits until there is something to read, or a time by nanoTime is near. */
    private void await(long time) throws IOException {
        if (time - System.nanoTime() <= AWAKE_NANOS) {
            selector.selectNow(ready);
        } else {
            alarm.set(time - AWAKE_NANOS);
            selector.select(ready, MOST_SLEEP_MILLIS);
        }
        if (failure != null) {
            throw failure;
        }
    }

    // ---- connections

    private void connect(Connection c) throws IOException {
        c.parser.reset();
        c.used = false;
        c.channel = SocketChannel.open();
        c.channel.configureBlocking(false);
        c.channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        try {
            if (c.channel.connect(address)) {
                c.channel.register(selector, SelectionKey.OP_READ, c);
                connected(c);
            } else {
                c.channel.register(selector, SelectionKey.OP_CONNECT, c);
            }
        } catch (IOException e) {
            broke(c);
        }
    }

    private void connected(Connection c) throws IOException {
        if (c.busy) {
            write(c);
        } else {
            idle.add(c);
        }
    }

    private static void disconnect(Connection c) throws IOException {
        c.channel.close();
        c.channel = null;
    }

    private void send(Connection c, long due) throws IOException {
        c.busy = true;
        c.again = false;
        c.due = due;
        if (c.channel == null) {
            reopened++;
            connect(c);
        } else {
            write(c);
        }
    }

    private void write(Connection c) throws IOException {
        request.rewind();
        try {
            while (request.hasRemaining()) { // It fits: the connection has no other request under way.
                c.channel.write(request);
            }
        } catch (IOException e) {
            broke(c);
        }
    }

    private void ready(SelectionKey key) {
        Connection c = (Connection) key.attachment();
        try {
            if (key.isConnectable()) {
                finishConnect(c, key);
            } else {
                read(c);
            }
        } catch (IOException e) {
            failure = e;
        }
    }

    private void finishConnect(Connection c, SelectionKey key) throws IOException {
        try {
            c.channel.finishConnect();
        } catch (IOException e) {
            broke(c);
            return;
        }
        key.interestOps(SelectionKey.OP_READ);
        connected(c);
    }

    private void read(Connection c) throws IOException {
        int n;
        in.clear();
        try {
            n = c.channel.read(in);
        } catch (IOException e) {
            broke(c);
            return;
        }
        if (n < 0) {
            if (c.busy && c.parser.end()) {
                answered(c, true);
            } else {
                broke(c);
            }
            return;
        }
        in.flip();
        if (c.busy && c.parser.take(in)) {
            answered(c, c.parser.isLast());
        }
        if (in.hasRemaining()) {
            throw new IOException("sends more than one answer to a request");
        }
    }

    private void answered(Connection c, boolean last) throws IOException {
        c.busy = false;
        c.used = true;
        open--;
        answers.answered(c.due, System.nanoTime(), c.parser.status(), c.parser.length());
        if (last) {
            disconnect(c);
        }
        idle.add(c);
    }

    /** Notes that the connection has ended or could not be opened. */
    private void broke(Connection c) throws IOException {
        boolean kept = c.used && !c.parser.hasBegun();
        disconnect(c);
        if (!c.busy) {
            if (!idle.contains(c)) { // It was being opened.
                idle.add(c);
            }
        } else if (kept && !c.again) {
            c.again = true;
            reopened++;
            connect(c);
        } else {
            c.busy = false;
            broken(c.due, System.nanoTime());
            idle.add(c);
        }
    }

    private void broken(long due, long now) {
        open--;
        answers.broken(due, now);
    }
}
