// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;
import org.gmp4j.Gmp;
import org.gmp4j.ffi.Affinity;

/**
 * One run: a server's JVM on the first of the CPUs, a client's on the last.
 *
 * @param rate requests a second
 * @param warmup seconds before those that count
 * @param points the agent's option
 * @param cpus two or more
 */
record Trial(Mix mix, double rate, double warmup, double seconds, String points, BitSet cpus) {
    private static final int NUMBERS = 7;

    /** Of short requests, in nanoseconds; CPU seconds of the server, its threads that run goroutines. */
    record Figures(long p50, long p90, long p99, long p999, long max, long longP50, double answered, double cpuSeconds,
            long threads) {}

    Figures run(List<String> server, int seed) throws IOException, InterruptedException {
        Process s = start(cpus.nextSetBit(0), Server.class, server);
        Process c = null;
        try (BufferedReader ready = s.inputReader(StandardCharsets.UTF_8)) {
            String port = expect(ready, "the server");
            if (!port.matches("[0-9]+")) {
                throw new IOException("the server said " + port);
            }
            c = start(cpus.length() - 1, Client.class, List.of(port, mix.toString(), "" + rate, "" + warmup, "" + seconds,
                    "" + seed));
            try (BufferedReader said = c.inputReader(StandardCharsets.UTF_8)) {
                expect(said, "the client");
                double before = cpuSeconds(s);
                expect(said, "the client");
                double cpu = cpuSeconds(s) - before;
                long threads = carriers(s);
                String[] f = expect(said, "the client").split(" ");
                if (f.length != NUMBERS) {
                    throw new IOException("the client said " + String.join(" ", f));
                }
                return new Figures(Long.parseLong(f[0]), Long.parseLong(f[1]), Long.parseLong(f[2]), Long.parseLong(f[3]),
                        Long.parseLong(f[4]), Long.parseLong(f[5]), Double.parseDouble(f[6]), cpu, threads);
            }
        } finally {
            if (c != null) {
                c.destroyForcibly().waitFor();
            }
            s.destroyForcibly().waitFor();
        }
    }

    private static String expect(BufferedReader in, String who) throws IOException {
        String line = in.readLine();
        if (line == null) {
            throw new IOException(who + " ended early");
        }
        if (line.startsWith(Client.FAILED)) {
            throw new IOException(line.substring(Client.FAILED.length()));
        }
        return line;
    }

    /** A process inherits the CPUs of the thread that starts it. */
    private Process start(int cpu, Class<?> main, List<String> args) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED",
                "--add-opens=java.base/java.lang=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED"));
        if (main == Server.class && !args.getFirst().equals("jdk")) {
            command.add("-javaagent:" + jar() + "=points=" + points);
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(args);
        BitSet one = new BitSet();
        one.set(cpu);
        Affinity.set(0, one);
        try {
            return new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
        } finally {
            Affinity.set(0, cpus);
        }
    }

    private static String jar() throws IOException {
        try {
            return Path.of(Gmp.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        } catch (URISyntaxException e) {
            throw new IOException(e);
        }
    }

    private static double cpuSeconds(Process server) throws IOException {
        return server.info().totalCpuDuration().orElseThrow(() -> new IOException("the server ended early")).toNanos() / 1e9;
    }

    /** Threads that run goroutines or virtual threads. */
    private static long carriers(Process p) throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc", "" + p.pid(), "task"))) {
            return tasks.filter(Trial::isCarrier).count();
        }
    }

    private static boolean isCarrier(Path task) {
        try {
            String name = Files.readString(task.resolve("comm")).strip();
            return name.startsWith("ForkJoinPool") || name.matches("gmp[0-9]*-M[0-9]*");
        } catch (IOException e) {
            return false; // It has ended.
        }
    }
}
