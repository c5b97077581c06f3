// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.trace;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;

import org.gmp4j.bench.report.JsonText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gmp trace FILE}. */
@Command(
        name = "trace",
        description = "Sum up an execution trace, as Trace.start or GMPDEBUG=trace=FILE writes it.",
        footer = {"", "The same file opens as a timeline in Perfetto (ui.perfetto.dev, which reads it in the browser)."})
public final class TraceCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "The trace.")
    private Path file;

    @Option(names = "--text", description = "Print all events instead, one a line.")
    private boolean text;

    @Option(names = "--json", paramLabel = "JSON", description = "Also write the summary, whole, to this file; times in ns.")
    private Path json;

    @Option(names = "--top", paramLabel = "N", defaultValue = "15", description = "Lines of each table (default: ${DEFAULT-VALUE}).")
    private int top;

    /** For picocli. */
    public TraceCommand() {
    }

    @Override
    public Integer call() {
        if (text && json != null) {
            throw new ParameterException(spec.commandLine(), "--json is of the summary, which --text leaves out: use one of them");
        }
        if (top < 1) {
            throw new ParameterException(spec.commandLine(), "--top is " + top + ": use 1 or more");
        }
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
        return 0;
    }

    private void write(TraceSummary summary) {
        try {
            Files.writeString(json, JsonText.of(summary.json()));
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), "cannot write " + json + ": " + e, e);
        }
    }
}
