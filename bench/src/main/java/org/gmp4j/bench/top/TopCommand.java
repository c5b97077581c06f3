// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.top;

import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code gmp top PID}. */
@Command(
        name = "top",
        description = "Show the schedulers of a running process, in a terminal.",
        footer = {"", "It ends with the process. The process loads its JMX agent, as for jconsole, and needs no option for it."})
public final class TopCommand extends ProcessCommand {
    private static final double LEAST_DELAY = 0.1;
    private static final double MOST_DELAY = 3600;
    private static final String HOME = "\033[H";
    private static final String REST_OF_LINE = "\033[K";
    private static final String REST_OF_SCREEN = "\033[J";

    @Option(names = "-n", paramLabel = "COUNT", defaultValue = "0", description = "End after so many screens (default: never).")
    private int count;

    @Option(
            names = {"-d", "--delay"},
            paramLabel = "SECONDS",
            defaultValue = "1",
            description = "From one screen to the next (default: ${DEFAULT-VALUE}).")
    private double delay;

    /** Makes the command; picocli calls this. */
    public TopCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        if (count < 0 || spec.commandLine().getParseResult().hasMatchedOption("-n") && count == 0) {
            throw bad(spec, "-n is " + count + ": use 1 or more", null);
        }
        if (!(delay >= LEAST_DELAY && delay <= MOST_DELAY)) {
            throw bad(spec, "--delay is " + delay + ": use 0.1 to 3600 seconds", null);
        }
        return super.call();
    }

    @Override
    void run(Process process) throws InterruptedException, IOException {
        PrintWriter out = spec.commandLine().getOut();
        boolean terminal = isTerminal();
        Map<String, Reading> last = Map.of();
        for (int n = 1; ; n++) {
            Map<String, Reading> now;
            try {
                now = read(process);
            } catch (IOException | UndeclaredThrowableException ended) {
                if (n == 1) {
                    throw new IOException("process " + pid + " has ended", ended);
                }
                spec.commandLine().getErr().println("gmp: process " + pid + " has ended.");
                return;
            }
            StringBuilder screen = new StringBuilder();
            for (Map.Entry<String, Reading> e : now.entrySet()) {
                screen.append(Screen.of(pid, e.getKey(), last.get(e.getKey()), e.getValue()));
            }
            if (now.isEmpty()) {
                screen.append("process ").append(pid).append(" has no scheduler just now\n");
            }
            out.print(terminal ? HOME + screen.toString().replace("\n", REST_OF_LINE + "\n") + REST_OF_SCREEN
                    : n == 1 ? screen : "\n" + screen);
            if (out.checkError() || n == count) { // An error is the end of the reader, as of head(1).
                return;
            }
            last = now;
            Thread.sleep(Duration.ofNanos((long) (delay * 1e9)));
        }
    }

    private static Map<String, Reading> read(Process process) throws IOException {
        Map<String, Reading> now = new LinkedHashMap<>();
        List<Process.Bean> beans = process.beans();
        for (Process.Bean b : beans) {
            Reading r = Reading.of(b);
            if (r != null) {
                now.put(b.name(), r);
            }
        }
        return now;
    }

    /** Returns whether the output is a terminal that can clear its screen; otherwise screens follow each other, as in a file. */
    private static boolean isTerminal() {
        Console console = System.console();
        String kind = System.getenv("TERM");
        return console != null && console.isTerminal() && kind != null && !kind.isEmpty() && !kind.equals("dumb");
    }
}
