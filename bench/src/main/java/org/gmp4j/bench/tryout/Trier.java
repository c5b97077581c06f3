// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.report.Histograms;
import org.gmp4j.bench.service.Proc;

/**
 * Starts the service, loads it from when it can be connected to, and stops it. The client has a thread of its own, the same for all turns;
 * the calling thread only reads what the kernel tells of processes.
 */
final class Trier implements AutoCloseable {
    private static final long START_SECONDS = 120;
    private static final long LOOK_MILLIS = 100;
    private static final long PATIENCE_SECONDS = 60;
    /** Between the end of a service's connections and its own. */
    private static final long PARTING_MILLIS = 1_000;
    /** So many requests may fail, and one of so many, before the turn has failed. */
    private static final int FEW_ERRORS = 20;
    private static final int ERRORS_ONE_IN = 100;
    private static final long SECOND = 1_000_000_000L;

    private final Settings settings;
    private final BitSet cpus = new BitSet();
    private final boolean clientIsBeside;
    private final byte[] request;
    private final Path log;
    private final ExecutorService client =
            Executors.newSingleThreadExecutor(Thread.ofPlatform().name("gmp-try-client").daemon().factory());
    private int usualPort;

    Trier(Settings settings) throws IOException {
        this.settings = settings;
        cpus.or(settings.serverCpus());
        clientIsBeside = settings.clientCpus().intersects(cpus);
        request = request(settings).getBytes(StandardCharsets.UTF_8);
        log = Files.createTempFile("gmp-try", ".log");
        log.toFile().deleteOnExit(); // Ctrl-C ends the JVM without close().
    }

    private static String request(Settings settings) {
        StringBuilder text = new StringBuilder("GET " + settings.path() + " HTTP/1.1\r\n");
        if (settings.headers().stream().noneMatch(h -> h.toLowerCase(Locale.ROOT).startsWith("host:"))) {
            text.append("Host: localhost\r\n");
        }
        settings.headers().forEach(h -> text.append(h).append("\r\n"));
        return text.append("\r\n").toString();
    }

    @Override
    public void close() throws IOException {
        client.shutdownNow();
        Files.deleteIfExists(log);
    }

    /** Has the client compiled. */
    void rehearse() throws IOException, InterruptedException {
        try {
            client.submit(() -> {
                Rehearsal.run();
                return null;
            }).get();
        } catch (ExecutionException e) {
            throw new IOException("the client does not work: " + e.getCause(), e);
        }
    }

    /** Runs one turn. */
    Turn run(Variant variant, int turn) throws IOException, InterruptedException {
        if (settings.port() != 0
                && ServiceProcess.canConnect(new InetSocketAddress(InetAddress.getLoopbackAddress(), settings.port()))) {
            throw new IOException("another process listens on port " + settings.port());
        }
        System.gc();
        double busy = Proc.busy(cpus);
        double own = own();
        long begin = System.nanoTime();
        List<String> command = variant.command(settings.service());
        try (ServiceProcess service =
                new ServiceProcess(command, variant.environment(settings.service()), settings.serverCpus(), log)) {
            InetSocketAddress address = service.await(settings.port(), usualPort, service.begin() + START_SECONDS * SECOND);
            long answers = System.nanoTime();
            usualPort = address.getPort();
            Tape tape = new Tape(answers, settings.seconds(), settings.warmup());
            try (HttpLoad load = new HttpLoad(address, request, settings.connections(), tape)) {
                Watch watch = new Watch(service, load, tape);
                long end = answers + (long) ((settings.hasWarm() ? settings.warmup() + settings.seconds() : settings.seconds()) * SECOND);
                Future<?> loading = client.submit(() -> {
                    load.open(settings.rate(), answers, end, new SplittableRandom(turn));
                    return null;
                });
                double startCpu = service.cpuSeconds(); // Which takes a moment, so the load does not wait for it.
                double youngCpu = watch.until(answers + (long) (settings.seconds() * SECOND), loading) - startCpu;
                double warmCpu = Double.NaN;
                if (settings.hasWarm()) {
                    double before = watch.until(answers + (long) (settings.warmup() * SECOND), loading);
                    warmCpu = watch.until(end, loading) - before;
                }
                List<String> threads = service.threads();
                watch.end(loading);
                checkScheduler(service, variant, threads);
                Turn.Saturation saturation = settings.saturates() ? saturate(watch, load) : null;
                double used = service.cpuSeconds();
                double others = Proc.busy(cpus) - busy - used - (clientIsBeside ? own() - own : 0);
                double seconds = (System.nanoTime() - begin) / 1e9 * cpus.cardinality();
                return new Turn((answers - service.begin()) / 1e9, startCpu, youngCpu, warmCpu, tape, saturation, service.peakMemory(),
                        threads.size(), load.reopened(), Math.max(0, 100 * others / seconds));
            }
        }
    }

    /** Checks that the variant's scheduler runs the service, so that no scheduler is compared with itself. */
    private static void checkScheduler(ServiceProcess service, Variant variant, List<String> threads) throws IOException {
        boolean ours = threads.stream().anyMatch(Proc::isMachine);
        if (variant.isOurs() && !ours) {
            throw service.failed("has no thread of this scheduler: the flag had no effect");
        }
        if (variant == Variant.JDK && ours) {
            throw service.failed("has threads of this scheduler without our flag: its command or its environment asks for it already");
        }
    }

    private static double own() throws IOException {
        return Proc.cpuSeconds(ProcessHandle.current().pid());
    }

    private Turn.Saturation saturate(Watch watch, HttpLoad load) throws IOException, InterruptedException {
        Histogram latencies = Histograms.latencies();
        Answers counting = new Answers() {
            @Override
            public void sent(long due, long now) {
                // A closed loop has no time at which a request is due.
            }

            @Override
            public void answered(long due, long now, int status, long length) {
                latencies.recordValue(now - due);
                watch.tape.count(status, length);
            }

            @Override
            public void broken(long due, long now) {
                latencies.recordValue(now - due);
                watch.tape.countBroken();
            }
        };
        double before = watch.service.cpuSeconds();
        double[] took = new double[2];
        Future<?> loading = client.submit(() -> {
            long mine = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            took[0] = load.closed((long) (settings.saturate() * SECOND), counting);
            took[1] = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - mine;
            return null;
        });
        double _ = watch.until(System.nanoTime() + (long) (settings.saturate() * SECOND), loading);
        watch.end(loading);
        double used = watch.service.cpuSeconds() - before;
        return new Turn.Saturation(latencies, took[0] / 1e9, used, took[1] / took[0]);
    }

    /** Waits beside the client, and ends it when the service has failed. */
    private final class Watch {
        final ServiceProcess service;
        private final HttpLoad load;
        private final Tape tape;

        Watch(ServiceProcess service, HttpLoad load, Tape tape) {
            this.service = service;
            this.load = load;
            this.tape = tape;
        }

        /** Waits until a time by nanoTime, and returns the CPU seconds that the service has used then. */
        double until(long time, Future<?> loading) throws IOException, InterruptedException {
            for (long left; (left = time - System.nanoTime()) > 0; ) {
                look(loading);
                TimeUnit.NANOSECONDS.sleep(Math.min(left, LOOK_MILLIS * 1_000_000));
            }
            look(loading);
            return service.cpuSeconds();
        }

        /** Waits until the client has ended. */
        void end(Future<?> loading) throws IOException, InterruptedException {
            for (long i = 0; !loading.isDone(); i++) {
                look(loading);
                if (i * LOOK_MILLIS > PATIENCE_SECONDS * 1_000) {
                    throw failure("does not answer any more", loading);
                }
                try {
                    var _ = loading.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                } catch (TimeoutException e) {
                    continue;
                } catch (ExecutionException e) {
                    break; // look() says why.
                }
            }
            look(loading);
        }

        private void look(Future<?> loading) throws IOException, InterruptedException {
            boolean isBroken = tape.broken() > FEW_ERRORS && tape.broken() * ERRORS_ONE_IN > tape.all();
            if (!service.isAlive() || isBroken && service.ends(PARTING_MILLIS)) {
                throw failure("ended with exit code " + service.exitCode() + " under the load", loading);
            }
            if (loading.isDone() && loading.state() == Future.State.FAILED) {
                throw failure(String.valueOf(loading.exceptionNow().getMessage()), loading);
            }
            long all = tape.all();
            long errors = tape.errors();
            long broken = tape.broken();
            if (errors + broken > FEW_ERRORS && (errors + broken) * ERRORS_ONE_IN > all) {
                throw failure(errors > broken
                        ? "answers GET " + settings.path() + " with " + tape.usualError() + ": " + errors + " of " + all + " requests"
                        : "breaks connections or does not answer: " + broken + " of " + all + " requests", loading);
            }
        }

        private IOException failure(String sentence, Future<?> loading) throws IOException, InterruptedException {
            load.stop();
            try {
                var _ = loading.get();
            } catch (ExecutionException e) {
                return service.failed(sentence); // The sentence says why already, or says more.
            }
            return service.failed(sentence);
        }
    }
}
