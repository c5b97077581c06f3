// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.top;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.UndeclaredThrowableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gmp goroutines PID}. */
@Command(
        name = "goroutines",
        description = "Print what the goroutines of a running process do, grouped by state and stack.",
        footer = {"", "The process loads its JMX agent, as for jconsole, and needs no option for it."})
public final class GoroutinesCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "PID", description = "The process.")
    private String pid;

    @Option(
            names = "--pprof",
            paramLabel = "FILE",
            description = "Write them to this file instead, in the format of pprof; those of a second scheduler to FILE.NAME.")
    private Path pprof;

    /** For picocli. */
    public GoroutinesCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        try (Process process = Process.attach(pid)) {
            List<Process.Bean> beans = process.beans();
            for (Process.Bean b : beans) {
                if (pprof == null) {
                    print(b, beans.size() > 1);
                } else {
                    write(b == beans.getFirst() ? pprof : Path.of(pprof + "." + b.name().replace('/', '_')), b.bean().goroutinesPprof());
                }
            }
            return 0;
        } catch (Process.Refused | IOException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        } catch (UndeclaredThrowableException ended) {
            throw new ParameterException(spec.commandLine(), "process " + pid + ", or a scheduler of it, has ended", ended);
        }
    }

    private void print(Process.Bean b, boolean named) {
        PrintWriter out = spec.commandLine().getOut();
        if (named) {
            out.println("scheduler " + b.name());
        }
        out.println(b.bean().goroutines().replaceAll("[\\p{Cc}&&[^\n\t]]", "?")); // Labels may have such characters.
        out.flush();
    }

    private void write(Path file, byte[] bytes) {
        try {
            Files.write(file, bytes);
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), "cannot write " + file + ": " + e, e);
        }
    }
}
