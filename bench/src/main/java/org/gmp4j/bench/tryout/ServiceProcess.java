// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.gmp4j.bench.service.Proc;

/**
 * The service, with all processes that it starts. It writes to a log of its own; its processes are ended when this is closed, and when this
 * JVM ends before that.
 */
final class ServiceProcess implements AutoCloseable {
    private static final long LOOK_MILLIS = 5;
    private static final int LAST_LINES = 10;
    private static final int LONGEST_LINE = 300;
    private static final long LOG_END = 64 << 10;
    private static final long STOP_SECONDS = 10;

    private final Process process;
    private final Path log;
    private final Set<Long> before;
    private final Thread atExit = new Thread(this::end, "gmp-try-end");
    private final long begin;

    /** The service has failed: a sentence without its end, and the last lines of its log. */
    static final class FailedException extends IOException {
        private static final long serialVersionUID = 1;

        private final ArrayList<String> lines;

        FailedException(String sentence, List<String> lines) {
            super(sentence);
            this.lines = new ArrayList<>(lines);
        }

        List<String> lines() {
            return lines;
        }
    }

    /** Starts it. */
    ServiceProcess(List<String> command, Map<String, String> environment, BitSet cpus, Path log) throws IOException {
        this.log = log;
        before = Set.copyOf(Listeners.all().keySet());
        ProcessBuilder b = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(Redirect.to(log.toFile()));
        b.environment().putAll(environment);
        begin = System.nanoTime();
        process = Proc.start(b, cpus);
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** Returns when the process was started, by nanoTime. */
    long begin() {
        return begin;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Waits a moment for its end. */
    boolean ends(long millis) throws InterruptedException {
        return process.waitFor(millis, TimeUnit.MILLISECONDS);
    }

    /** Returns the exit code, for a sentence about its end. */
    int exitCode() {
        return process.exitValue();
    }

    /** Makes the exception for a failure of the service. */
    FailedException failed(String sentence) throws IOException {
        return new FailedException(sentence, lastLines());
    }

    /**
     * Waits until it can be connected to.
     *
     * @param port the one that was named, or 0
     * @param usual the one that it had in an earlier turn, which is the one if it listens on several; or 0
     * @param limit by nanoTime
     */
    InetSocketAddress await(int port, int usual, long limit) throws IOException, InterruptedException {
        while (System.nanoTime() - limit < 0) {
            InetSocketAddress address = port != 0 ? named(port) : found(usual);
            if (address != null) {
                return address;
            }
            if (!process.isAlive()) {
                throw failed("ended with exit code " + exitCode() + " before it listened on a port");
            }
            Thread.sleep(LOOK_MILLIS);
        }
        throw failed("does not listen on " + (port == 0 ? "a port" : "port " + port) + " after "
                + TimeUnit.NANOSECONDS.toSeconds(limit - begin) + " s");
    }

    private static InetSocketAddress named(int port) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        return canConnect(address) ? address : null;
    }

    /** Returns whether a process listens at the address. */
    static boolean canConnect(InetSocketAddress address) {
        try (Socket socket = new Socket()) {
            socket.connect(address);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private InetSocketAddress found(int usual) throws IOException {
        Map<Long, InetSocketAddress> fresh = Listeners.all();
        fresh.keySet().removeAll(before);
        if (fresh.isEmpty()) {
            return null;
        }
        TreeMap<Integer, InetSocketAddress> mine = Listeners.of(fresh, pids());
        if (mine.size() > 1 && !mine.containsKey(usual)) {
            throw failed("listens on the ports " + mine.keySet().toString().replaceAll("[\\[\\]]", "") + ": name one of them by --port");
        }
        return mine.isEmpty() ? null : mine.getOrDefault(usual, mine.firstEntry().getValue());
    }

    /** Returns the ids of all its live processes, its own first. */
    private List<Long> pids() {
        List<Long> pids = new ArrayList<>(List.of(process.pid()));
        process.descendants().forEach(p -> pids.add(p.pid()));
        return pids;
    }

    /** Returns the CPU seconds that all its processes have used up to now. */
    double cpuSeconds() throws IOException {
        double seconds = 0;
        for (long pid : pids()) {
            seconds += value(pid, Proc::cpuSeconds);
        }
        return seconds;
    }

    /** Returns the sum of its processes' highest resident memory, in bytes. */
    double peakMemory() throws IOException {
        double bytes = 0;
        for (long pid : pids()) {
            bytes += value(pid, Proc::peakMemory);
        }
        return bytes;
    }

    /** Returns the names of all its threads. */
    List<String> threads() throws IOException {
        List<String> names = new ArrayList<>();
        for (long pid : pids()) {
            double _ = value(pid, p -> names.addAll(Proc.threads(p)) ? 1 : 0);
        }
        return names;
    }

    private interface Reading {
        double of(long pid) throws IOException;
    }

    /** Returns the reading, or 0 for a process that has just ended. If that is the service itself, the next check reports it. */
    private static double value(long pid, Reading reading) throws IOException {
        try {
            return reading.of(pid);
        } catch (IOException e) {
            if (Files.exists(Path.of("/proc", "" + pid))) {
                throw e;
            }
            return 0;
        }
    }

    /** Returns the end of its log. */
    private List<String> lastLines() throws IOException {
        long size = Files.size(log);
        byte[] end;
        try (InputStream in = Files.newInputStream(log)) {
            in.skipNBytes(Math.max(0, size - LOG_END));
            end = in.readAllBytes();
        }
        List<String> lines = new String(end, StandardCharsets.UTF_8).lines().filter(l -> !l.isBlank()).toList();
        return lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()).stream()
                .map(l -> l.length() > LONGEST_LINE ? l.substring(0, LONGEST_LINE) + " ..." : l)
                .toList();
    }

    @Override
    public void close() {
        end();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            return; // The JVM is ending.
        }
    }

    /** Ends the processes by SIGTERM, and kills the processes that are left after {@code STOP_SECONDS}. */
    private void end() {
        List<ProcessHandle> all = new ArrayList<>(List.of(process.toHandle()));
        process.descendants().forEach(all::add);
        all.forEach(ProcessHandle::destroy);
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_SECONDS);
        for (ProcessHandle p : all) {
            try {
                var _ = p.onExit().get(Math.max(1, limit - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                p.destroyForcibly();
                p.onExit().join();
            } catch (ExecutionException e) {
                continue; // It has ended.
            } catch (InterruptedException e) {
                all.forEach(ProcessHandle::destroyForcibly);
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
