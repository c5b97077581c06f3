// SPDX-License-Identifier: Apache-2.0
package resp;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A connection and what it is asked for. One goroutine runs it; from the first SUBSCRIBE on another one writes what is in
 * the {@link Outbox}, answers and messages in their order.
 */
final class Session {
    private static final int MOST_CHANNELS = 1024;
    private static final byte[] OK = Reply.line("+OK");
    private static final byte[] PONG = Reply.line("+PONG");
    private static final byte[] EMPTY = {};

    private final Server server;
    private final Connection conn;
    private final Request request = new Request();
    private final Reply reply = new Reply(this::write);
    /** Its channels, and the length of their names. */
    private final Set<Bytes> channels = new LinkedHashSet<>();
    private int channelBytes;
    /** Null until the first SUBSCRIBE. */
    private Outbox outbox;

    Session(Server server, Connection conn) {
        this.server = server;
        this.conn = conn;
    }

    /** Answers until the client ends, or has sent rubbish. */
    void run() throws IOException {
        boolean more = false;
        try {
            more = answer();
        } finally {
            if (outbox != null) {
                server.hub.change(() -> channels.forEach(c -> server.hub.remove(c, this)));
                outbox.close();
            }
        }
        if (more) {
            conn.linger(); // All is written by now.
        }
    }

    /** Whether the client may send more, though it ends here. */
    private boolean answer() throws IOException {
        try {
            for (;;) {
                while (request.next()) {
                    if (!command()) {
                        reply.flush();
                        return false;
                    }
                }
                reply.flush(); // All that was asked for is answered before this waits.
                if (!request.read(conn)) {
                    return false;
                }
            }
        } catch (Rubbish e) {
            reply.error("Protocol error: " + e.getMessage());
            reply.flush();
            return true;
        }
    }

    // Where answers and messages go

    private void write(byte[] from, int offset, int length) throws IOException {
        if (outbox == null) {
            conn.write(from, offset, length);
        } else if (!outbox.offer(Arrays.copyOfRange(from, offset, offset + length))) {
            conn.close(); // Before anybody waits for what cannot be sent.
            throw new IOException("the client does not read its answers");
        }
    }

    /** Takes a message for the client; false when there is no room. Under the hub's lock. */
    boolean offer(byte[] message) {
        return outbox.offer(message);
    }

    void close() {
        conn.close();
    }

    // Commands

    /** False when it was the last. */
    private boolean command() throws IOException {
        request.capitalise();
        Command c = Command.of(request.view(0));
        int n = request.args();
        if (c == null) {
            reply.error("unknown command '" + request.text(0) + "'");
        } else if (!c.takes(n)) {
            reply.error("wrong number of arguments for '" + name(c) + "' command");
        } else if (!channels.isEmpty() && !c.besideMessages()) {
            reply.error("Can't execute '" + name(c)
                    + "': only SUBSCRIBE / UNSUBSCRIBE / PING / QUIT are allowed in this context");
        } else {
            try {
                perform(c, n);
            } catch (NumberFormatException | ArithmeticException e) {
                reply.error("value is not an integer or out of range");
            }
        }
        return c != Command.QUIT;
    }

    private static String name(Command c) {
        return c.name().toLowerCase(Locale.ROOT);
    }

    private void perform(Command c, int n) throws IOException {
        Store store = server.store;
        switch (c) {
            case PING -> ping(n);
            case ECHO -> argument(reply, 1);
            case GET -> reply.bulk(store.get(request.view(1)));
            case SET -> {
                store.set(request.view(1), request.copy(2));
                reply.put(OK);
            }
            case DEL -> {
                int gone = 0;
                for (int i = 1; i < n; i++) {
                    gone += store.delete(request.view(i)) ? 1 : 0;
                }
                reply.number(gone);
            }
            case INCR -> reply.number(store.increment(request.view(1)));
            case EXPIRE -> reply.number(store.expire(request.view(1), request.number(2)) ? 1 : 0);
            case MGET -> {
                reply.array(n - 1);
                for (int i = 1; i < n; i++) {
                    reply.bulk(store.get(request.view(i)));
                }
            }
            case MSET -> {
                for (int i = 1; i < n; i += 2) {
                    store.set(request.view(i), request.copy(i + 1));
                }
                reply.put(OK);
            }
            case SUBSCRIBE -> subscribe(n);
            case UNSUBSCRIBE -> unsubscribe(n);
            case PUBLISH -> reply.number(server.hub.publish(request.view(1), message()));
            case INFO -> reply.bulk(Bytes.of(server.info()).array());
            case QUIT -> reply.put(OK);
            case CONFIG -> config(n);
            case COMMAND -> reply.array(0);
        }
    }

    /** That nothing is written to a disk, for redis-benchmark; nothing else can be asked for. */
    private void config(int n) throws IOException {
        String value = n != 3 ? null : switch (request.text(2)) {
            case "save" -> "";
            case "appendonly" -> "no";
            default -> null;
        };
        if (value == null) {
            reply.array(0);
        } else {
            reply.array(2);
            argument(reply, 2);
            reply.bulk(Bytes.of(value).array());
        }
    }

    private void argument(Reply to, int i) throws IOException {
        to.bulk(request.buffer(), request.from(i), request.to(i));
    }

    private void ping(int n) throws IOException {
        if (!channels.isEmpty()) {
            reply.array(2);
            reply.bulk(Bytes.of("pong").array());
            if (n == 1) {
                reply.bulk(EMPTY);
            } else {
                argument(reply, 1);
            }
        } else if (n == 1) {
            reply.put(PONG);
        } else {
            argument(reply, 1);
        }
    }

    // Channels

    private void subscribe(int n) throws IOException {
        int bytes = channelBytes;
        for (int i = 1; i < n; i++) {
            bytes += request.to(i) - request.from(i);
        }
        if (channels.size() + n - 1 > MOST_CHANNELS || bytes > Request.MOST_BYTES) {
            reply.error("too many channels");
            return;
        }
        if (outbox == null) {
            reply.flush(); // Before another writes.
            outbox = new Outbox(conn);
        }
        server.hub.change(() -> {
            for (int i = 1; i < n; i++) {
                Bytes channel = request.view(i).copy();
                if (channels.add(channel)) {
                    channelBytes += channel.length();
                    server.hub.add(channel, this);
                }
                told("subscribe", channel);
            }
            reply.flush();
        });
    }

    private void unsubscribe(int n) throws IOException {
        List<Bytes> wanted = new ArrayList<>(n == 1 ? channels : List.of());
        for (int i = 1; i < n; i++) {
            wanted.add(request.view(i).copy());
        }
        if (wanted.isEmpty()) {
            told("unsubscribe", null);
        } else if (channels.isEmpty()) {
            for (Bytes channel : wanted) {
                told("unsubscribe", channel);
            }
        } else {
            server.hub.change(() -> {
                for (Bytes channel : wanted) {
                    if (channels.remove(channel)) {
                        channelBytes -= channel.length();
                        server.hub.remove(channel, this);
                    }
                    told("unsubscribe", channel);
                }
                reply.flush();
            });
        }
    }

    /** Under the hub's lock where the channel is one of its own. */
    private void told(String what, Bytes channel) throws IOException {
        reply.array(3);
        reply.bulk(Bytes.of(what).array());
        reply.bulk(channel == null ? null : channel.array());
        reply.number(channels.size());
    }

    /** As its subscribers get it. */
    private byte[] message() throws IOException {
        ByteArrayOutputStream b = new ByteArrayOutputStream();
        Reply message = new Reply(b::write);
        message.array(3);
        message.bulk(Bytes.of("message").array());
        argument(message, 1);
        argument(message, 2);
        message.flush();
        return b.toByteArray();
    }
}
