// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.top;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code gmp goroutines PID}. */
@Command(name = "goroutines", description = "Print what the goroutines of a running process do, grouped by state and stack.")
public final class GoroutinesCommand extends ProcessCommand {
    @Option(
            names = "--pprof",
            paramLabel = "FILE",
            description = "Write them to this file instead, in the format of pprof; those of a second scheduler to FILE.NAME.")
    private Path pprof;

    /** Makes the command; picocli calls this. */
    public GoroutinesCommand() {
    }

    @Override
    void run(Process process) throws IOException {
        List<Process.Bean> beans = process.beans();
        for (Process.Bean b : beans) {
            if (pprof == null) {
                print(b, beans, b.bean().goroutines());
            } else {
                write(b, beans, pprof, b.bean().goroutinesPprof());
            }
        }
    }
}
