// ./gmp run bench/examples/Resp.java [PORT]
// A server that speaks Redis' protocol, on org.gmp4j.net: a goroutine a connection; requests in a row are answered in one
// write. GET SET DEL INCR EXPIRE MGET MSET PING INFO, for redis-cli and redis-benchmark. Ends at SIGTERM, when its
// connections have. Without a port it checks itself, on 1, 2 and 8 Ps.

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

import org.gmp4j.Gmp;
import org.gmp4j.net.TcpConn;
import org.gmp4j.net.TcpListener;
import org.gmp4j.sync.WaitGroup;

public class Resp {
    private static final int MOST_ARGS = 1024;
    private static final int MOST_REQUEST = 1 << 20; // So much memory a connection takes at most, and as much for answers.
    private static final int FIRST_BUFFER = 4 << 10;

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            serve(Integer.parseInt(args[0]));
            return;
        }
        for (int procs : new int[] {1, 2, 8}) {
            long start = System.nanoTime();
            boolean right;
            try (Gmp gmp = Gmp.builder().procs(procs).build()) {
                right = gmp.call(Resp::check);
            }
            System.out.printf("%d Ps: as asked (%s), %.1f s%n", procs, right ? "right" : "WRONG",
                    (System.nanoTime() - start) / 1e9);
            if (!right) {
                System.exit(1);
            }
        }
    }

    private static void serve(int port) throws Exception {
        TcpListener listener = TcpListener.listen(":" + port);
        Resp server = new Resp();
        CountDownLatch over = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            listener.close();
            server.connections.forEach(Resp::end);
            try {
                over.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        try (Gmp gmp = Gmp.builder().build()) {
            System.out.println("ready on " + listener.addr().getPort());
            gmp.go(() -> server.accept(listener));
        } finally {
            over.countDown();
        }
    }

    /** Whoever reads a request just now is told that there is no more; an answer is still written. */
    private static void end(TcpConn c) {
        try {
            c.closeRead();
        } catch (IOException gone) {
            return;
        }
    }

    // The store

    private record Value(byte[] bytes, long expires) {
        boolean lives(long now) {
            return expires == 0 || now < expires;
        }
    }

    /** Keys and values are bytes; as a string of so many characters a key has equals and hashCode. */
    private final Map<String, Value> store = new ConcurrentHashMap<>();
    private final Set<TcpConn> connections = ConcurrentHashMap.newKeySet();

    private byte[] get(String key) {
        Value v = store.get(key);
        return v == null || !v.lives(System.currentTimeMillis()) ? null : v.bytes;
    }

    private long incr(String key) {
        return Long.parseLong(text(store.merge(key, new Value(bytes("1"), 0), (old, one) -> {
            if (!old.lives(System.currentTimeMillis())) {
                return one;
            }
            return new Value(bytes(Long.toString(Math.addExact(Long.parseLong(text(old.bytes)), 1))), old.expires);
        }).bytes));
    }

    private boolean expire(String key, long seconds) {
        long now = System.currentTimeMillis();
        return store.computeIfPresent(key,
                (k, v) -> !v.lives(now) ? null : new Value(v.bytes, now + seconds * 1000)) != null;
    }

    private static byte[] bytes(String s) {
        return s.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String text(byte[] b) {
        return new String(b, StandardCharsets.ISO_8859_1);
    }

    // A connection

    private void accept(TcpListener listener) {
        try {
            listener.serve(c -> {
                connections.add(c);
                try (c) {
                    new Session(c).run();
                } catch (IOException gone) {
                    return; // The client; others are not concerned.
                } finally {
                    connections.remove(c);
                }
            });
        } catch (IOException e) {
            System.err.println(e);
        }
    }

    /** What the protocol does not allow. */
    private static final class Rubbish extends Exception {
        private static final long serialVersionUID = 1;

        Rubbish(String message) {
            super(message, null, false, false);
        }
    }

    private final class Session {
        private final TcpConn conn;
        private byte[] in = new byte[FIRST_BUFFER];
        private int at;
        private int end;
        private byte[] out = new byte[FIRST_BUFFER];
        private int filled;
        private final byte[][] args = new byte[MOST_ARGS][];
        private int n;

        Session(TcpConn conn) {
            this.conn = conn;
        }

        void run() throws IOException {
            try {
                while (request()) {
                    command();
                }
            } catch (Rubbish e) {
                put("-ERR Protocol error: " + e.getMessage() + "\r\n");
            }
            flush();
        }

        // Requests: *2\r\n$3\r\nGET\r\n$1\r\nk\r\n, or words in a line.

        /** False at the end of what the client sends. */
        private boolean request() throws IOException, Rubbish {
            int start = at;
            for (;;) {
                int was = at;
                if (parsed()) {
                    return n > 0 || request();
                }
                at = was;
                if (at > 0) {
                    System.arraycopy(in, at, in, 0, end - at);
                    end -= at;
                    at = 0;
                } else if (end == in.length) {
                    if (in.length >= MOST_REQUEST) {
                        throw new Rubbish("too big a request");
                    }
                    in = Arrays.copyOf(in, 2 * in.length);
                }
                flush(); // All that was asked for is answered before we wait.
                int got = conn.read(in, end, in.length - end);
                if (got < 0) {
                    return false;
                }
                end += got;
            }
        }

        /** Whether a whole request was there; it is in args then. */
        private boolean parsed() throws Rubbish {
            int eol = line();
            if (eol < 0) {
                return false;
            }
            n = 0;
            if (in[at] != '*') {
                for (String word : new String(in, at, eol - at, StandardCharsets.ISO_8859_1).strip().split(" +")) {
                    if (!word.isEmpty() && n < MOST_ARGS) {
                        args[n++] = bytes(word);
                    }
                }
                at = eol + 2;
                return true;
            }
            int count = number(at + 1, eol, MOST_ARGS, "invalid multibulk length");
            at = eol + 2;
            for (int i = 0; i < count; i++) {
                eol = line();
                if (eol < 0) {
                    return false;
                }
                if (in[at] != '$') {
                    throw new Rubbish("expected '$'");
                }
                int length = number(at + 1, eol, MOST_REQUEST, "invalid bulk length");
                at = eol + 2;
                if (end - at < length + 2) {
                    return false;
                }
                args[n++] = Arrays.copyOfRange(in, at, at + length);
                at += length + 2;
            }
            return true;
        }

        /** Where the line ends that begins here; -1 when its end is not there yet. */
        private int line() {
            for (int i = at; i + 1 < end; i++) {
                if (in[i] == '\r' && in[i + 1] == '\n') {
                    return i;
                }
            }
            return -1;
        }

        private int number(int from, int to, int most, String what) throws Rubbish {
            int v = 0;
            for (int i = from; i < to; i++) {
                int digit = in[i] - '0';
                v = digit < 0 || digit > 9 ? most + 1 : Math.min(10 * v + digit, most + 1);
            }
            if (v > most || from == to) {
                throw new Rubbish(what);
            }
            return v;
        }

        // Commands

        private void command() throws IOException {
            String name = text(args[0]).toUpperCase(Locale.ROOT);
            try {
                switch (name) {
                    case "PING" -> answer(n > 1 ? args[1] : null, "+PONG\r\n");
                    case "GET" -> bulk(get(key(1, 2)));
                    case "SET" -> {
                        store.put(key(1, 3), new Value(args[2], 0));
                        put("+OK\r\n");
                    }
                    case "DEL" -> {
                        int gone = 0;
                        for (int i = 1; i < n; i++) {
                            Value v = store.remove(text(args[i]));
                            gone += v != null && v.lives(System.currentTimeMillis()) ? 1 : 0;
                        }
                        put(":" + gone + "\r\n");
                    }
                    case "INCR" -> put(":" + incr(key(1, 2)) + "\r\n");
                    case "EXPIRE" -> put(expire(key(1, 3), Long.parseLong(text(args[2]))) ? ":1\r\n" : ":0\r\n");
                    case "MGET" -> {
                        put("*" + (n - 1) + "\r\n");
                        for (int i = 1; i < n; i++) {
                            bulk(get(text(args[i])));
                        }
                    }
                    case "MSET" -> {
                        if (n % 2 == 0 || n < 3) {
                            throw new IllegalArgumentException("wrong number of arguments for 'mset' command");
                        }
                        for (int i = 1; i < n; i += 2) {
                            store.put(text(args[i]), new Value(args[i + 1], 0));
                        }
                        put("+OK\r\n");
                    }
                    case "INFO" -> bulk(bytes("# Server\r\nredis_version:7.0.0\r\n# Clients\r\nconnected_clients:"
                            + connections.size() + "\r\n# Keyspace\r\ndb0:keys=" + store.size() + "\r\n"));
                    case "CONFIG", "COMMAND" -> put("*0\r\n"); // What redis-cli and redis-benchmark ask first.
                    default -> throw new IllegalArgumentException("unknown command '" + name + "'");
                }
            } catch (NumberFormatException | ArithmeticException e) {
                put("-ERR value is not an integer or out of range\r\n");
            } catch (IllegalArgumentException e) {
                put("-ERR " + e.getMessage().replaceAll("[\r\n]", " ") + "\r\n");
            }
        }

        /** An argument of a command that has so many, itself among them. */
        private String key(int i, int wanted) {
            if (n != wanted) {
                throw new IllegalArgumentException(
                        "wrong number of arguments for '" + text(args[0]).toLowerCase(Locale.ROOT) + "' command");
            }
            return text(args[i]);
        }

        // Answers

        private void answer(byte[] b, String otherwise) throws IOException {
            if (b == null) {
                put(otherwise);
            } else {
                bulk(b);
            }
        }

        private void bulk(byte[] b) throws IOException {
            if (b == null) {
                put("$-1\r\n");
                return;
            }
            put("$" + b.length + "\r\n");
            put(b);
            put("\r\n");
        }

        private void put(String s) throws IOException {
            put(bytes(s));
        }

        private void put(byte[] b) throws IOException {
            if (filled + b.length > out.length && filled + b.length <= MOST_REQUEST) {
                out = Arrays.copyOf(out, Math.max(2 * out.length, filled + b.length));
            }
            if (filled + b.length > out.length) {
                flush();
                if (b.length > out.length) {
                    conn.write(b, 0, b.length);
                    return;
                }
            }
            System.arraycopy(b, 0, out, filled, b.length);
            filled += b.length;
        }

        private void flush() throws IOException {
            if (filled > 0) {
                int bytes = filled;
                filled = 0;
                conn.write(out, 0, bytes);
            }
        }
    }

    // The check: clients at once, requests in a row, rubbish among them

    private static boolean check() throws Exception {
        Resp server = new Resp();
        TcpListener listener = TcpListener.listen("127.0.0.1:0");
        WaitGroup all = new WaitGroup();
        all.go(() -> server.accept(listener));
        String address = "127.0.0.1:" + listener.addr().getPort();
        int clients = 20;
        int requests = 200;
        boolean[] right = new boolean[clients];
        WaitGroup asking = new WaitGroup();
        for (int i = 0; i < clients; i++) {
            int client = i;
            asking.go(() -> {
                try {
                    right[client] = client % 5 == 4 ? rubbish(address, "k" + client) : ask(address, requests);
                } catch (IOException e) {
                    System.err.println(e);
                }
            });
        }
        asking.await();
        boolean allRight = asks(address, "*2\r\n$3\r\nGET\r\n$1\r\nn\r\n", "$4\r\n" + clients * 4 / 5 * requests + "\r\n");
        for (boolean b : right) {
            allRight &= b;
        }
        listener.close();
        all.await();
        return allRight;
    }

    private static boolean ask(String address, int requests) throws IOException {
        String incr = "*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n";
        try (TcpConn c = TcpConn.dial(address)) {
            byte[] some = bytes(incr.repeat(requests));
            c.write(some, 0, some.length);
            c.closeWrite();
            String answers = text(c.inputStream().readAllBytes());
            return answers.split("\r\n").length == requests && answers.startsWith(":");
        }
    }

    /** Others do the same just now, with keys of their own. */
    private static boolean rubbish(String address, String key) throws IOException {
        return asks(address, "*1\r\n$999999999999\r\n", "-ERR Protocol error: invalid bulk length\r\n")
                && asks(address,
                        "\r\nPING\r\nset k v\r\nget k\r\nnone\r\nexpire k 0\r\nget k\r\ndel k\r\nincr\r\n".replace("k", key),
                        "+PONG\r\n+OK\r\n$1\r\nv\r\n-ERR unknown command 'NONE'\r\n:1\r\n$-1\r\n:0\r\n"
                                + "-ERR wrong number of arguments for 'incr' command\r\n")
                && asks(address, "mset a 1 b 2\r\nmget a b c\r\nmset a\r\n",
                        "+OK\r\n*3\r\n$1\r\n1\r\n$1\r\n2\r\n$-1\r\n-ERR wrong number of arguments for 'mset' command\r\n");
    }

    private static boolean asks(String address, String request, String answer) throws IOException {
        try (TcpConn c = TcpConn.dial(address)) {
            byte[] b = bytes(request);
            c.write(b, 0, b.length);
            c.closeWrite();
            String got = text(c.inputStream().readAllBytes());
            if (!got.equals(answer)) {
                System.err.printf("asked %s, answered %s instead of %s%n", request, got, answer);
            }
            return got.equals(answer);
        }
    }
}
