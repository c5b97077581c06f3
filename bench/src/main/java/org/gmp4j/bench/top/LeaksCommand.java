// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.top;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code gmp leaks PID}. */
@Command(
        name = "leaks",
        description = "Print the goroutines of a running process that nothing can wake any more, grouped by state and stack. All "
                + "goroutines stop for a full collection of the heap meanwhile.")
public final class LeaksCommand extends ProcessCommand {
    @Option(
            names = "--pprof",
            paramLabel = "FILE",
            description = "Write them to this file instead, in the format of pprof; those of a second scheduler to FILE.NAME.")
    private Path pprof;

    /** Makes the command; picocli calls this. */
    public LeaksCommand() {
    }

    @Override
    void run(Process process) throws IOException {
        List<Process.Bean> beans = process.beans();
        for (Process.Bean b : beans) {
            if (pprof == null) {
                print(b, beans, b.bean().leaks());
            } else {
                write(b, beans, pprof, b.bean().leaksPprof());
            }
        }
    }
}
