// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.trace;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.Callable;

import org.gmp4j.bench.report.JsonText;
import org.gmp4j.bench.top.ProcessTrace;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gmp trace FILE} and {@code gmp trace PID}. */
@Command(
        name = "trace",
        description = "Sum up an execution trace, as Trace.start or GMPDEBUG=trace=FILE writes it; or trace a running process, and sum "
                + "that up.",
        footer = {
            "",
            "The same file opens as a timeline in Perfetto (ui.perfetto.dev, which reads it in the browser).",
            "A number is a process, unless there is a file of that name and neither --seconds nor --out is given. The process writes the "
                    + "file itself. It loads its JMX agent, as for jconsole, and needs no option for it."})
public final class TraceCommand implements Callable<Integer> {
    private static final double SECONDS = 5;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "FILE|PID", description = "The trace, or the process to trace.")
    private String what;

    @Option(names = "--seconds", paramLabel = "SECONDS", description = "How long to trace a process (default: 5).")
    private Double seconds;

    @Option(names = "--out", paramLabel = "FILE", description = "Keep the trace of a process in this file.")
    private Path kept;

    @Option(names = "--text", description = "Print all events instead, one a line.")
    private boolean text;

    @Option(names = "--json", paramLabel = "JSON", description = "Also write the summary, whole, to this file; times in ns.")
    private Path json;

    @Option(names = "--top", paramLabel = "N", defaultValue = "15", description = "Lines of each table (default: ${DEFAULT-VALUE}).")
    private int top;

    /** Makes the command; picocli calls this. */
    public TraceCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        if (text && json != null) {
            throw new ParameterException(spec.commandLine(), "--json is of the summary, which --text leaves out: use one of them");
        }
        if (top < 1) {
            throw new ParameterException(spec.commandLine(), "--top is " + top + ": use 1 or more");
        }
        if (seconds == null && kept == null && !(what.matches("[0-9]+") && Files.notExists(Path.of(what)))) {
            print(Path.of(what));
            return 0;
        }
        // The process makes the file, perhaps as another user, so this command cannot make it before. Its name cannot be guessed.
        Path file = kept != null ? kept : Path.of(System.getProperty("java.io.tmpdir"), "gmp-" + UUID.randomUUID() + ".pftrace");
        try {
            ProcessTrace.record(spec, what, file, seconds == null ? SECONDS : seconds);
            print(file);
        } finally {
            if (kept == null) {
                delete(file);
            }
        }
        return 0;
    }

    private static void delete(Path file) {
        try {
            boolean _ = Files.deleteIfExists(file);
        } catch (IOException stays) {
            return; // Whatever went wrong before is told.
        }
    }

    private void print(Path file) {
        PrintWriter out = spec.commandLine().getOut();
        try {
            if (text) {
                TraceText.print(file, out);
            } else {
                TraceSummary summary = new TraceSummary();
                TraceFile.read(file, summary);
                if (json != null) {
                    write(summary);
                }
                summary.print(out, top);
            }
        } catch (TraceFile.BadFile e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), "cannot read " + file + ": " + e.getMessage(), e);
        } finally {
            out.flush();
        }
    }

    private void write(TraceSummary summary) {
        try {
            Files.writeString(json, JsonText.of(summary.json()));
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), "cannot write " + json + ": " + e, e);
        }
    }
}
