// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ToDoubleFunction;

import org.HdrHistogram.Histogram;
import org.gmp4j.Gmp;

/**
 * Throughput and latency of web servers whose requests run on this scheduler's threads, beside the same servers on the
 * JDK's virtual threads: two server processes with default settings, loaded in turns (A B A B …) by this process, whose
 * clients are platform threads with a connection each that send a request when the last was answered. Prints medians,
 * and the medians of the rounds' ratios.
 *
 * <p>{@code mvn -Pfigures -DskipTests verify -Dfigures.args="jetty / 32"}: server, path, connections; and, if wanted, a
 * program that serves the same answers and takes its turn too, as {@code bench/peers/go/http}.
 */
final class LibraryFigures {
    private static final int ROUNDS = 9;
    private static final long ROUND_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long WARM_UP_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final int BODY = 100;
    private static final long LONGEST = TimeUnit.MINUTES.toNanos(1);
    private static final String JDK = "JDK";

    private LibraryFigures() {
    }

    /** Measures; or, with "serve", is one of the servers. */
    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("serve")) {
            serve(args[1], args[2]);
            return;
        }
        String server = args.length > 0 ? args[0] : "jetty";
        String path = args.length > 1 ? args[1] : "/";
        int connections = args.length > 2 ? Integer.parseInt(args[2]) : 32;
        List<String> schedulers = new ArrayList<>(List.of("gmp4j", JDK));
        for (int i = 3; i < args.length; i++) {
            schedulers.add(Path.of(args[i]).toAbsolutePath().toString()); // The slash tells it from a scheduler.
        }
        measure(server, schedulers, path, connections);
    }

    // ---- a server's process

    private static void serve(String server, String scheduler) throws Exception {
        ExecutorService executor = scheduler.equals(JDK)
                ? Executors.newVirtualThreadPerTaskExecutor()
                : Gmp.builder().build().newThreadPerTaskExecutor();
        HttpService service =
                switch (server) {
                    case "jdk" -> HttpServices.jdk(executor);
                    case "jetty" -> HttpServices.jetty(executor);
                    case "undertow" -> HttpServices.undertow(executor);
                    case "netty" -> HttpServices.netty(Thread.ofPlatform().factory(), executor);
                    default -> throw new IllegalArgumentException("no server " + server + ": jdk, jetty, undertow, netty");
                };
        System.out.println(service.address().getPort());
        while (System.in.read() >= 0) { // Until the parent closes it or is gone.
            continue;
        }
        System.exit(0);
    }

    private record Child(Process process, InetSocketAddress address) {
        static Child start(String server, String scheduler) throws IOException {
            if (scheduler.indexOf('/') >= 0) {
                return start(List.of(scheduler));
            }
            List<String> command = new ArrayList<>();
            command.add(ProcessHandle.current().info().command().orElseThrow());
            command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
            command.add("-Dsun.net.httpserver.nodelay=true"); // Or the JDK's server waits for acknowledgements.
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), LibraryFigures.class.getName()));
            command.addAll(List.of("serve", server, scheduler));
            return start(command);
        }

        private static Child start(List<String> command) throws IOException {
            Process p = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            BufferedReader out = p.inputReader(StandardCharsets.US_ASCII);
            int port = Integer.parseInt(out.readLine());
            return new Child(p, new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        }

        /** CPU time that it has used, in seconds. */
        double cpuSeconds() {
            return process.info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
        }
    }

    // ---- the load

    private record Figures(double perSecond, double p50Micros, double p99Micros, double cpuMicros) {
    }

    /** Loads a server for so long; every answer's body and thread are checked. */
    private static Figures load(Child child, String thread, String path, int connections, long nanos) throws Exception {
        Histogram all = new Histogram(LONGEST, 3);
        AtomicReference<Throwable> failed = new AtomicReference<>();
        double cpu = child.cpuSeconds();
        long begin = System.nanoTime();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            byte[] body = new byte[BODY];
            Arrays.fill(body, (byte) i);
            body[0] = 1;
            clients.add(Thread.ofPlatform().start(() -> {
                Histogram mine = new Histogram(LONGEST, 3);
                try (HttpConnection connection = new HttpConnection(child.address)) {
                    byte[] expected = HttpService.answer("/", body);
                    for (long t = System.nanoTime(); t - begin < nanos; ) {
                        HttpConnection.Answer answer = connection.post(path, body);
                        long now = System.nanoTime();
                        mine.recordValue(Math.min(LONGEST, now - t));
                        t = now;
                        if (!Arrays.equals(expected, answer.body()) || !answer.thread().equals(thread)) {
                            throw new IOException("a wrong answer, from a " + answer.thread());
                        }
                    }
                } catch (IOException | InterruptedException | RuntimeException e) {
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
                (child.cpuSeconds() - cpu) * 1e6 / all.getTotalCount());
    }

    private static void measure(String server, List<String> schedulers, String path, int connections) throws Exception {
        List<Child> children = new ArrayList<>();
        List<List<Figures>> figures = new ArrayList<>();
        try {
            for (String scheduler : schedulers) {
                Child child = Child.start(server, scheduler);
                children.add(child);
                figures.add(new ArrayList<>());
            }
            for (int round = -1; round < ROUNDS; round++) {
                for (int i = 0; i < children.size(); i++) {
                    String thread = schedulers.get(i).equals(JDK) ? "virtual" : "goroutine";
                    long nanos = round < 0 ? WARM_UP_NANOS : ROUND_NANOS;
                    Figures one = load(children.get(i), thread, path, connections, nanos);
                    if (round >= 0) {
                        figures.get(i).add(one);
                    }
                }
            }
        } finally {
            for (Child child : children) {
                child.process.getOutputStream().close();
                child.process.waitFor();
            }
        }
        System.out.printf("%s %s, %d connections%n", server, path, connections);
        System.out.printf("%-10s %12s %12s %12s %20s%n", "", "requests/s", "p50 µs", "p99 µs", "server CPU µs/req");
        List<Figures> ones = Collections.nCopies(ROUNDS, new Figures(1, 1, 1, 1));
        for (int i = 0; i < figures.size(); i++) {
            row(name(schedulers.get(i)), figures.get(i), ones, "%,12.0f");
        }
        for (int i = 0; i < figures.size(); i++) {
            if (!schedulers.get(i).equals(JDK)) {
                row(name(schedulers.get(i)) + "/" + JDK, figures.get(i), figures.get(schedulers.indexOf(JDK)), "%12.2f");
            }
        }
    }

    private static String name(String scheduler) {
        return scheduler.substring(scheduler.lastIndexOf('/') + 1);
    }

    private static void row(String name, List<Figures> a, List<Figures> b, String format) {
        System.out.printf("%-10s", name);
        List<ToDoubleFunction<Figures>> columns =
                List.of(Figures::perSecond, Figures::p50Micros, Figures::p99Micros, Figures::cpuMicros);
        for (ToDoubleFunction<Figures> column : columns) {
            double[] ratios = new double[a.size()];
            for (int i = 0; i < ratios.length; i++) {
                ratios[i] = column.applyAsDouble(a.get(i)) / column.applyAsDouble(b.get(i));
            }
            Arrays.sort(ratios);
            System.out.printf(" " + format, ratios[ratios.length / 2]);
        }
        System.out.println();
    }
}
