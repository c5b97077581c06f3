// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.text;

import java.io.Closeable;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.Stream;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.Task;
import org.gmp4j.ffi.SocketIo;
import org.gmp4j.stack.JdkThreads;

/** A service whose process runs out of descriptors for a while: see {@code ExhaustedTest}. */
final class ExhaustedProgram {
    private static final int RLIMIT_NOFILE = 7;

    private ExhaustedProgram() {
    }

    /** Allows no new descriptor of the number {@code n} or more. */
    @SuppressWarnings("restricted")
    private static void limit(long n) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment both = arena.allocate(ValueLayout.JAVA_LONG, 2);
            both.setAtIndex(ValueLayout.JAVA_LONG, 0, n);
            both.setAtIndex(ValueLayout.JAVA_LONG, 1, 4096);
            Linker linker = Linker.nativeLinker();
            int e = (int) linker.downcallHandle(linker.defaultLookup().findOrThrow("setrlimit"),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS))
                    .invokeExact(RLIMIT_NOFILE, both);
            System.out.println("limit " + e);
        }
    }

    /** A class whose file cannot be opened is not loaded; jars, from which services run, are open all the time. */
    private static void loadAll() throws Exception {
        for (Class<?> c : new Class<?>[] {Gmp.class, SocketIo.class, ExhaustedProgram.class}) {
            Path root = Path.of(c.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isDirectory(root)) {
                try (Stream<Path> files = Files.walk(root)) {
                    for (Path f : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                        String name = root.relativize(f).toString().replace(".class", "").replace('/', '.');
                        boolean wanted = !name.endsWith("-info") && !name.endsWith("Test")
                                && (c != ExhaustedProgram.class || name.startsWith("org.gmp4j.net."));
                        Class<?> _ = wanted ? Class.forName(name, false, c.getClassLoader()) : null;
                    }
                }
            }
        }
    }

    /** What is said of the error. */
    private static String cause(IOException e) {
        return e.getClass().getSimpleName() + e.getMessage().replaceAll(".*: ", " ");
    }

    private static boolean echoes(TcpConn c) throws IOException {
        c.write(new byte[] {7}, 0, 1);
        return c.read(new byte[1], 0, 1) == 1;
    }

    /** So many descriptors are left when an address is first used, and more when a socket is. */
    private static void early(int descriptors) throws Throwable {
        try (Gmp gmp = Gmp.builder().procs(1).build()) {
            gmp.run(() -> { });
            limit(400);
            Deque<Closeable> held = new ArrayDeque<>();
            try {
                while (true) {
                    held.push(new FileInputStream("/dev/null"));
                }
            } catch (FileNotFoundException e) { // All are taken.
                for (int i = 0; i < descriptors; i++) {
                    held.pop().close();
                }
            }
            InetAddress here = InetAddress.getLoopbackAddress();
            gmp.run(() -> Go.sleep(Duration.ofMillis(30))); // Sysmon looks several times.
            System.out.println("initialized " + JdkThreads.initialized(Class.forName("sun.nio.ch.Poller", false, null)));
            limit(4000);
            System.out.println("answer " + answer(gmp, here));
            while (ready(gmp) == 0) {
                int _ = answer(gmp, here);
            }
            System.out.println("by our poller");
        }
    }

    /** A byte that comes through a connection. */
    private static int answer(Gmp gmp, InetAddress here) throws Exception {
        return gmp.call(() -> {
            try (ServerSocket server = new ServerSocket(0, 1, here)) {
                Go.go(io(() -> {
                    try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                        Go.sleep(Duration.ofMillis(10));
                        s.getOutputStream().write(5);
                    }
                }));
                try (Socket s = server.accept()) {
                    return s.getInputStream().read();
                }
            }
        });
    }

    /** A scheduler has no descriptor for a poller when its goroutines first wait for a socket of the JDK's; later it has. */
    private static void later() throws Throwable {
        try (Gmp gmp = Gmp.builder().procs(1).build();
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket writer = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket reader = server.accept()) {
            try (Gmp other = Gmp.builder().procs(1).build()) {
                while (ready(other) == 0) { // The JDK's pollers are replaced as soon as sysmon has seen a socket.
                    int _ = answer(other, server.getInetAddress());
                }
            }
            limit(3);
            System.out.println("read " + read(gmp, reader, writer) + ", by our poller " + ready(gmp));
            limit(4000);
            while (ready(gmp) == 0) {
                int _ = read(gmp, reader, writer);
            }
            System.out.println("by our poller");
        }
    }

    /** A first wait for a socket of ours needs no descriptor. */
    private static void firstWait() throws Throwable {
        try (Gmp gmp = Gmp.builder().procs(1).build();
                TcpListener l = TcpListener.listen(LOOPBACK);
                TcpConn a = TcpConn.dial(text(l));
                TcpConn b = gmp.call(l::accept)) {
            limit(3);
            gmp.run(io(() -> {
                Go.go(io(() -> {
                    Go.sleep(Duration.ofMillis(5));
                    a.write(new byte[1], 0, 1);
                }));
                System.out.println("read " + b.read(new byte[1], 0, 1));
            }));
        }
    }

    private static long ready(Gmp gmp) {
        return (long) gmp.metrics().read("/sched/netpoll/ready:goroutines");
    }

    /** A goroutine waits for a byte. */
    private static int read(Gmp gmp, Socket reader, Socket writer) throws Exception {
        Task<Integer> read = gmp.submit(() -> reader.getInputStream().read());
        Thread.sleep(20); // It should wait by then; if not, there is another time.
        writer.getOutputStream().write(5);
        return read.get();
    }

    public static void main(String[] args) throws Throwable {
        loadAll();
        if (args.length > 0) {
            if (args[0].equals("later")) {
                later();
            } else if (args[0].equals("first")) {
                firstWait();
            } else {
                early(Integer.parseInt(args[1]));
            }
            return;
        }
        try (Gmp gmp = Gmp.builder().procs(2).build()) {
            TcpListener l = TcpListener.listen(LOOPBACK);
            gmp.go(io(() -> l.serve(c -> io(() -> {
                try (c) {
                    Io.echo(c);
                }
            }).run())));
            TcpListener plain = TcpListener.listen(LOOPBACK);
            TcpConn first = gmp.call(() -> TcpConn.dial(text(l)));
            System.out.println("first " + gmp.call(() -> echoes(first)));
            Socket asksPlain = new Socket();
            Socket asksServed = new Socket();
            asksPlain.bind(null); // The descriptors of these two are there before.
            asksServed.bind(null);
            limit(3);
            IOException dial = gmp.call(() -> Io.thrown(() -> TcpConn.dial(text(l)).close()));
            System.out.println("dial " + cause(dial));
            System.out.println("listen " + cause(Io.thrown(() -> TcpListener.listen(LOOPBACK).close())));
            asksPlain.connect(plain.addr());
            asksServed.connect(l.addr());
            System.out.println("accept " + cause(gmp.call(() -> Io.thrown(() -> plain.accept().close()))));
            System.out.println("others " + gmp.call(() -> echoes(first)));
            gmp.run(() -> Go.sleep(Duration.ofMillis(30))); // The loop meets it too.
            limit(4000);
            System.out.println("accepted " + gmp.call(() -> {
                try (TcpConn c = plain.accept()) {
                    return c.remoteAddr().getPort() == asksPlain.getLocalPort();
                }
            }));
            asksServed.getOutputStream().write(9);
            System.out.println("served " + asksServed.getInputStream().read());
            first.close();
            asksServed.close();
            asksPlain.close();
            plain.close();
            l.close();
        }
        System.out.println("closed");
    }
}
