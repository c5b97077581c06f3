// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.top;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code gmp set PID NAME=VALUE...}. */
@Command(
        name = "set",
        description = "Change settings of a running process: procs=4, quantum=1ms, quantum=200us..10ms. It prints what can be changed, "
                + "with the values from then on. A bad name or value changes nothing.")
public final class SetCommand extends ProcessCommand {
    @Option(names = "--scheduler", paramLabel = "NAME", description = "The scheduler; needed if the process has several.")
    private String scheduler;

    @Parameters(index = "1..*", paramLabel = "NAME=VALUE", description = "What to change; nothing to see what there is.")
    private List<String> changes = List.of();

    /** Makes the command; picocli calls this. */
    public SetCommand() {
    }

    @Override
    void run(Process process) throws IOException {
        Process.Bean b = one(process.beans());
        spec.commandLine().getOut().print(b.bean().set(changes.toArray(String[]::new)));
        spec.commandLine().getOut().flush();
    }

    private Process.Bean one(List<Process.Bean> beans) {
        List<Process.Bean> named = beans.stream().filter(b -> scheduler == null || b.name().equals(scheduler)).toList();
        if (named.size() == 1) {
            return named.getFirst();
        }
        String names = beans.stream().map(Process.Bean::name).collect(Collectors.joining(", "));
        throw new ParameterException(spec.commandLine(), scheduler == null
                ? "process " + pid + " has several schedulers: name one of " + names + " by --scheduler"
                : "process " + pid + " has no scheduler \"" + scheduler + "\", only " + names);
    }
}
