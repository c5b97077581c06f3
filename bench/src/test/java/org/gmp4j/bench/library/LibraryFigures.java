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
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

import org.gmp4j.Gmp;
import org.gmp4j.bench.library.Load.Figures;

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
    private static final long WARM_UP_NANOS = TimeUnit.SECONDS.toNanos(40);
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
            command.add("-Dsun.net.httpserver.maxIdleConnections=10000"); // Or it closes what is idle of more than 200.
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
                    Load load = new Load(path, connections, schedulers.get(i).equals(JDK) ? "virtual" : "goroutine", HttpService::reversed);
                    Child child = children.get(i);
                    Figures one = load.run(child.process, child.address, round < 0 ? WARM_UP_NANOS : ROUND_NANOS);
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
        List<Figures> ones = Collections.nCopies(ROUNDS, Figures.ONE);
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
            System.out.printf(" " + format, Figures.ratio(a, b, column));
        }
        System.out.println();
    }
}
