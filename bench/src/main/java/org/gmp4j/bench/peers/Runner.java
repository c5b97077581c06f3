// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.gmp4j.bench.measure.JavaCommand;
import org.gmp4j.bench.measure.Others;

/**
 * Runs a peer's program for one work, in a process of its own, with the same JVM options for all that run on one. Ours gets
 * the agent where its preemption points matter: any Java agent makes HotSpot announce each switch of a virtual thread, which
 * costs ours and the JDK's some 130 ns each.
 */
final class Runner {
    /** Of a process's time beyond what it measures. */
    private static final double SLACK_SECONDS = 60;

    private final double warmUp;
    private final double seconds;

    /** Makes a runner with so many seconds of warm-up and of measurement for each figure. */
    Runner(double warmUp, double seconds) {
        this.warmUp = warmUp;
        this.seconds = seconds;
    }

    /** A process that gave no figures, in a sentence without its end. */
    static final class FailedException extends Exception {
        private static final long serialVersionUID = 1;

        FailedException(String sentence) {
            super(sentence);
        }
    }

    /**
     * Returns its figures. A run that others disturbed is repeated, and the less disturbed one counts; if the repetition fails, the first.
     *
     * @param note told why a repetition gave no figures
     */
    List<Line> run(Peer peer, Toolchains.Program program, Catalogue.Work work, Others others, Consumer<String> note)
            throws FailedException, IOException, InterruptedException {
        others.begin();
        List<Line> first = run(peer, program, work);
        if (!others.again()) {
            return first;
        }
        List<Line> second;
        try {
            second = run(peer, program, work);
        } catch (FailedException e) {
            others.failed();
            note.accept("a run was disturbed, and its repetition failed (" + e.getMessage() + "): the first counts");
            return first;
        }
        return others.better() ? second : first;
    }

    /** Returns the figures of one run. */
    private List<Line> run(Peer peer, Toolchains.Program program, Catalogue.Work work)
            throws FailedException, IOException, InterruptedException {
        ProcessBuilder b = new ProcessBuilder(command(peer, program, work)).redirectError(Redirect.INHERIT);
        b.environment().putAll(program.environment());
        Process p = b.start();
        double limit = SLACK_SECONDS + (warmUp + seconds) * 4 * work.variants().size();
        AtomicBoolean late = new AtomicBoolean();
        CompletableFuture<Void> killer = CompletableFuture.runAsync(
                () -> {
                    late.set(p.isAlive());
                    p.destroyForcibly();
                },
                CompletableFuture.delayedExecutor((long) (limit * 1000), TimeUnit.MILLISECONDS));
        try (var in = p.inputReader(StandardCharsets.UTF_8)) {
            List<String> lines = in.lines().toList();
            int exit = p.waitFor();
            if (late.get()) {
                throw new FailedException("no end in " + (long) limit + " s");
            }
            if (exit != 0) {
                throw new FailedException("ended with " + exit);
            }
            return lines.stream().filter(l -> l.startsWith("{")).map(Line::parse).toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } finally {
            killer.cancel(false);
            p.destroyForcibly();
        }
    }

    private List<String> command(Peer peer, Toolchains.Program program, Catalogue.Work work) {
        List<String> command = new ArrayList<>();
        String procs = Integer.toString(work.procs());
        if (peer == Peer.GO) {
            command.addAll(program.command());
            command.addAll(List.of("-each", "-procs", procs, "-seconds", Double.toString(seconds)));
            command.addAll(List.of("-goroutines", Integer.toString(Resources.PARKED), work.name()));
            return command;
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("--enable-native-access=ALL-UNNAMED");
        if (work.name().equals("parked")) { // What is free goes back to the system, as Go is asked to do.
            command.addAll(List.of("-XX:MinHeapFreeRatio=5", "-XX:MaxHeapFreeRatio=10"));
        }
        switch (peer) {
            case GMP4J -> {
                if (work.points()) {
                    command.add("-javaagent:" + JavaCommand.runtime());
                }
                command.addAll(List.of(
                        "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED",
                        "--add-opens=java.base/java.lang=ALL-UNNAMED"));
            }
            case JDK -> command.addAll(List.of("-Djdk.virtualThreadScheduler.parallelism=" + procs,
                    "-Djdk.virtualThreadScheduler.maxPoolSize=" + procs));
            case KOTLIN -> command.add("-Dkotlinx.coroutines.scheduler.core.pool.size=" + procs);
            default -> { }
        }
        command.addAll(program.command());
        command.addAll(List.of(peer.key(), work.name(), procs, Double.toString(warmUp), Double.toString(seconds)));
        if (peer == Peer.GMP4J) {
            command.addAll(work.variants());
        }
        return command;
    }

    /** Returns the program of the Java peers. */
    static Toolchains.Program java() {
        return new Toolchains.Program(
                "JDK " + System.getProperty("java.runtime.version"),
                List.of("-cp", System.getProperty("java.class.path"), JavaPeer.class.getName()),
                Map.of());
    }
}
