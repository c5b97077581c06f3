// SPDX-License-Identifier: Apache-2.0
package resp;

import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;

import org.gmp4j.Gmp;
import org.gmp4j.net.TcpConn;
import org.gmp4j.sync.WaitGroup;

/** Clients at once, requests in a row, rubbish and spoilt ones among them, messages, and one that does not read its own. */
final class Check {
    private static final int CLIENTS = 20;
    private static final int REQUESTS = 200;
    private static final int MESSAGES = 200;
    private static final int LARGE = 100_000;
    private static final int SPOILT = 150;

    private final String address;

    private Check(int port) {
        address = "127.0.0.1:" + port;
    }

    static void all() throws Exception {
        boolean right = true;
        for (String transport : new String[] {"net", "socket"}) {
            for (int procs : new int[] {1, 2, 8}) {
                try (Gmp gmp = Gmp.builder().procs(procs).build()) {
                    right &= told(transport + ", " + procs + " Ps", gmp.call(() -> check(transport)));
                }
            }
            boolean[] jdk = new boolean[1];
            Thread.startVirtualThread(() -> jdk[0] = check(transport)).join();
            right &= told(transport + ", the JDK's scheduler", jdk[0]);
        }
        if (!right) {
            System.exit(1);
        }
    }

    private static boolean told(String what, boolean right) {
        System.out.println(what + ": as asked (" + (right ? "right" : "WRONG") + ")");
        return right;
    }

    private static boolean check(String transport) {
        try {
            Server server = new Server(Resp.listen(transport, 0));
            WaitGroup over = new WaitGroup();
            over.add(1);
            Resp.start(() -> {
                server.run();
                over.done();
            });
            Check c = new Check(server.port());
            boolean right = c.commands() && c.fuzzed() && c.messages() && c.slow();
            TcpConn idle = TcpConn.dial(c.address);
            right &= c.end(idle, server);
            over.await(); // With a client that is still there.
            idle.close();
            return right;
        } catch (IOException e) {
            System.err.println(e);
            return false;
        }
    }

    // Commands

    private boolean commands() throws IOException {
        boolean[] right = new boolean[CLIENTS];
        WaitGroup asking = new WaitGroup();
        for (int i = 0; i < CLIENTS; i++) {
            int client = i;
            asking.add(1);
            Resp.start(() -> {
                try {
                    right[client] = client % 5 == 4 ? rubbish("k" + client) : increments();
                } catch (IOException e) {
                    System.err.println(e);
                }
                asking.done();
            });
        }
        asking.await();
        boolean all = asks("*2\r\n$3\r\nGET\r\n$1\r\nn\r\n", "$4\r\n" + CLIENTS * 4 / 5 * REQUESTS + "\r\n");
        for (boolean b : right) {
            all &= b;
        }
        return all;
    }

    private boolean increments() throws IOException {
        try (TcpConn c = TcpConn.dial(address)) {
            write(c, "*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n".repeat(REQUESTS));
            c.closeWrite();
            String answers = rest(c);
            return answers.split("\r\n").length == REQUESTS && answers.startsWith(":");
        }
    }

    /** Others do the same just now, with keys of their own. */
    private boolean rubbish(String key) throws IOException {
        return asks("*1\r\n$999999999999\r\n" + "x".repeat(LARGE), "-ERR Protocol error: invalid bulk length\r\n")
                && asks("x".repeat(LARGE), "-ERR Protocol error: too big inline request\r\n")
                && asks("*2\r\n$3\r\nGET\r\n:1\r\n", "-ERR Protocol error: expected '$'\r\n")
                && asks("*9999\r\n", "-ERR Protocol error: invalid multibulk length\r\n")
                && asks("subscribe c\r\n*1\r\nx\r\n", subscribed("subscribe", "c", 1) + "-ERR Protocol error: expected '$'\r\n")
                && asks("*2\r\n$3\r\nGE", "")
                && asks("\r\nPING\r\nset k v\r\nget k\r\nnone\r\nexpire k 0\r\nget k\r\ndel k\r\nincr\r\n".replace("k", key),
                        "+PONG\r\n+OK\r\n$1\r\nv\r\n-ERR unknown command 'NONE'\r\n:1\r\n$-1\r\n:0\r\n"
                                + "-ERR wrong number of arguments for 'incr' command\r\n")
                && asks("set k x\r\nincr k\r\nset k 9223372036854775807\r\nincr k\r\nset k -1\r\nincr k\r\n".replace("k", key),
                        "+OK\r\n-ERR value is not an integer or out of range\r\n+OK\r\n"
                                + "-ERR value is not an integer or out of range\r\n+OK\r\n:0\r\n")
                && asks("mset a 1 b 2\r\nmget a b c\r\nmset a\r\nquit\r\nget a\r\n",
                        "+OK\r\n*3\r\n$1\r\n1\r\n$1\r\n2\r\n$-1\r\n-ERR wrong number of arguments for 'mset' command\r\n+OK\r\n");
    }

    /** Requests that are cut off or changed at random: each connection comes to its end, and another client is served. */
    private boolean fuzzed() throws IOException {
        String requests = "*3\r\n$3\r\nSET\r\n$1\r\nf\r\n$2\r\n12\r\nping\r\n"
                + "*2\r\n$3\r\nGET\r\n$1\r\nf\r\n*2\r\n$4\r\nINCR\r\n$1\r\nf\r\n";
        for (int seed = 0; seed < SPOILT; seed++) {
            Random random = new Random(seed);
            byte[] b = requests.getBytes(StandardCharsets.ISO_8859_1);
            for (int i = random.nextInt(4); i > 0; i--) {
                b[random.nextInt(b.length)] = (byte) random.nextInt(256);
            }
            try (TcpConn c = TcpConn.dial(address)) {
                c.write(b, 0, 1 + random.nextInt(b.length));
                if (random.nextInt(4) == 0) {
                    c.setLinger(0); // A reset, wherever the server is.
                    continue;
                }
                c.closeWrite();
                c.setReadDeadlineAfter(Duration.ofMinutes(1)); // Later than that it is never closed.
                rest(c);
            } catch (SocketException closed) { // With bytes unread.
                continue;
            }
        }
        return asks("set fuzzed 1\r\nincr fuzzed\r\n", "+OK\r\n:2\r\n");
    }

    // Messages

    /** Two that have subscribed; all messages come, in their order, to the one that stays. */
    private boolean messages() throws IOException {
        try (TcpConn one = TcpConn.dial(address); TcpConn other = TcpConn.dial(address); TcpConn from = TcpConn.dial(address)) {
            boolean right = exchange(one, "subscribe a b\r\n", subscribed("subscribe", "a", 1) + subscribed("subscribe", "b", 2))
                    && exchange(other, "subscribe a\r\n", subscribed("subscribe", "a", 1))
                    && exchange(other, "get a\r\nping\r\n", "-ERR Can't execute 'get': only SUBSCRIBE / UNSUBSCRIBE / PING / QUIT"
                            + " are allowed in this context\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n")
                    && exchange(from, "publish a x\r\npublish b y\r\npublish none z\r\n", ":2\r\n:1\r\n:0\r\n")
                    && exchange(one, "", message("a", "x") + message("b", "y"))
                    && exchange(other, "unsubscribe\r\nget none\r\n",
                            message("a", "x") + subscribed("unsubscribe", "a", 0) + "$-1\r\n");
            StringBuilder requests = new StringBuilder();
            StringBuilder expected = new StringBuilder();
            for (int i = 0; i < MESSAGES; i++) {
                requests.append("publish a ").append(i).append("\r\n");
                expected.append(message("a", "" + i));
            }
            return right && exchange(from, requests.toString(), ":1\r\n".repeat(MESSAGES))
                    && exchange(one, "", expected.toString())
                    && exchange(other, "unsubscribe a\r\nunsubscribe\r\n",
                            subscribed("unsubscribe", "a", 0) + "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n");
        }
    }

    /** A subscriber that reads nothing is closed, after the kernel's buffers and its own are full; others get all. */
    private boolean slow() throws IOException {
        try (TcpConn slow = TcpConn.dial(address); TcpConn quick = TcpConn.dial(address); TcpConn from = TcpConn.dial(address)) {
            slow.setReadBuffer(4096);
            String told = subscribed("subscribe", "s", 1);
            boolean right = exchange(slow, "subscribe s\r\n", told) && exchange(quick, "subscribe s\r\n", told);
            String large = "x".repeat(LARGE);
            int subscribers = 2;
            for (int i = 0; right && subscribers == 2; i++) {
                write(from, "*3\r\n$7\r\npublish\r\n$1\r\ns\r\n$" + LARGE + "\r\n" + large + "\r\n");
                String n = text(from, 4);
                right = (n.equals(":2\r\n") || n.equals(":1\r\n")) && exchange(quick, "", message("s", large));
                subscribers = n.charAt(1) - '0';
                if (i > MESSAGES) {
                    System.err.println("a subscriber that reads nothing is still there");
                    return false;
                }
            }
            return right;
        }
    }

    private static String subscribed(String what, String channel, int n) {
        return "*3\r\n$" + what.length() + "\r\n" + what + "\r\n$" + channel.length() + "\r\n" + channel + "\r\n:" + n + "\r\n";
    }

    private static String message(String channel, String text) {
        return "*3\r\n$7\r\nmessage\r\n$1\r\n" + channel + "\r\n$" + text.length() + "\r\n" + text + "\r\n";
    }

    // The end

    /** A client that waits gets the end. */
    private boolean end(TcpConn idle, Server server) throws IOException {
        boolean right = exchange(idle, "ping\r\n", "+PONG\r\n");
        write(idle, "ping\r\n");
        String answer = text(idle, 7);
        server.stop();
        return right && answer.equals("+PONG\r\n") && rest(idle).isEmpty();
    }

    // Talking

    private boolean asks(String request, String answer) throws IOException {
        try (TcpConn c = TcpConn.dial(address)) {
            write(c, request);
            c.closeWrite();
            return same(request, answer, rest(c));
        }
    }

    private static boolean exchange(TcpConn c, String request, String answer) throws IOException {
        write(c, request);
        return same(request, answer, text(c, answer.length()));
    }

    private static boolean same(String request, String answer, String got) {
        if (!got.equals(answer)) {
            System.err.printf("asked %.200s, answered %.200s instead of %.200s%n", request, got, answer);
        }
        return got.equals(answer);
    }

    private static void write(TcpConn c, String request) throws IOException {
        byte[] b = request.getBytes(StandardCharsets.ISO_8859_1);
        c.write(b, 0, b.length);
    }

    /** So many bytes, or what comes before the end. */
    private static String text(TcpConn c, int bytes) throws IOException {
        return string(c.inputStream().readNBytes(bytes));
    }

    private static String rest(TcpConn c) throws IOException {
        return string(c.inputStream().readAllBytes());
    }

    private static String string(byte[] b) {
        return new String(b, 0, b.length, StandardCharsets.ISO_8859_1);
    }
}
