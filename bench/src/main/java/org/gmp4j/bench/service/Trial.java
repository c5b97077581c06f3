// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;

import org.gmp4j.bench.measure.JavaCommand;
import org.gmp4j.bench.peers.Toolchains;

/**
 * Runs a server on the first of the CPUs and a client on the last, processes of their own, and burners beside each of them
 * if that is wanted. The client is at work on its CPU when the server measures how fast it is, and no burner is on the
 * server's.
 */
final class Trial {
    /** Without privileges it stays 0, and nice says so on stderr. */
    private static final List<String> FIRST = List.of("nice", "-n", "-20");
    private static final List<String> LAST = List.of("nice", "-n", "19");
    /** Its port, and rounds a nanosecond. */
    private static final Pattern SERVER = Pattern.compile("[0-9]{1,5} [0-9.]+([Ee]-?[0-9]+)?");
    /** Of a run's time beyond what it warms up and measures: a client gives up twenty seconds after either. */
    private static final double SLACK_SECONDS = 120;
    private static final int FAREWELL_SECONDS = 20;

    private final Settings settings;
    private final BitSet cpus;
    private final Toolchains.Program go;
    private final long limit; // seconds

    /** Makes a trial on two CPUs or more; {@code go} is null where there is no Go. */
    Trial(Settings settings, BitSet cpus, Toolchains.Program go) {
        this(settings, cpus, go, SLACK_SECONDS);
    }

    /** Makes a trial with additional time beyond the run's warm-up and measurement. */
    Trial(Settings settings, BitSet cpus, Toolchains.Program go, double slackSeconds) {
        this.settings = settings;
        this.cpus = cpus;
        this.go = go;
        limit = (long) (slackSeconds + settings.warmup() + settings.seconds());
    }

    /** Runs once. */
    Figures run(Load load, Variant variant, int seed) throws IOException {
        Deque<Child> started = new ConcurrentLinkedDeque<>();
        AtomicBoolean late = new AtomicBoolean();
        CompletableFuture<Void> killer = CompletableFuture.runAsync(
                () -> {
                    late.set(true);
                    started.forEach(Child::end);
                },
                CompletableFuture.delayedExecutor(limit, TimeUnit.SECONDS));
        try {
            if (settings.burn()) { // Before the client, or it would not get the CPU to start on.
                burner(started, cpus.length() - 1, LAST);
            }
            Child client = start(started, "the client", cpus.length() - 1, client(load, seed));
            client.expect("ready");
            Child server = start(started, "the server", cpus.nextSetBit(0), server(variant));
            String line = server.hear();
            if (!SERVER.matcher(line).matches()) {
                throw new IOException("the server said " + line);
            }
            String[] said = line.split(" ");
            if (settings.burn()) {
                burner(started, cpus.nextSetBit(0), List.of());
            }
            return measure(client, server, said[0], Double.parseDouble(said[1]));
        } catch (IOException e) {
            throw late.get() ? new IOException("no end in " + limit + " s", e) : e;
        } finally {
            killer.cancel(false);
            started.forEach(Child::end);
        }
    }

    private Figures measure(Child client, Child server, String port, double roundsPerNano) throws IOException {
        client.say(port);
        client.expect("begin");
        int cpu = cpus.nextSetBit(0);
        double busy = Proc.busy(cpu);
        Proc.Use before = Proc.use(server.pid());
        int nice = Proc.nice(client.pid());
        client.say("measure");
        client.expect("end");
        Proc.Use use = Proc.use(server.pid()).since(before);
        double others = Math.max(0, Proc.busy(cpu) - busy - use.user() - use.system());
        client.say("tell");
        Tally tally = Tally.parse(client.hear());
        server.bye();
        return new Figures(tally, use, others, roundsPerNano, nice);
    }

    /** Starts a process that burns a CPU. Beside the client it has a higher nice value, or the client would be measured. */
    private void burner(Deque<Child> started, int cpu, List<String> nice) throws IOException {
        List<String> command = new ArrayList<>(nice);
        command.addAll(JavaCommand.of(List.of("-XX:+UseSerialGC"), Burner.class, List.of()));
        start(started, "a burner", cpu, command).expect("burning");
    }

    private List<String> client(Load load, int seed) {
        List<String> command = new ArrayList<>(settings.burn() ? FIRST : List.of());
        // A young generation that a usual run does not fill. With -Xbatch a method waits until it is compiled.
        command.addAll(JavaCommand.of(List.of("-XX:+UseSerialGC", "-Xms512m", "-Xmn384m", "-Xbatch"), Client.class,
                List.of(load.mix().toString(), "" + load.rate(), "" + settings.connections(), "" + settings.warmup(),
                        "" + settings.seconds(), "" + seed)));
        return command;
    }

    private List<String> server(Variant variant) {
        return switch (variant.peer()) {
            case GO -> go.command();
            case JDK -> JavaCommand.of(Server.JVM, Server.class, variant.arguments());
            case GMP4J, NET -> {
                List<String> jvm = new ArrayList<>(Server.JVM);
                jvm.add("-javaagent:" + JavaCommand.runtime() + "=points=" + settings.points());
                yield JavaCommand.of(jvm, Server.class, variant.arguments());
            }
        };
    }

    private Child start(Deque<Child> started, String name, int cpu, List<String> command) throws IOException {
        ProcessBuilder b = new ProcessBuilder(command).redirectError(Redirect.INHERIT);
        b.environment().put("GOMAXPROCS", "1");
        Child child = new Child(name, Proc.start(b, cpu));
        started.addFirst(child);
        return child;
    }

    /** A process that one talks with by lines, and that is ended in the end. */
    private record Child(String name, Process process, BufferedReader in, Writer out) {
        Child(String name, Process process) {
            this(name, process, process.inputReader(StandardCharsets.UTF_8), process.outputWriter(StandardCharsets.UTF_8));
        }

        long pid() {
            return process.pid();
        }

        void say(String line) throws IOException {
            try {
                out.write(line + "\n");
                out.flush();
            } catch (IOException e) {
                throw new IOException(name + " ended early", e);
            }
        }

        String hear() throws IOException {
            String line = in.readLine();
            if (line == null) {
                throw new IOException(name + " ended early");
            }
            if (line.startsWith(Client.FAILED)) {
                throw new IOException(line.substring(Client.FAILED.length()));
            }
            return line;
        }

        void expect(String wanted) throws IOException {
            String line = hear();
            if (!line.equals(wanted)) {
                throw new IOException(name + " said " + line + " where it says " + wanted);
            }
        }

        /** Closes its input, so that it ends by itself: it may have a trace or a recording to write. */
        void bye() throws IOException {
            out.close();
            try {
                boolean _ = process.waitFor(FAREWELL_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /** Ends the process now, and closes its pipes. */
        void end() {
            process.destroyForcibly().onExit().join(); // The next one is to have the CPU for itself.
        }
    }
}
